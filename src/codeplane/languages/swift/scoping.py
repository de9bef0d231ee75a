"""Where a name is seen in Swift."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class SwiftScopes(ScopeRules):
    """The scopes of Swift."""

    resolves = False
    blank_name = "_"


RULES: Final = SwiftScopes()
