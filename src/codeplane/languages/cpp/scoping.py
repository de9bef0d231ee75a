"""Where a name is seen in C++."""

from typing import Final

from codeplane.languages.facts import ScopeKind
from codeplane.languages.rules.scoping import ScopeRules


class CppScopes(ScopeRules):
    """The scopes of C++."""

    members_visible = "nested"
    declared_scopes = frozenset((ScopeKind.FILE, ScopeKind.NAMESPACE, ScopeKind.FUNCTION, ScopeKind.BLOCK))
    # A constructor is never found under its name: that is the class.
    name_spaces = {"constructor": "-"}
    marked_spaces = {"label": frozenset()}
    unscoped_kinds = frozenset(("enum_member",))
    inherits_names = True
    open_functions = True
    self_keywords = ("this",)


RULES: Final = CppScopes()
