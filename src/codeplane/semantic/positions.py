"""Lines and columns of an index as bytes of a file.

The facts of CodePlane end a line at `\n` alone and count bytes. A SCIP index says what its columns count, or
does not; what ends a line, and whether a byte order mark is a character, it never says. Where a file leaves
room for several readings, they are tried on the tokens of the file: the one that meets most of them is meant.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.semantic.scip import PositionEncoding

Range = tuple[int, int]
"""The bytes from the first to before the second; -1 where a file has no such position."""

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_NEWLINE: Final = re.compile(rb"\n")
# What ends a line for Python, Java, C and the type checkers written for them.
_UNIVERSAL: Final = re.compile(rb"\r\n?|\n")
# JavaScript ends lines at U+2028 and U+2029 too. No language ends them at a form feed or at U+0085.
_SCRIPT: Final = re.compile(rb"\r\n?|\n|\xe2\x80[\xa8\xa9]")
_LONE_RETURN: Final = re.compile(rb"\r(?!\n)")
_SEPARATOR: Final = re.compile(rb"\xe2\x80[\xa8\xa9]")


class Reading(NamedTuple):
    """One way to take lines and columns."""

    encoding: PositionEncoding
    line_break: re.Pattern[bytes]
    skips_mark: bool  # whether the first line begins behind the byte order mark


def possible_readings(content: bytes, encoding: int) -> Iterator[Reading]:
    """The readings of positions that differ for a content, the likeliest first."""
    encodings: Sequence[PositionEncoding]
    if content.isascii():
        encodings = (PositionEncoding.UTF8,)
    elif 1 <= encoding <= len(PositionEncoding) - 1:
        encodings = (PositionEncoding(encoding),)
    else:
        # Most indexers that do not say what they count are written in JavaScript.
        encodings = (PositionEncoding.UTF16, PositionEncoding.UTF32, PositionEncoding.UTF8)
    breaks = [_NEWLINE]
    if _LONE_RETURN.search(content):
        breaks.insert(0, _UNIVERSAL)
    if _SEPARATOR.search(content):
        breaks.insert(len(breaks) - 1, _SCRIPT)
    marks = (True, False) if content.startswith(BYTE_ORDER_MARK) else (False,)
    for one in encodings:
        for line_break in breaks:
            for skips_mark in marks:
                yield Reading(one, line_break, skips_mark)


def byte_ranges(
    content: bytes,
    encoding: int,
    rows: Sequence[tuple[int, int, int, int, int, int]],
    score: Callable[[Sequence[Range]], int],
) -> list[Range]:
    """The bytes of the ranges that rows begin with. `score` tells how many of them are of a token."""
    best: list[Range] = []
    most = -1
    readings = list(possible_readings(content, encoding))
    for reading in readings:
        ranges = _Positions(content, reading).convert(rows)
        count = score(ranges) if len(readings) > 1 else 0
        if count > most:
            best, most = ranges, count
    return best


class _Positions:
    """The positions of one content by one reading."""

    def __init__(self, content: bytes, reading: Reading) -> None:
        self._content, self._encoding = content, reading.encoding
        first = len(BYTE_ORDER_MARK) if reading.skips_mark else 0
        self._lines = [first, *(match.end() for match in reading.line_break.finditer(content))]
        self._tables: dict[int, list[int] | None] = {}  # line → the byte of each column; None: as many

    def convert(self, rows: Sequence[tuple[int, int, int, int, int, int]]) -> list[Range]:
        lines = self._lines
        if self._encoding == PositionEncoding.UTF8:
            try:
                return [(lines[a] + b, lines[c] + d) for a, b, c, d, _, _ in rows]
            except IndexError:
                pass  # a line that is not there: each position is looked at
        return [(self._byte_at(a, b), self._byte_at(c, d)) for a, b, c, d, _, _ in rows]

    def _byte_at(self, line: int, column: int) -> int:
        if line >= len(self._lines):
            return -1
        if line not in self._tables:
            self._tables[line] = self._columns(line)
        table = self._tables[line]
        if table is None:
            return self._lines[line] + column
        return table[column] if column < len(table) else -1

    def _columns(self, line: int) -> list[int] | None:
        at = self._lines[line]
        end = self._lines[line + 1] if line + 1 < len(self._lines) else len(self._content)
        raw = self._content[at:end]
        if self._encoding == PositionEncoding.UTF8 or raw.isascii():
            return None
        table = []
        for char in raw.decode("utf-8", "surrogateescape"):
            table.append(at)
            if self._encoding == PositionEncoding.UTF16 and char > "\uffff":
                table.append(-1)  # between the halves of a surrogate pair
            at += len(char.encode("utf-8", "surrogateescape"))
        return [*table, at]
