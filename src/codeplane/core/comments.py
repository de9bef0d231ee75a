"""Comments by how their lines begin, in any language: for text that stands above a definition."""

import re
from collections.abc import Sequence
from typing import Final

# `#` also begins attributes and what a preprocessor reads.
MARK: Final = re.compile(
    r"(?:///?!?|/\*\*?|\*/|\*|#+(?!\[|!|(?:include|define|undef|if|else|elif|endif|pragma|import|error)\b)"
    r"|--+|;+|%+)\s?"
)
_MOST_LINES: Final = 400


def first_above(lines: Sequence[str], line: int) -> int:
    """The first line of the comment that ends right above a line, or the line itself."""
    first = line
    while first > 1 and line - first < _MOST_LINES and MARK.match(lines[first - 2].strip()):
        first -= 1
        if lines[first - 1].strip().startswith("/*"):
            return first
    # Only a block begins its lines with a star, and this one has no beginning.
    return line if first < line and lines[first - 1].strip().startswith("*") else first
