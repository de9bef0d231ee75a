"""What changes its name together in Prisma."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class PrismaNames(RenameRules):
    """The names of Prisma that belong together."""

    generates_code = True


RULES: Final = PrismaNames()
