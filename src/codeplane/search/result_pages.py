"""What a search has found so far: files in order of rank, read only when their page is asked for."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

_NAMED: Final = 50  # files with marks come first, and there are few of them
_LONGEST: Final = 200
_BEFORE: Final = 60
_AHEAD: Final = 50  # files that are looked through to see whether a page can take the last hits along


class Mark(NamedTuple):
    """A line of a file that was found. `text` is empty where the line itself is to be shown."""

    line: int
    text: str = ""
    label: str = ""
    column: int = 0  # of the match, where the line may be too long to be shown


class Spot(NamedTuple):
    """A file with what was found in it; without marks it has to be looked through."""

    path: str
    blob: int | None
    marks: tuple[Mark, ...] = ()


class Looked(NamedTuple):
    """The lines of a file to be shown, and the numbers of those that match as well and are not."""

    marks: list[Mark]
    others: tuple[int, ...] = ()
    is_all: bool = True  # whether the file was looked through to its end


Look = Callable[[bytes], Looked]
"""Looks a file through for the lines to be shown."""


@dataclass(frozen=True)
class Plan:
    """Everything that a search needs to go on; it stays true to the epoch that it was made at."""

    epoch: int
    spots: list[Spot]
    look: Look | None = None
    total: int = 0  # of definitions or references; 0 where files have to be read to know

    def told(self) -> set[tuple[str, int]]:
        """The lines that files are in the plan for; a look through a file does not show them again."""
        if self.look is None:
            return set()
        return {(spot.path, mark.line) for spot in self.spots[:_NAMED] for mark in spot.marks}


class Place(NamedTuple):
    """How far the pages have come."""

    spot: int = 0
    mark: int = 0


@dataclass(frozen=True)
class Rest:
    """What a cursor stands for."""

    plan: Plan
    place: Place
    shape: object  # how the answer is to look


@dataclass
class FileHits:
    path: RepoPath
    marks: list[Mark] = field(default_factory=list)
    others: int = 0  # lines that match as well and come on no page
    is_all: bool = True  # whether there are no more of those than were counted


@dataclass
class Page:
    files: dict[str, FileHits] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    next: Place | None = None

    def add(self, last: "Page") -> None:
        """Takes in what comes after this page, up to the end."""
        for path, hits in last.files.items():
            mine = self.files.setdefault(path, hits)
            if mine is not hits:
                mine.marks += hits.marks
                mine.others, mine.is_all = mine.others + hits.others, mine.is_all and hits.is_all
        self.changed += last.changed
        self.next = None


def page(snapshot: Snapshot, plan: Plan, start: Place, limit: int, check: Callable[[], None]) -> Page:
    """The next hits from a place on, and the last ones with them where only few are left.

    A file that has changed since the plan was made is left out and told.
    """
    result = _page(snapshot, plan, start, limit, check)
    if result.next is None or len(plan.spots) - result.next.spot > _AHEAD:
        return result
    # Room for one more than may be shown: a page that has some left looks to the end.
    last = _page(snapshot, plan, result.next, beyond(limit) + 1, check)
    if sum(len(hits.marks) for hits in last.files.values()) <= beyond(limit):
        result.add(last)
    return result


def beyond(limit: int) -> int:
    """How many hits may be shown beyond a limit where they are the last: another page for them costs more."""
    return limit // 4


def _page(snapshot: Snapshot, plan: Plan, start: Place, limit: int, check: Callable[[], None]) -> Page:
    result, room = Page(), limit
    blobs = snapshot.layout.blobs
    counts = plan.told()
    for at in range(start.spot, len(plan.spots)):
        spot, skip = plan.spots[at], start.mark if at == start.spot else 0
        if not at % 100:
            check()
        if not room:
            result.next = Place(at)
            return result
        if blobs.get(spot.path) != spot.blob:
            result.changed.append(spot.path)
            continue
        view = _looked(snapshot, plan, spot)
        marks = view.marks
        if not spot.marks:
            marks = [mark for mark in marks if (spot.path, mark.line) not in counts]
        marks_here = marks[skip : skip + room]
        if marks_here:
            result.files.setdefault(spot.path, FileHits(RepoPath(spot.path))).marks += marks_here
            room -= len(marks_here)
        if skip + len(marks_here) < len(marks):
            result.next = Place(at, skip + len(marks_here))
            return result
        others = sum((spot.path, line) not in counts for line in view.others)
        if others or not view.is_all:
            hits = result.files.setdefault(spot.path, FileHits(RepoPath(spot.path)))
            hits.others, hits.is_all = others, view.is_all
    return result


def _looked(snapshot: Snapshot, plan: Plan, spot: Spot) -> Looked:
    path = spot.path
    try:
        if spot.marks:
            if all(mark.text for mark in spot.marks):
                return Looked(list(spot.marks))
            return Looked(list(_with_text(snapshot.source(RepoPath(path)), spot.marks)))
        assert plan.look is not None, "BUG: a file without marks has to be looked through"
        data = snapshot.source(RepoPath(path))
        return Looked([]) if b"\0" in data else plan.look(data)
    except (NotFound, PathRefused):
        return Looked([])


def _with_text(data: bytes, marks: Iterable[Mark]) -> Iterator[Mark]:
    lines = data.split(b"\n")
    for mark in marks:
        line = lines[mark.line - 1] if mark.line <= len(lines) else b""
        yield mark if mark.text else mark._replace(text=excerpt(line, mark.column))


def excerpt(line: bytes, at: int) -> str:
    """A line without the white space around it, or the part of a long one where the match is."""
    text = line.strip()
    if len(text) <= _LONGEST:
        return text.decode("utf-8", "replace")
    at -= len(line) - len(line.lstrip())
    first = max(0, min(at - _BEFORE, len(text) - _LONGEST))
    part = text[first : first + _LONGEST].decode("utf-8", "ignore")
    return f"{'…' if first else ''}{part}{'…' if first + _LONGEST < len(text) else ''}"
