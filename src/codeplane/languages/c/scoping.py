"""Where a name is seen in C."""

from typing import Final

from codeplane.languages.facts import ScopeKind
from codeplane.languages.rules.scoping import ScopeRules


class CScopes(ScopeRules):
    """The scopes of C."""

    declared_scopes = frozenset((ScopeKind.FILE, ScopeKind.FUNCTION, ScopeKind.BLOCK))
    marked_spaces = {"struct": frozenset(("struct", "enum")), "label": frozenset()}
    unscoped_kinds = frozenset(("enum_member",))


RULES: Final = CScopes()
