"""What Kotlin says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class KotlinTypes(TypeRules):
    """The types of Kotlin."""

    static_types = True
    memberless_bases = frozenset(("Any", "kotlin.Any"))


RULES: Final = KotlinTypes()
