"""PHP 7 and 8, with the text around it. A variable is named with its `$`, a property without."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import HeaderStyle

SPEC = LanguageSpec(
    name="php",
    family="php",
    initializers=("__construct",),
    grammar="tree_sitter_php",
    function="language_php",
    extensions=(".php", ".phtml", ".php5", ".phps"),
    shebangs=("php",),
    query_depth=3_000,
    class_kinds={},
    constructor="",
    tests={"method": r"test.*"},
    tests_by_place=True,
    test_base=r"(.*\\)?\w*TestCase",
    decorator_flags={"Test": FLAG_TEST},
    dynamic_calls={
        "call_user_func": ("call", 0),
        "call_user_func_array": ("call", 0),
        "is_callable": ("call", 0),
        "function_exists": ("exists", 0),
        "class_exists": ("exists", 0),
        "interface_exists": ("exists", 0),
        "method_exists": ("exists", 1),
        "property_exists": ("exists", 1),
        "defined": ("constant", 0),
        "define": ("constant", 0),
        "constant": ("constant", 0),
        "compact": ("compact", 0),
        "extract": ("extract", 0),
        "eval": ("eval", 0),
        "parse_str": ("extract", 0),
    },
    texts="(comment) @comment (string_content) @string (heredoc_body) @string (nowdoc_body) @string",
    header=HeaderStyle(
        order="sigil",
        named=True,
        typed=True,
        unsaid="public",
        rest=("...",),
        words=frozenset("public private protected readonly".split()),
    ),
    gaps="names in other letter case, members of `$this` inside closures",
)
