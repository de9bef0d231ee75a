"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("zq = ", ""),
    PatternFrame("class zq {\n", "\n}"),
    PatternFrame("async function* zq() {\n", "\n}"),
    PatternFrame("zq = {", "}"),
    PatternFrame("switch (zq) {\n", "\n}"),
    PatternFrame("while (zq) {\n", "\n}"),
    PatternFrame("function zq(", ") {}"),
)
