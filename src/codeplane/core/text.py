"""Source text as it is shown: lines with their numbers, each of a bearable length."""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Final

_LONGEST: Final = 1_000


class LineStarts:
    """Where the lines of a text begin, in bytes. A line ends with a line feed, as facts count them."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0, *accumulate(map((1).__add__, map(len, self.data.split(b"\n"))))]
        starts.pop()
        return starts

    def has(self, line: int) -> bool:
        return 0 < line <= len(self._starts)

    def offset(self, line: int, column: int) -> int:
        return self._starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """Line and byte column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def text(self, line: int) -> str:
        """One line, without its end."""
        end = self._starts[line] if line < len(self._starts) else len(self.data)
        return self.data[self._starts[line - 1] : end].decode("utf-8", "replace").rstrip("\r\n")


def lines_of(data: bytes) -> list[str]:
    """The lines of a file without their ends; what is not UTF-8 in them is replaced."""
    lines = data.decode("utf-8", "replace").split("\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(lines: Sequence[str], first: int) -> str:
    """Lines one below the other, each behind its number: `12: text`."""
    return "\n".join([f"{number}: {cut(line)}" for number, line in enumerate(lines, first)])


def numbered_within(lines: Sequence[str], first: int, room: int) -> tuple[str, int]:
    """The numbered lines that there is room for, one at least; and how many these are."""
    size = 0
    for number, line in enumerate(lines, first):
        room -= len(str(number)) + len(cut(line)) + 3  # the colon, the space and the line break
        if room < -1 and size:
            break
        size += 1
    return numbered(lines[:size], first), size


def cut(line: str, longest: int = _LONGEST) -> str:
    """A line, or its beginning and how much is left out."""
    return line if len(line) <= longest else f"{line[:longest]}… ({len(line) - longest} characters more)"
