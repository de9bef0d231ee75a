"""Where a name is seen in Lua."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class LuaScopes(ScopeRules):
    """The scopes of Lua."""

    resolves = False


RULES: Final = LuaScopes()
