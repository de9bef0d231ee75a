"""What a change of one file looks like: how many lines, and which."""

import sys
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from itertools import takewhile, zip_longest
from operator import ne
from typing import AnyStr, Final, NamedTuple

from codeplane.mutation.placement.line_mapping import common_ends

_MOST_COMPARED: Final = 4_000_000
_AROUND: Final = 2
_WIDEST: Final = 400  # characters of a line: one of generated code may have millions
_BEFORE: Final = 80


def counts(old: bytes | None, new: bytes | None) -> tuple[int, int]:
    """Lines that came and lines that went."""
    before, after = map(_visible_lines, _strip_common_lines(old or b"", new or b""))
    _, before, after = _strip_equal_lines(before, after)
    if len(before) * len(after) > _MOST_COMPARED:
        if len(before) == len(after):  # as many lines as before: a rename, mostly
            differ = sum(map(ne, before, after))
            return differ, differ
        return len(after), len(before)
    lines = list(unified_diff(before, after, n=0, lineterm=""))[2:]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def _strip_common_lines(old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """Without most of the whole lines that both begin and end with."""
    low = old.rfind(b"\n", 0, _common_prefix_length(old, new)) + 1
    old, new = old[low:], new[low:]
    high = _common_prefix_length(old[::-1], new[::-1])
    index = old.find(b"\n", len(old) - high)
    left = len(old) - index - 1 if high and index >= 0 else 0
    return old[: len(old) - left], new[: len(new) - left]


def _common_prefix_length(one: AnyStr, other: AnyStr) -> int:
    """How many bytes or characters are the same at the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def preview(path: str, old: bytes | None, new: bytes | None, most: int) -> str:
    """A unified diff of at most so many lines; the rest is counted."""
    before, after = _visible_lines(old), _visible_lines(new)
    low, old_lines, come = _strip_equal_lines(before, after)
    names = ("/dev/null" if old is None else path), ("/dev/null" if new is None else path)
    if len(old_lines) * len(come) > _MOST_COMPARED:
        if len(old_lines) != len(come):
            return f"{path}: {len(old_lines)} lines from line {low + 1} become {len(come)}"
        lines = [f"--- {names[0]}", f"+++ {names[1]}", *_line_by_line(before, after)]
    else:
        lines = list(unified_diff(before, after, *names, n=_AROUND, lineterm=""))
    if most == sys.maxsize:
        return "\n".join(lines)
    cut = [f"… {len(lines) - most} more lines"] if len(lines) > most else []
    return "\n".join([*_narrow_lines(lines[:most]), *cut])


def _narrow_lines(lines: Sequence[str]) -> Iterator[str]:
    """The lines, of which very long ones are shown in part: those that differ, around where they do."""
    index = 0
    while index < len(lines):
        removals = list(takewhile(lambda line: line.startswith("-"), lines[index:]))
        additions = list(takewhile(lambda line: line.startswith("+"), lines[index + len(removals) :]))
        starts = [
            _common_prefix_length(one[1:], other[1:]) for one, other in zip(removals, additions, strict=False)
        ]
        for block in (removals, additions):
            for line, start in zip_longest(block, starts[: len(block)], fillvalue=0):
                yield _narrow_line(str(line), int(start))
        index += len(removals) + len(additions)
        if not removals and not additions:
            yield _narrow_line(lines[index], 0)
            index += 1


def _narrow_line(line: str, start: int) -> str:
    """A line of a diff with its mark; of a long one the text from shortly before a column."""
    if len(line) <= _WIDEST:
        return line
    start = max(0, start - _BEFORE)
    text = line[1 + start : 1 + start + _WIDEST]
    more = len(line) - 1 - start - len(text)
    return f"{line[0]}{'… ' if start else ''}{text}{f'… {more} more characters' if more else ''}"


def _line_by_line(before: list[str], after: list[str]) -> Iterator[str]:
    """The hunks of two texts with as many lines, of which each is compared with the one in its place."""
    differing = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if one != other]
    while differing:
        last = 0
        while last + 1 < len(differing) and differing[last + 1] - differing[last] <= 2 * _AROUND:
            last += 1
        first, end = max(0, differing[0] - _AROUND), min(len(before), differing[last] + 1 + _AROUND)
        yield f"@@ -{first + 1},{end - first} +{first + 1},{end - first} @@"
        at = first
        while at < end:
            stop = at
            while stop < end and before[stop] != after[stop]:
                stop += 1
            yield from (f"-{line}" for line in before[at:stop])
            yield from (f"+{line}" for line in after[at:stop])
            if stop < end:
                yield f" {before[stop]}"
            at = stop + 1
        del differing[: last + 1]


def _visible_lines(data: bytes | None) -> list[str]:
    """Lines with what tells them apart but cannot be seen: a carriage return, and no line end at the end."""
    if not data:
        return []
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1]:
        lines[-1] += " (no line end)"
    else:
        lines.pop()
    return [line.replace("\r", "␍") for line in lines]


def _strip_equal_lines(before: list[str], after: list[str]) -> tuple[int, list[str], list[str]]:
    """Without what is the same at the beginning, whose lines are counted, and at the end."""
    low, high = common_ends(before, after)
    return low, before[low : len(before) - high], after[low : len(after) - high]


class Range(NamedTuple):
    """Whole lines that were replaced, 0-based, the last one excluded, and what came in their place."""

    start: int
    end: int
    new: tuple[str, ...]  # with their line ends


def ranges(old: bytes | None, new: bytes | None) -> list[Range]:
    """The lines that a change replaced; one range where they are too many to be told apart."""
    before, after = _raw_lines(old), _raw_lines(new)
    low, old_lines, come = _strip_equal_lines(before, after)
    if not old_lines and not come:
        return []
    if len(old_lines) * len(come) > _MOST_COMPARED:
        return [Range(low, low + len(old_lines), tuple(come))]
    steps = SequenceMatcher(None, old_lines, come, autojunk=False).get_opcodes()
    return [
        Range(low + first, low + end, tuple(come[come_first:come_end]))
        for tag, first, end, come_first, come_end in steps
        if tag != "equal"
    ]


def _raw_lines(data: bytes | None) -> list[str]:
    """Lines as they are, each with its end."""
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *filter(None, lines[-1:])]


def line_ending(data: bytes) -> str | None:
    """`LF`, `CRLF` or `mixed`; None for a text of one line."""
    crlf = data.count(b"\r\n")
    lf = data.count(b"\n") - crlf
    return "mixed" if crlf and lf else "CRLF" if crlf else "LF" if lf else None
