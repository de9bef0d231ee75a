"""Where a name is seen in Bash."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class BashScopes(ScopeRules):
    """The scopes of Bash."""

    resolves = False


RULES: Final = BashScopes()
