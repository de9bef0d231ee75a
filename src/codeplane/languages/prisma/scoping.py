"""Where a name is seen in Prisma."""

from typing import Final

from codeplane.languages.rules.scoping import ScopeRules


class PrismaScopes(ScopeRules):
    """The scopes of Prisma."""

    members_visible = "nested"


RULES: Final = PrismaScopes()
