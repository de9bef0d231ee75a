"""What C# says about types."""

from collections.abc import Mapping, Sequence
from typing import Final

from codeplane.languages.rules.typing_rules import ANY_TYPE, TypeRules

_CLASSES: Final[Mapping[str, Mapping[str, Sequence[Sequence[str]]]]] = {
    "object": {"Equals": [("object",)], "GetHashCode": [()], "GetType": [()], "ToString": [()]},
    "ICloneable": {"Clone": [()]},
    "IComparable": {"CompareTo": [(ANY_TYPE,)]},
    "IDisposable": {"Dispose": [()]},
    "IEquatable": {"Equals": [(ANY_TYPE,)]},
}


class CSharpTypes(TypeRules):
    """The types of C#."""

    static_types = True
    memberless_bases = frozenset(("object", "Object", "System.Object"))
    root_class = "object"

    def outside_overloads(self, base: str, name: str) -> Sequence[Sequence[str]] | None:
        """Of the types that come with the language some are known."""
        methods = _CLASSES.get(base.removeprefix("System."))
        return None if methods is None else methods.get(name, ())


RULES: Final = CSharpTypes()
