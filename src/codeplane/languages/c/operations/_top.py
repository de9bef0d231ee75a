"""Where the first include of a file goes."""

import re
from typing import Final

from codeplane.core.edits import TextEdit
from codeplane.languages.c.operations._directives import Directive, Preprocessed
from codeplane.languages.operations import Source
from codeplane.languages.operations.source import BOM

_LICENCE: Final = re.compile(
    rb"copyright|licen[cs]e|SPDX-|[@\\]file\b|all rights reserved|-\*-", re.IGNORECASE
)


def uses_blank_lines(source: Source) -> bool:
    """Whether the file sets what it holds apart by blank lines."""
    return b"\n\n" in source.data or b"\n\r\n" in source.data


def is_blank_before(source: Source, start: int) -> bool:
    """Whether the line before the one that begins at a byte is blank, or there is none."""
    if start <= len(BOM):
        return True
    return not source.data[source.line_start(start - 1) : start].strip()


def is_blank_at(source: Source, start: int) -> bool:
    """Whether the line that begins at a byte is there, and blank."""
    return start < len(source.data) and not source.data[start : source.line_end(start)].strip()


def comment_of(lines: Preprocessed, place: Directive) -> tuple[int, int] | None:
    """The comment directly above an include that stands alone: not the first of the file, nor of a group."""
    source = lines.source
    start, end = source.line_start(place.start), source.next_line(place.end)
    if not is_blank_at(source, end) and end != len(source.data):
        return None
    for comment in lines.comments:
        is_own = source.is_first_in_line(comment[0]) and source.is_last_in_line(comment[1])
        if is_own and source.next_line(comment[1]) == start and comment != lines.comments[0]:
            return comment if is_blank_before(source, source.line_start(comment[0])) else None
    return None


def insert_at_top(lines: Preprocessed, anchor: int, header: str) -> TextEdit:
    """The first include of a file, behind a byte at the end of a line, or behind the comments at its top."""
    source, text = lines.source, f"#include {header}"
    place = anchor or _comments_end(lines)
    if not place:
        return _insert_first(source, text)
    newline = source.newline_at(place)
    if not source.data[place:].strip():
        return source.insert(place, newline + text)
    # As tight as the place is: with a blank line before it only where one stands behind it.
    following = source.next_line(place)
    is_blank = not source.data[following : source.line_end(following)].strip()
    is_feature = anchor > lines.guard.end
    return source.insert(place, newline * (1 + (is_blank and not is_feature)) + text)


def _insert_first(source: Source, text: str) -> TextEdit:
    start = len(BOM) if source.data.startswith(BOM) else 0
    newline = source.newline_at(start)
    if source.data.startswith((b"\n", b"\r"), start):
        return source.insert(start, text)
    is_apart = bool(source.data[start:].strip()) and uses_blank_lines(source)
    return source.insert(start, text + newline * (1 + is_apart))


def _comments_end(lines: Preprocessed) -> int:
    """Behind the comments at the top that belong to no code; 0 where there are none."""
    source = lines.source
    firsts = [*(one.start for one in lines.codes[:1]), *(one.start for one in lines.directives[:1])]
    first = min(firsts, default=len(source.data))
    comments = [one for one in lines.comments if one[1] <= first]
    is_code = bool(lines.codes) and lines.codes[0].start == first
    while comments:
        start, end = comments[-1]
        if not source.is_last_in_line(end):
            first = start  # it stands in the line of something else
        elif is_code and _is_owned(source, comments[-1], first):
            first = start
        else:
            return end
        comments.pop()
    return 0


def _is_owned(source: Source, comment: tuple[int, int], first: int) -> bool:
    """Whether a comment directly above code is about it, and not about the file."""
    is_next = source.next_line(comment[1]) >= source.line_start(first)
    return is_next and _LICENCE.search(source.data, *comment) is None
