"""What C says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class CTypes(TypeRules):
    """The types of C."""

    static_types = True


RULES: Final = CTypes()
