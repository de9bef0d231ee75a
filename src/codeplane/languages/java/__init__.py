"""Java 21."""

from codeplane.languages.facts import FLAG_OVERRIDE, FLAG_TEST, ScopeKind
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import CURLY, HeaderStyle

_OBJECT = "clone equals finalize getClass hashCode notify notifyAll toString wait"
_ENUM = "compareTo describeConstable getDeclaringClass name ordinal valueOf values"

SPEC = LanguageSpec(
    name="java",
    family="jvm",
    main="main",
    grammar="tree_sitter_java",
    standard=r"javax?\.\w+",
    extensions=(".java",),
    members_visible="nested",
    sequential=frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK)),
    definitions_in_order=True,
    self_keywords=("this",),
    # Values, functions and types never stand for each other.
    spaces={
        "method": "f",
        "property": "vf",  # a component of a record is a field and the method that reads it
        "constructor": "-",
        "class": "t",
        "interface": "t",
        "enum": "t",
        "type_param": "t",
        "java_import": "t",
        "java_static": "vft",
    },
    looks={"read": ("v", "t"), "call": ("f",), "type": ("t",), "new": ("t",)},
    overloads=frozenset(("method", "constructor")),
    inherits_names=True,
    implied={"class": _OBJECT, "interface": _OBJECT, "enum": f"{_OBJECT} {_ENUM}"},
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
    super_receivers=("super",),
    named_files=True,
    imports_single_files=True,
    writing=CURLY,
    header=HeaderStyle(
        order="type", typed=True, angles=True, rest=("...",), words=frozenset(("final",)), classes=True
    ),
    gaps="names of enum constants in `case` are not bound to the enum",
)
