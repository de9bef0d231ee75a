"""The text that documents a definition: a string at the head of its body, or the comment above it."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.core.comments import MARK, first_above
from codeplane.graph.excerpts import Excerpts
from codeplane.names import DefFact

_QUOTED: Final = re.compile(r"[a-zA-Z]{0,2}(\"\"\"|''')")
_END: Final = re.compile(r"\s*\*+/\s*\Z")
_DIRECTIVE: Final = re.compile(r"[\w-]*(?:lint|ignore|prettier|istanbul|pragma|noqa|noinspection|nolint)\b")
_MOST_LINES: Final = 60
_LONGEST_HEADER: Final = 60


def documentation(excerpts: Excerpts, definition: DefFact) -> str:
    """What is said about a definition; "" where nothing is."""
    lines = excerpts.lines(definition.path)
    return _inside(lines, definition) or _above(lines, definition.span.start_line)


def _inside(lines: Sequence[str], definition: DefFact) -> str:
    """A string in triple quotes right behind the header."""
    last = min(definition.span.end_line, definition.name_line + _LONGEST_HEADER, len(lines))
    before = ""
    for number in range(definition.name_line, last + 1):
        text = lines[number - 1].strip()
        if before.endswith(":") and (handle := _QUOTED.match(text)):
            return _until(lines[number - 1 : last + _MOST_LINES], handle[1], handle.end())
        if before.endswith(":") and text:
            return ""
        before = text or before
    return ""


def _until(lines: Sequence[str], quote: str, start: int) -> str:
    first = lines[0].strip()[start:]
    said: list[str] = []
    for text in (first, *(line.strip() for line in lines[1:_MOST_LINES])):
        body, terminator, _ = text.partition(quote)
        said.append(body)
        if terminator:
            break
    return "\n".join(said).strip()


def _above(lines: Sequence[str], start_line: int) -> str:
    """The comment that ends on the line before."""
    start_line = min(start_line, len(lines) + 1)
    said = []
    for text in lines[first_above(lines, start_line) - 1 : start_line - 1]:
        leader = MARK.match(text.strip())
        said.append(_END.sub("", text.strip()[leader.end() if leader else 0 :]).strip())
    return "" if len(said) == 1 and _DIRECTIVE.match(said[0]) else "\n".join(said).strip()
