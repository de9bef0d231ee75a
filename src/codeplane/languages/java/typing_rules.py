"""What Java says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class JavaTypes(TypeRules):
    """The types of Java."""

    static_types = True
    memberless_bases = frozenset(("Object", "Cloneable", "Serializable", "java.io.Serializable"))


RULES: Final = JavaTypes()
