"""Where a name is seen in Java."""

from typing import Final

from codeplane.languages.facts import ScopeKind
from codeplane.languages.rules.scoping import ScopeRules

_OBJECT = "clone equals finalize getClass hashCode notify notifyAll toString wait"
_ENUM = "compareTo describeConstable getDeclaringClass name ordinal valueOf values"


class JavaScopes(ScopeRules):
    """The scopes of Java."""

    members_visible = "nested"
    sequential_scopes = frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK))
    sequential_definitions = True
    # Values, functions and types never stand for each other.
    name_spaces = {
        "method": "f",
        "property": "vf",  # a component of a record is a field and the method that reads it
        "constructor": "-",
        "class": "t",
        "interface": "t",
        "enum": "t",
        "type_param": "t",
        "java_import": "t",
        "java_static": "vft",
    }
    lookup_spaces = {"read": ("v", "t"), "call": ("f",), "type": ("t",), "new": ("t",)}
    overloaded_kinds = frozenset(("method", "constructor"))
    inherits_names = True
    implicit_members = {"class": _OBJECT, "interface": _OBJECT, "enum": f"{_OBJECT} {_ENUM}"}
    self_keywords = ("this",)
    super_receivers = ("super",)
    imports_single_files = True


RULES: Final = JavaScopes()
