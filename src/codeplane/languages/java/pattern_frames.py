"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("class zq {\n", "\n}"),
    PatternFrame("class zq { void zq() {\n", "\n} }"),
    PatternFrame("class zq { void zq() {\nzq = ", ";\n} }"),
    PatternFrame("class zq { void zq(", ") {} }"),
    PatternFrame("", " class zq {}"),
)
