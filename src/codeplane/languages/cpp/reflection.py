"""How C++ code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class CppReflection(ReflectionRules):
    """The reflection of C++."""

    pastes_tokens = True
    protocol_members = r"begin|end|swap|operator.*"


RULES: Final = CppReflection()
