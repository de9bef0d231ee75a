"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("{", "}"),
)
