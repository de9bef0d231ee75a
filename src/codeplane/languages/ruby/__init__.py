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
    members_visible="nested",
    query_depth=3_000,
    self_keywords=("self", ".", ""),
    static_apart=True,
    self_moves=True,
    implicit_self=True,
    bases_before_file=True,
    # Methods are called, never read; constants and variables differ by their first letter.
    spaces={"method": "m", "function": "m", "property": "m"},
    looks={"call": ("m",), "write": ("v", "m"), "type": ("v",), "new": ()},
    closed=r"[^A-Z@$].*",
    class_kinds={"variable": "constant"},
    constant=r"[A-Z].*",
    constructor="",
    merges=frozenset(("class", "module")),
    surface="included",
    tests={"method": r"test_.*"},
    tests_by_place=True,
    test_base=r"(.*::)?(Test|Spec|\w*TestCase)",
    makers={"new": "initialize"},
    property_mark="@",
    texts=("(comment) @comment (string_content) @string (simple_symbol) @string (heredoc_content) @string"),
    named_arguments=True,
    keywords=(
        "(call method: (_) @holder arguments: (argument_list (pair key: (hash_key_symbol) @keyword)))",
        "(call method: (_) @holder arguments: (argument_list (hash_splat_argument) @splat))",
    ),
    shorthands={"(pair key: (hash_key_symbol) @name !value) @whole": "{key}: {value}"},
    header=HeaderStyle(named_only=True, rest=("*",), named_rest="**"),
    gaps="members inside blocks, `extend`, constants that are loaded by name",
)
