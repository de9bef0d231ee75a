"""Where a name is seen in Scala."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class ScalaScopes(ScopeRules):
    """The scopes of Scala."""

    resolves = False


RULES: Final = ScalaScopes()
