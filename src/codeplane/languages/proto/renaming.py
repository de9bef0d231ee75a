"""What changes its name together in Proto."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class ProtoNames(RenameRules):
    """The names of Proto that belong together."""

    generates_code = True


RULES: Final = ProtoNames()
