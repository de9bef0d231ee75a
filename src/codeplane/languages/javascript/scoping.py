"""Where a name is seen in JavaScript."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class JavaScriptScopes(ScopeRules):
    """The scopes of JavaScript."""

    hoists_to_body = True
    self_keywords = ("this",)
    super_receivers = ("super",)
    static_members_apart = True


RULES: Final = JavaScriptScopes()
