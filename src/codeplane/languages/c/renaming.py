"""What changes its name together in C."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class CNames(RenameRules):
    """The names of C that belong together."""

    prototypes = True


RULES: Final = CNames()
