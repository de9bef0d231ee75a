"""Where a name is seen in Kotlin."""

from typing import Final

from codeplane.languages.facts import ScopeKind
from codeplane.languages.rules.scoping import ScopeRules

_ANY = "copy equals hashCode toString"
_ENUM = "compareTo declaringJavaClass entries name ordinal valueOf values"


class KotlinScopes(ScopeRules):
    """The scopes of Kotlin."""

    blank_name = "_"
    members_visible = "nested"
    sequential_scopes = frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK))
    sequential_definitions = True
    name_spaces = {
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
    }
    # What is called may be a function, a class or a value that can be called.
    lookup_spaces = {"read": ("vt",), "call": ("ftv?",), "type": ("t",)}
    overloaded_kinds = frozenset(("function", "method", "constructor"))
    inherits_names = True
    static_nested_classes = True
    implicit_members = {"class": _ANY, "interface": _ANY, "object": _ANY, "enum": f"{_ANY} {_ENUM}"}
    self_keywords = ("this",)
    super_receivers = ("super",)
    imports_single_files = True


RULES: Final = KotlinScopes()
