"""The code that patterns are parsed in: statements first, then expressions, members, parameters."""

from typing import Final

from codeplane.languages.patterns.frames import BARE, PatternFrame

FRAMES: Final = (
    PatternFrame("<?php\n"),
    PatternFrame("<?php\n", ";"),
    PatternFrame("<?php\nzq = ", ";"),
    PatternFrame("<?php\nclass zq {\n", "\n}"),
    PatternFrame("<?php\nfunction zq(", ") {}"),
    BARE,
)

QUOTES_DIFFER: Final = True
