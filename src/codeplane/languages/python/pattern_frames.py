"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    BARE,
    PatternFrame("try:\n    pass\n"),
    PatternFrame("match zq:\n    "),
    PatternFrame("def zq(", "): pass"),
    PatternFrame("zq(", ")"),
    PatternFrame("zq[", "]"),
    PatternFrame("", "\ndef zq(): pass"),
    PatternFrame("if zq:\n    pass\n"),
)
