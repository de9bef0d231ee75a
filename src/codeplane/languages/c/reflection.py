"""How C code reaches definitions other than by their written names."""

from typing import Final

from codeplane.languages.rules.reflection import ReflectionRules


class CReflection(ReflectionRules):
    """The reflection of C."""

    pastes_tokens = True


RULES: Final = CReflection()
