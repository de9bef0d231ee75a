"""Conflicts, from the index and from conflict markers in files."""

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import pygit2

from codeplane.git.repo.outcome import Conflict, Side

_KINDS: Final = {
    (True, True, True): "both_modified",
    (False, True, True): "both_added",
    (True, True, False): "deleted_by_them",
    (True, False, True): "deleted_by_us",
    (False, True, False): "added_by_us",
    (False, False, True): "added_by_them",
    (True, False, False): "both_deleted",
}
_MARKS: Final = re.compile(rb"^(<{7,}|\|{7,}|={7,}|>{7,})(?: .*)?\r?$")
_MOST_HUNKS: Final = 20
_MOST_LINES: Final = 30


@dataclass(frozen=True)
class Hunk:
    """One conflict in a file: the lines from marker to marker, and what each side has."""

    start_line: int
    end_line: int
    ours: str
    theirs: str
    base: str | None = None  # where the file shows it


@dataclass(frozen=True)
class ConflictDetails:
    """A conflict with its kind and hunks. A file without markers has no hunks."""

    conflict: Conflict
    kind: str
    hunks: tuple[Hunk, ...] = ()
    more_hunks: int = 0


def conflicts_of(index: pygit2.Index) -> tuple[Conflict, ...]:
    """The paths with unmerged entries, in order; a side that lacks the path is None."""
    conflicts = [
        Conflict(_path_of(ancestor, ours, theirs), _side_of(ancestor), _side_of(ours), _side_of(theirs))
        for ancestor, ours, theirs in index.conflicts or ()
    ]
    return tuple(sorted(conflicts, key=lambda conflict: conflict.path))


def describe_conflicts(
    conflicts: Iterable[Conflict], read: Callable[[str], bytes | None]
) -> tuple[ConflictDetails, ...]:
    """Conflicts with their kinds and hunks; `read` has the content of a file of the working tree, or None."""
    return tuple(_describe_conflict(conflict, read(conflict.path)) for conflict in conflicts)


def kind_of(conflict: Conflict) -> str:
    """What the two sides did, in the words of git status."""
    return _KINDS[conflict.ancestor is not None, conflict.ours is not None, conflict.theirs is not None]


def hunks_of(data: bytes) -> list[Hunk]:
    """The conflicts marked in a file; markers out of git's order are text."""
    return _Reader(data).hunks


def has_marks(data: bytes) -> bool:
    return bool(hunks_of(data))


def _describe_conflict(conflict: Conflict, data: bytes | None) -> ConflictDetails:
    hunks = hunks_of(data) if data is not None and b"\0" not in data[:8000] else []
    return ConflictDetails(
        conflict, kind_of(conflict), tuple(hunks[:_MOST_HUNKS]), max(0, len(hunks) - _MOST_HUNKS)
    )


class _Reader:
    """Reads conflict markers in order: ours, perhaps the ancestor, theirs, end."""

    def __init__(self, data: bytes) -> None:
        self.hunks: list[Hunk] = []
        self._start = 0
        self._size = 0
        self._parts: dict[bytes, list[bytes]] = {}
        self._at = b""
        for number, line in enumerate(data.split(b"\n"), start=1):
            mark = _MARKS.match(line)
            if mark is None or not self._change_part(mark[1], number):
                self._parts.get(self._at, []).append(line)

    def _change_part(self, mark: bytes, number: int) -> bool:
        sign, size = mark[:1], len(mark)
        if sign == b"<" and not self._at:
            self._start, self._size, self._at, self._parts = number, size, sign, {sign: []}
            return True
        follows = {b"|": (b"<",), b"=": (b"<", b"|"), b">": (b"=",)}.get(sign, ())
        if size != self._size or self._at not in follows:
            return False
        if sign == b">":
            self._end_hunk(number)
        else:
            self._at, self._parts[sign] = sign, []
        return True

    def _end_hunk(self, number: int) -> None:
        ours, theirs, base = (self._parts.get(sign) for sign in (b"<", b"=", b"|"))
        base_text = _join_lines(base) if base is not None else None
        self.hunks.append(
            Hunk(self._start, number, _join_lines(ours or []), _join_lines(theirs or []), base_text)
        )
        self._at, self._size = b"", 0


def _join_lines(lines: list[bytes]) -> str:
    texts = [line.decode("utf-8", "replace") for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        texts.append(f"… {len(lines) - _MOST_LINES} more lines")
    return "\n".join(texts)


def _path_of(*entries: pygit2.IndexEntry | None) -> str:
    return next(os.fsdecode(entry.path) for entry in entries if entry is not None)


def _side_of(entry: pygit2.IndexEntry | None) -> Side | None:
    return Side(str(entry.id), int(entry.mode)) if entry is not None else None
