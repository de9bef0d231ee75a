"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    PatternFrame("package zq\n"),
    PatternFrame("package zq\nfunc zq() {\n", "\n}"),
    PatternFrame("package zq\nfunc zq() {\nzq = ", "\n}"),
    PatternFrame("package zq\nfunc zq(", ") {}"),
    PatternFrame("package zq\ntype zq struct {\n", "\n}"),
    PatternFrame("package zq\ntype zq ", "\n"),
    BARE,
)
