"""What C++ says about types."""

from typing import Final

from codeplane.languages.rules.typing_rules import TypeRules


class CppTypes(TypeRules):
    """The types of C++."""

    static_types = True
    members_declared_in_class = True


RULES: Final = CppTypes()
