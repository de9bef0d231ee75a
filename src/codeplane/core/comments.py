"""Comments by how their lines begin, in any language: for text that stands above a definition."""

import re
from collections.abc import Sequence
from typing import Final

# `#` also begins attributes and what a preprocessor reads.
MARK: Final = re.compile(
    r"(?:///?!?|/\*\*?|\*/|\*|#+(?!\[|!|(?:include|define|undef|if|else|elif|endif|pragma|import|error)\b)"
    r"|--+|;+|%+)\s?"
)
_ATTRIBUTE: Final = re.compile(r"#\[.*\]|@[\w.]+(?:\(.*\))?")
_MOST_LINES: Final = 400


def first_attached(lines: Sequence[str], line: int) -> int:
    """The first line of the comments and attributes that stand right above a line, or the line itself."""
    while True:
        first = first_above(lines, line)
        if first > 1 and is_attribute(lines[first - 2]):
            first -= 1
        if first == line:
            return line
        line = first


def is_attribute(line: str) -> bool:
    """Whether a line is an attribute, or a decorator, of what follows it."""
    return bool(_ATTRIBUTE.fullmatch(line.strip()))


def first_above(lines: Sequence[str], line: int) -> int:
    """The first line of the comment that ends right above a line, or the line itself."""
    first = line
    while first > 1 and line - first < _MOST_LINES and _is_comment(lines[first - 2]):
        first -= 1
        if lines[first - 1].strip().startswith("/*"):
            return first
    # Only a block begins its lines with a star, and this one has no beginning.
    return line if first < line and lines[first - 1].strip().startswith("*") else first


def _is_comment(line: str) -> bool:
    """Whether a line is part of a comment and nothing else: code may follow the end of one."""
    return bool(MARK.match(line.strip())) and not line.partition("*/")[2].strip()
