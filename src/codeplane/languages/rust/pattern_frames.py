"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("fn zq() {\n", "\n}"),
    PatternFrame("fn zq() {\nlet zq = ", ";\n}"),
    PatternFrame("impl zq {\n", "\n}"),
    PatternFrame("fn zq() {\nmatch zq {\n", "\n}\n}"),
    PatternFrame("fn zq(", ") {}"),
    PatternFrame("type zq = ", ";"),
    PatternFrame("struct zq {\n", "\n}"),
)
