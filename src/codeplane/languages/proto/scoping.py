"""Where a name is seen in Proto."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class ProtoScopes(ScopeRules):
    """The scopes of Proto."""

    members_visible = "nested"


RULES: Final = ProtoScopes()
