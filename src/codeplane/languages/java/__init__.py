"""Java 21."""

from codeplane.languages.facts import FLAG_OVERRIDE, FLAG_TEST
from codeplane.languages.spec import EntryPoints, LanguageSpec
from codeplane.languages.style import CURLY, HeaderStyle

_OBJECT = "clone equals finalize getClass hashCode notify notifyAll toString wait"
_ENUM = "compareTo describeConstable getDeclaringClass name ordinal valueOf values"

SPEC = LanguageSpec(
    name="java",
    family="jvm",
    entry_points=EntryPoints("main"),
    grammar="tree_sitter_java",
    standard=r"javax?\.\w+",
    extensions=(".java",),
    call_by_parenthesis=True,
    test_base=r"(.*\.)?TestCase",
    decorator_flags={
        "Override": FLAG_OVERRIDE,
        "Test": FLAG_TEST,
        "ParameterizedTest": FLAG_TEST,
        "RepeatedTest": FLAG_TEST,
        "TestFactory": FLAG_TEST,
        "TestTemplate": FLAG_TEST,
    },
    surface="defined",
    writing=CURLY,
    header=HeaderStyle(
        order="type", typed=True, angles=True, rest=("...",), words=frozenset(("final",)), classes=True
    ),
    gaps="names of enum constants in `case` are not bound to the enum",
)
