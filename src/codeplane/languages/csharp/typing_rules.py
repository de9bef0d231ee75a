"""What C# says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class CSharpTypes(TypeRules):
    """The types of C#."""

    static_types = True
    memberless_bases = frozenset(("object", "Object", "System.Object"))


RULES: Final = CSharpTypes()
