"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("def zq\n", "\nend"),
    PatternFrame("class Zq\n", "\nend"),
    PatternFrame("zq = ", ""),
)

QUOTES_DIFFER: Final = True
