"""What Kotlin says about types."""

from collections.abc import Mapping, Sequence
from typing import Final

from codeplane.languages.rules.typing_rules import ANY_TYPE, TypeRules

_ANY: Final[Mapping[str, Sequence[Sequence[str]]]] = {
    "equals": [("Any",)],
    "hashCode": [()],
    "toString": [()],
}
_CLASSES: Final[Mapping[str, Mapping[str, Sequence[Sequence[str]]]]] = {
    "Any": _ANY,
    "AutoCloseable": {"close": [()]},
    "Comparable": {"compareTo": [(ANY_TYPE,)]},
    "Runnable": {"run": [()]},
    "java.io.Closeable": {"close": [()]},
}


class KotlinTypes(TypeRules):
    """The types of Kotlin."""

    static_types = True
    memberless_bases = frozenset(("Any", "kotlin.Any"))
    root_class = "Any"

    def outside_overloads(self, base: str, name: str) -> Sequence[Sequence[str]] | None:
        """Of the classes that come with the language some are known, with the methods that Kotlin sees."""
        methods = _CLASSES.get(base)
        return None if methods is None else methods.get(name, ())


RULES: Final = KotlinTypes()
