"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("void zq(void) {\n", "\n}"),
    PatternFrame("void zq(void) {\nzq = ", ";\n}"),
    PatternFrame("void zq(", ");"),
    PatternFrame("struct zq {\n", "\n};"),
    PatternFrame("", "\n#endif"),
)
