"""What Java says about types."""

from collections.abc import Sequence
from typing import Final

from codeplane.languages.java.builtin import methods_of
from codeplane.languages.rules.typing_rules import TypeRules


class JavaTypes(TypeRules):
    """The types of Java."""

    static_types = True
    memberless_bases = frozenset(("Object", "Cloneable", "Serializable", "java.io.Serializable"))
    root_class = "Object"

    def outside_overloads(self, base: str, name: str) -> Sequence[Sequence[str]] | None:
        """The methods of classes of the standard library are known."""
        methods = methods_of(base)
        return None if methods is None else sorted(methods.get(name, ()))


RULES: Final = JavaTypes()
