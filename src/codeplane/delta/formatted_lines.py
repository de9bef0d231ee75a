"""Keeps what a formatter has made of some lines, and leaves all other lines as they were."""

from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from codeplane.git.history.hunks import Hunk, diff_hunks

# What formatters add and take away: they never change other characters.
_LOOSE: Final = b" \t\r\n\f\v;,'\"`()"


class Lines(NamedTuple):
    """Lines from the first to the last, counted from 1."""

    first: int
    last: int


def touched_lines(before: bytes, after: bytes) -> list[Lines]:
    """The lines of a text that another one does not have; a place where lines only went away has none."""
    hunks = diff_hunks(before, after)
    return [Lines(hunk.new + 1, hunk.new_end) for hunk in hunks if hunk.new < hunk.new_end]


def has_mixed_ends(data: bytes) -> bool:
    """Whether some lines of a text end in CRLF and others in LF."""
    return 0 < data.count(b"\r\n") < data.count(b"\n")


def with_ends_of(data: bytes, formatted: bytes) -> bytes:
    """A formatted text with the line ends of the text that it was made of."""
    plain = formatted.replace(b"\r\n", b"\n")
    return plain.replace(b"\n", b"\r\n") if b"\r\n" in data else plain


def keep_lines(data: bytes, formatted: bytes, lines: Lines) -> bytes:
    """A text in which only the given lines are as a formatter wrote them.

    Where it has joined or split lines, those that have become one, or were one, go together.
    """
    old, new = data.splitlines(keepends=True), formatted.splitlines(keepends=True)
    parts: list[bytes] = []
    end = 0
    for hunk in diff_hunks(data, formatted):
        for piece in _pieces_of(hunk, old, new):
            parts += old[end : piece.old]
            is_kept = piece.old < lines.last and piece.old_end >= lines.first
            parts += new[piece.new : piece.new_end] if is_kept else old[piece.old : piece.old_end]
            end = piece.old_end
    return b"".join([*parts, *old[end:]])


def _pieces_of(hunk: Hunk, old: list[bytes], new: list[bytes]) -> Iterator[Hunk]:
    """The smallest parts of a hunk whose lines say the same; all of it where it says something else."""
    old_bounds = _bounds_in(old[hunk.old : hunk.old_end])
    new_bounds = _bounds_in(new[hunk.new : hunk.new_end])
    if b"".join(map(_firm, old[hunk.old : hunk.old_end])) != b"".join(
        map(_firm, new[hunk.new : hunk.new_end])
    ):
        yield hunk
        return
    at_old, at_new = hunk.old, hunk.new
    for length in sorted(old_bounds.keys() & new_bounds.keys()):
        old_end, new_end = hunk.old + old_bounds[length], hunk.new + new_bounds[length]
        yield Hunk(at_old, old_end, at_new, new_end)
        at_old, at_new = old_end, new_end
    if (at_old, at_new) != (hunk.old_end, hunk.new_end):
        yield Hunk(at_old, hunk.old_end, at_new, hunk.new_end)


def _bounds_in(lines: list[bytes]) -> dict[int, int]:
    """How much firm text there is before a line ends, with the number of lines up to there.

    A line of loose characters alone, such as `);`, ends what is before it. A blank line begins what follows.
    """
    bounds: dict[int, int] = {}
    totals = accumulate(len(_firm(line)) for line in lines)
    for count, (total, line) in enumerate(zip(totals, lines, strict=True), 1):
        if total and (_firm(line) or line.strip()):
            bounds[total] = count
    return bounds


def _firm(line: bytes) -> bytes:
    return line.translate(None, _LOOSE)
