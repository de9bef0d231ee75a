"""Kotlin 2."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import KOTLIN, HeaderStyle

_ANY = "copy equals hashCode toString"
_ENUM = "compareTo declaringJavaClass entries name ordinal valueOf values"
_TESTS = "ParameterizedTest RepeatedTest Test TestFactory TestTemplate".split()

SPEC = LanguageSpec(
    name="kotlin",
    family="jvm",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_kotlin",
    standard=r"kotlin(?:\.\w+)?|javax?\.\w+",
    extensions=(".kt", ".kts"),
    class_kinds={"function": "method", "variable": "property", "constant": "property"},
    decorator_flags=dict.fromkeys(_TESTS, FLAG_TEST),
    surface="defined",
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
