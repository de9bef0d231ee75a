"""What Go says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class GoTypes(TypeRules):
    """The types of Go."""

    static_types = True
    structural_kinds = frozenset(("interface",))
    nearest_base = True
    embedded_fields = True


RULES: Final = GoTypes()
