"""Where a name is seen in Haskell."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class HaskellScopes(ScopeRules):
    """The scopes of Haskell."""

    resolves = False


RULES: Final = HaskellScopes()
