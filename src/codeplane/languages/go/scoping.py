"""Where a name is seen in Go."""

from typing import Final

from codeplane.languages.facts import ScopeKind
from codeplane.languages.rules.scoping import ScopeRules


class GoScopes(ScopeRules):
    """The scopes of Go."""

    blank_name = "_"
    sequential_scopes = frozenset((ScopeKind.FUNCTION, ScopeKind.BLOCK))
    redeclares = True


RULES: Final = GoScopes()
