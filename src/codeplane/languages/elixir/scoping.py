"""Where a name is seen in Elixir."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class ElixirScopes(ScopeRules):
    """The scopes of Elixir."""

    resolves = False


RULES: Final = ElixirScopes()
