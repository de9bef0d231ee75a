"""Kotlin 2."""

from codeplane.languages.facts import FLAG_TEST, ScopeKind
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import KOTLIN, HeaderStyle

_ANY = "copy equals hashCode toString"
_ENUM = "compareTo declaringJavaClass entries name ordinal valueOf values"
_TESTS = "ParameterizedTest RepeatedTest Test TestFactory TestTemplate".split()

SPEC = LanguageSpec(
    name="kotlin",
    family="jvm",
    main="main",
    unnamed_calls=frozenset(("invoke",)),
    grammar="tree_sitter_kotlin",
    standard=r"kotlin(?:\.\w+)?|javax?\.\w+",
    extensions=(".kt", ".kts"),
    members_visible="nested",
    sequential=frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK)),
    definitions_in_order=True,
    blank="_",
    self_keywords=("this",),
    super_receivers=("super",),
    imports_single_files=True,
    spaces={
        "function": "f",
        "method": "f",
        "constructor": "-",
        "class": "t",
        "interface": "t",
        "enum": "t",
        "object": "t",
        "type": "t",
        "type_param": "t",
        "kotlin_import": "fvt",
    },
    # What is called may be a function, a class or a value that can be called.
    looks={"read": ("vt",), "call": ("ftv?",), "type": ("t",)},
    overloads=frozenset(("function", "method", "constructor")),
    inherits_names=True,
    nested_apart=True,
    implied={"class": _ANY, "interface": _ANY, "object": _ANY, "enum": f"{_ANY} {_ENUM}"},
    class_kinds={"function": "method", "variable": "property", "constant": "property"},
    decorator_flags=dict.fromkeys(_TESTS, FLAG_TEST),
    surface="defined",
    named_arguments=True,
    keywords=(
        '(value_argument (identifier) @loose . "=")',
        '(call_expression . (_) @holder (value_arguments (value_argument (identifier) @keyword . "=")))',
        (
            "(constructor_invocation . (_) @holder (value_arguments"
            ' (value_argument (identifier) @keyword . "=")))'
        ),
    ),
    writing=KOTLIN,
    header=HeaderStyle(
        named=True,
        typed=True,
        inferred=True,
        unsaid="public",
        angles=True,
        rest=("vararg",),
        words=frozenset(
            "public private protected internal override open final const lateinit val var crossinline"
            " noinline".split()
        ),
        classes=True,
    ),
    gaps="names in lambdas and extensions that may be members of their receiver",
)
