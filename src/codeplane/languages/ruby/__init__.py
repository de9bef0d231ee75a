"""Ruby. An instance variable is a field of its class, named with its `@`, seen behind the receiver `.`."""

from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import HeaderStyle

SPEC = LanguageSpec(
    name="ruby",
    family="ruby",
    initializers=("initialize",),
    grammar="tree_sitter_ruby",
    extensions=(".rb", ".rake", ".gemspec", ".ru", ".rbi"),
    filenames=("Gemfile", "Rakefile", "Guardfile", "Capfile", "Vagrantfile", "Podfile", "Brewfile"),
    shebangs=("ruby",),
    query_depth=3_000,
    class_kinds={"variable": "constant"},
    constant=r"[A-Z].*",
    constructor="",
    surface="included",
    tests={"method": r"test_.*"},
    tests_by_place=True,
    test_base=r"(.*::)?(Test|Spec|\w*TestCase)",
    texts=("(comment) @comment (string_content) @string (simple_symbol) @string (heredoc_content) @string"),
    header=HeaderStyle(named_only=True, rest=("*",), named_rest="**"),
    gaps="members inside blocks, `extend`, constants that are loaded by name",
)
