"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("fun zq() {\n", "\n}"),
    PatternFrame("class zq {\n", "\n}"),
    PatternFrame("val zq = ", ""),
    PatternFrame("fun zq(", ") {}"),
)
