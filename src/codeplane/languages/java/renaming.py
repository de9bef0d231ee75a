"""What changes its name together in Java."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class JavaNames(RenameRules):
    """The names of Java that belong together."""

    type_names_file = True


RULES: Final = JavaNames()
