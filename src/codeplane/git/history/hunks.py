"""Line diffs of two contents: what was replaced, and what stayed."""

from collections.abc import Iterator
from typing import NamedTuple

import pygit2

_OPTION = pygit2.enums.DiffOption


class Hunk(NamedTuple):
    """Lines that were replaced, counted from 0: from the first to before the last, in both contents."""

    old: int
    old_end: int
    new: int
    new_end: int


class UnchangedRun(NamedTuple):
    """Lines that stayed, counted from 0."""

    old: int
    new: int
    length: int


def diff_hunks(old: pygit2.Blob | bytes, new: pygit2.Blob | bytes, *, by_indent: bool = True) -> list[Hunk]:
    """The replaced lines. With `by_indent`, ambiguous hunks are placed by indentation, as git does."""
    flags = _OPTION.FORCE_TEXT | (_OPTION.INDENT_HEURISTIC if by_indent else _OPTION.NORMAL)
    patch = pygit2.Patch.create_from(old, new, flag=flags, context_lines=0)
    return [
        Hunk(
            *_line_span(hunk.old_start, hunk.old_lines),
            *_line_span(hunk.new_start, hunk.new_lines),
        )
        for hunk in patch.hunks
    ]


def unchanged_runs(differences: list[Hunk], lines: int) -> Iterator[UnchangedRun]:
    """The runs of the new content, of `lines` lines in all, that no hunk replaced."""
    old = new = 0
    for hunk in differences:
        if hunk.new > new:
            yield UnchangedRun(old, new, hunk.new - new)
        old, new = hunk.old_end, hunk.new_end
    if lines > new:
        yield UnchangedRun(old, new, lines - new)


def _line_span(start: int, count: int) -> tuple[int, int]:
    """The span of a hunk's side; an empty one starts after the line that it names."""
    first = start - 1 if count else start
    return first, first + count
