"""The history of one file, through its renames, or of some of its lines."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import pygit2

from codeplane.git.history.blame import old_path
from codeplane.git.history.changes import Kind
from codeplane.git.history.hunks import Hunk, diff_hunks
from codeplane.git.history.walk import Place, commit_of, place_at
from codeplane.git.repo.objects import KIND, TREE


class Span(NamedTuple):
    """Lines, counted from 0: the first, and the one after the last."""

    start: int
    end: int


class Version(NamedTuple):
    """A file at a commit; with `span`, only these lines of it count."""

    oid: str
    path: str
    span: Span | None = None


class Step(NamedTuple):
    """A commit that changed the file, and how."""

    version: Version
    kind: Kind
    old_path: str | None = None


@dataclass
class Follow:
    """A walk along one file's history. It holds no handle, so it can be kept and resumed later."""

    ahead: list[tuple[int, int, Version]] = field(default_factory=list)
    visits: set[Version] = field(default_factory=set)
    number: int = 0

    def copy(self) -> "Follow":
        return Follow([*self.ahead], {*self.visits}, self.number)

    def begin(self, handle: pygit2.Repository, version: Version) -> None:
        if version not in self.visits and version.oid in handle:
            self.visits.add(version)
            self.number += 1
            when = commit_of(handle, version.oid).commit_time
            heapq.heappush(self.ahead, (-when, self.number, version))

    def steps(self, handle: pygit2.Repository) -> Iterator[Step | None]:
        """The changes, newest first; None for each commit that did not touch the file."""
        while self.ahead:
            here = heapq.heappop(self.ahead)[2]
            older, step = _predecessors(handle, here)
            for version in older:
                self.begin(handle, version)
            yield step


def _predecessors(handle: pygit2.Repository, here: Version) -> tuple[list[Version], Step | None]:
    """The versions of the file in the parents, and what the commit did to it.

    A commit that has it like one parent has done nothing, and nothing is asked of the other parents.
    """
    commit = commit_of(handle, here.oid)
    place = place_at(handle, here.oid, here.path)
    older: list[Version] = []
    old_name: str | None = None
    is_new = True
    for parent in (str(oid) for oid in commit.parent_ids if oid in handle):
        then, path = place_at(handle, parent, here.path), here.path
        if place is not None and not _is_of_kind(then, place):
            old_name = old_path(handle, parent, here.oid, here.path)
            path = old_name or path
            then = place_at(handle, parent, path)
        is_new = is_new and not (then if place is None else _is_of_kind(then, place))
        span, is_touched = _map_span(handle, then, place, here.span)
        if not is_touched and (path == here.path or here.span is not None):
            return [Version(parent, path, span)], None
        if span is None or span.end > span.start:
            older.append(Version(parent, path, span))
    if place is None:
        return older, None if is_new else Step(here, "D")
    kind: Kind = "A" if is_new else "R" if old_name is not None else "M"
    return older, Step(here, kind, old_name)


def _is_of_kind(old: Place, new: tuple[str, int]) -> bool:
    """Whether there was something before, and not a directory where a file is now."""
    return old is not None and (old[1] & KIND == TREE) == (new[1] & KIND == TREE)


def _map_span(
    handle: pygit2.Repository, old: Place, new: Place, span: Span | None
) -> tuple[Span | None, bool]:
    """The span in the older file, and whether it differs; without a span, whether the file does."""
    if span is None or old == new:
        return span, old != new
    one, two = (handle.get(place[0]) if place is not None else None for place in (old, new))
    if not isinstance(one, pygit2.Blob) or not isinstance(two, pygit2.Blob):
        return Span(0, 0), True
    differences = diff_hunks(one, two, by_indent=False)  # as `git log -L` compares
    return span_before(differences, span), any(_is_touched(hunk, span) for hunk in differences)


def span_before(differences: list[Hunk], span: Span) -> Span:
    """The span that lines had before, including what was replaced inside it."""
    return Span(_start_before(differences, span.start), _end_before(differences, span.end))


def _is_touched(hunk: Hunk, span: Span) -> bool:
    return not (hunk.new_end <= span.start or span.end <= hunk.new)


def _start_before(differences: list[Hunk], line: int) -> int:
    shift = 0
    for hunk in differences:
        if hunk.new <= line < hunk.new_end:
            return hunk.old
        if hunk.new_end <= line:
            shift = hunk.old_end - hunk.new_end
    return line + shift


def _end_before(differences: list[Hunk], line: int) -> int:
    shift = 0
    for hunk in differences:
        if hunk.new < line <= hunk.new_end:
            return hunk.old_end
        if hunk.new_end < line:
            shift = hunk.old_end - hunk.new_end
    return line + shift
