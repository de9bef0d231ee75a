"""Where a name is seen in C#."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules

_OBJECT = "Equals Finalize GetHashCode GetType MemberwiseClone ReferenceEquals ToString"


class CSharpScopes(ScopeRules):
    """The scopes of C#."""

    blank_name = "_"
    members_visible = "nested"
    # Where a type is asked for, nothing but types and namespaces is seen.
    name_spaces = {
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
    }
    lookup_spaces = {"read": ("vt",), "call": ("v",), "type": ("t",), "new": ("t",)}
    overloaded_kinds = frozenset(("method", "constructor"))
    star_imports_hide = True
    inherits_names = True
    implicit_members = {
        "class": _OBJECT,
        "struct": _OBJECT,
        "interface": _OBJECT,
        "enum": f"{_OBJECT} CompareTo GetTypeCode HasFlag",
    }
    self_keywords = ("this",)
    super_receivers = ("base",)


RULES: Final = CSharpScopes()
