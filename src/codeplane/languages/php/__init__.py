"""PHP 7 and 8, with the text around it. A variable is named with its `$`, a property without."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import HeaderStyle

SPEC = LanguageSpec(
    name="php",
    family="php",
    initializers=("__construct",),
    unnamed_calls=frozenset(("__invoke",)),
    grammar="tree_sitter_php",
    function="language_php",
    extensions=(".php", ".phtml", ".php5", ".phps"),
    shebangs=("php",),
    query_depth=3_000,
    self_keywords=("$this",),
    class_keywords=("self", "static"),
    # Functions, classes and constants of one name are three things; what `use` takes may be a namespace too.
    spaces={
        "function": "f",
        "method": "f",
        "constructor": "f",
        "class": "t",
        "interface": "t",
        "trait": "t",
        "enum": "t",
        "namespace": "-",
        "php_use": "tn",
        "php_use_function": "f",
    },
    looks={"call": ("f",), "type": ("t",), "new": ("t",), "namespace": ("n",)},
    closed=r"\$.*",
    qualifier="\\",
    far_kinds=frozenset(("function", "constant")),
    parent_receivers=("parent",),
    imports_single_files=True,
    class_kinds={},
    constructor="",
    tests={"method": r"test.*"},
    tests_by_place=True,
    functions_rise=True,
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
    named_arguments=True,
    keywords=(
        "(argument name: (name) @loose)",
        (
            "(function_call_expression function: (_) @holder arguments: (arguments"
            " (argument name: (name) @keyword)))"
        ),
        "(member_call_expression name: (_) @holder arguments: (arguments (argument name: (name) @keyword)))",
        "(scoped_call_expression name: (_) @holder arguments: (arguments (argument name: (name) @keyword)))",
        "(object_creation_expression . (_) @holder (arguments (argument name: (name) @keyword)))",
    ),
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
