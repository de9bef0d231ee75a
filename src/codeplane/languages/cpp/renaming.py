"""What changes its name together in C++."""

from typing import Final

from codeplane.languages.rules.renaming import RenameRules


class CppNames(RenameRules):
    """The names of C++ that belong together."""

    prototypes = True
    keyword_patterns = ("(field_initializer . (field_identifier) @keyword)",)


RULES: Final = CppNames()
