"""C# 12."""

from codeplane.languages.facts import FLAG_TEST
from codeplane.languages.spec import LanguageSpec
from codeplane.languages.style import SHARP, HeaderStyle

_OBJECT = "Equals Finalize GetHashCode GetType MemberwiseClone ReferenceEquals ToString"
_TESTS = "DataTestMethod Fact Test TestCase TestCaseSource TestMethod Theory".split()

SPEC = LanguageSpec(
    name="csharp",
    family="dotnet",
    main="Main",
    grammar="tree_sitter_c_sharp",
    standard=r"System(?=\.|\Z)",
    extensions=(".cs", ".csx"),
    members_visible="nested",
    blank="_",
    self_keywords=("this",),
    super_receivers=("base",),
    # Where a type is asked for, nothing but types and namespaces is seen.
    spaces={
        "constructor": "-",
        "class": "t",
        "struct": "t",
        "interface": "t",
        "enum": "t",
        "type": "t",
        "namespace": "-",
        "type_param": "t",
        "csharp_alias": "t",
        "csharp_using": "t",
    },
    looks={"read": ("vt",), "call": ("v",), "type": ("t",), "new": ("t",)},
    stars_hide=True,
    overloads=frozenset(("method", "constructor")),
    inherits_names=True,
    implied={
        "class": _OBJECT,
        "struct": _OBJECT,
        "interface": _OBJECT,
        "enum": f"{_OBJECT} CompareTo GetTypeCode HasFlag",
    },
    call_by_parenthesis=True,
    decorator_flags=dict.fromkeys(_TESTS, FLAG_TEST),
    # The parts of a partial class are one class.
    decorator_adds=frozenset(("partial",)),
    decorator_opens=frozenset(("partial",)),
    surface="defined",
    named_arguments=True,
    keywords=(
        "(argument name: (identifier) @loose)",
        (
            "(invocation_expression function: (_) @holder arguments: (argument_list"
            " (argument name: (identifier) @keyword)))"
        ),
        (
            "(object_creation_expression type: (_) @holder arguments: (argument_list"
            " (argument name: (identifier) @keyword)))"
        ),
        (
            "(object_creation_expression type: (_) @holder initializer: (initializer_expression"
            " (assignment_expression left: (identifier) @keyword)))"
        ),
    ),
    shorthands={
        '(anonymous_object_creation_expression (identifier) @name . ["," "}"])': "{key} = {value}",
        # The elements of a tuple that is a value are named like the variables; those of a target are not.
        "(variable_declarator (tuple_expression (argument . (identifier) @name .)))": "{key}: {value}",
        "(return_statement (tuple_expression (argument . (identifier) @name .)))": "{key}: {value}",
        "(arrow_expression_clause (tuple_expression (argument . (identifier) @name .)))": "{key}: {value}",
    },
    writing=SHARP,
    header=HeaderStyle(order="type", named=True, typed=True, angles=True, rest=("params",), classes=True),
    gaps="global usings of other files; attributes are not bound to their classes",
)
