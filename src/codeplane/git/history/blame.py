"""Which commit each line of a file comes from, as in `git blame`; renames are followed."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import pygit2

from codeplane.git.history.changes import tree_changes
from codeplane.git.history.hunks import UnchangedRun, diff_hunks, unchanged_runs
from codeplane.git.history.renames import find_renames
from codeplane.git.history.walk import commit_of, place_at
from codeplane.git.repo.outcome import Side


class Origin(NamedTuple):
    """A version of the file; without a commit, the one in the working tree."""

    commit: str | None
    path: str


class Lines(NamedTuple):
    """A run of lines of the blamed file, counted from 1, and where it starts in its origin."""

    first: int
    length: int
    origin: Origin
    original: int


class _Part(NamedTuple):
    final: int  # counted from 0
    start: int  # in the version being compared
    length: int


@dataclass
class Blame:
    """Hands lines on to older commits until each is at the commit that wrote it."""

    handle: pygit2.Repository
    check: Callable[[], None]
    _parts: dict[Origin, list[_Part]] = field(default_factory=dict)
    _ahead: list[tuple[int, int, Origin]] = field(default_factory=list)
    _count: int = 0

    def of(self, origin: Origin, data: bytes, first: int, last: int) -> list[Lines]:
        """The origin of the lines from `first` to `last`, counted from 1, neighbours together."""
        self._pass_on(origin, [_Part(first - 1, first - 1, last - first + 1)])
        lines: list[Lines] = []
        while self._ahead:
            self.check()
            here = heapq.heappop(self._ahead)[2]
            parts = self._parts.pop(here, [])
            content = data if here == origin else self._blob_of(here)
            lines += [
                Lines(part.final + 1, part.length, here, part.start + 1)
                for part in self._own_parts(here, content, parts)
                if part.length
            ]
        return _join_runs(sorted(lines))

    def _own_parts(self, here: Origin, content: bytes | pygit2.Blob, parts: list[_Part]) -> list[_Part]:
        """The lines that no parent has."""
        older = self._parent_origins(here)
        for parent, blob in older:
            if isinstance(content, pygit2.Blob) and blob.id == content.id:
                self._pass_on(parent, parts)
                return []
        for parent, blob in older:
            if not parts:
                break
            end = max(part.start + part.length for part in parts)
            same = [*unchanged_runs(diff_hunks(blob, content), end)]
            parent_parts, parts = _split_parts(parts, same)
            self._pass_on(parent, parent_parts)
        return parts

    def _parent_origins(self, here: Origin) -> list[tuple[Origin, pygit2.Blob]]:
        """The file in each parent, under the same name or the one it was renamed from."""
        origins: dict[int, tuple[Origin, pygit2.Blob]] = {}
        ids = self._parent_ids(here)
        for find in (self._same_path, self._old_path):
            for at, oid in enumerate(ids):
                older = find(here, oid) if at not in origins else None
                if older is not None:
                    origins[at] = older
        return [origins[at] for at in sorted(origins)]

    def _parent_ids(self, here: Origin) -> list[str]:
        if here.commit is None:
            heads = [] if self.handle.head_is_unborn else [str(self.handle.head.target)]
            return [*heads, *map(str, self.handle.listall_mergeheads())]
        ids = map(str, commit_of(self.handle, here.commit).parent_ids)
        return [oid for oid in ids if oid in self.handle]

    def _same_path(self, here: Origin, parent: str) -> tuple[Origin, pygit2.Blob] | None:
        place = place_at(self.handle, parent, here.path)
        blob = self.handle.get(place[0]) if place is not None else None
        return (Origin(parent, here.path), blob) if isinstance(blob, pygit2.Blob) else None

    def _old_path(self, here: Origin, parent: str) -> tuple[Origin, pygit2.Blob] | None:
        if here.commit is None:
            return None
        path = old_path(self.handle, parent, here.commit, here.path)
        return self._same_path(Origin(here.commit, path), parent) if path is not None else None

    def _blob_of(self, origin: Origin) -> pygit2.Blob:
        assert origin.commit is not None, "BUG: the working tree is not passed on to"
        place = place_at(self.handle, origin.commit, origin.path)
        assert place is not None, "BUG: lines are passed on to files that are there"
        blob = self.handle[place[0]]
        assert isinstance(blob, pygit2.Blob), "BUG: lines are in blobs"
        return blob

    def _pass_on(self, origin: Origin, parts: list[_Part]) -> None:
        if not parts:
            return
        if origin not in self._parts:
            self._count += 1
            heapq.heappush(self._ahead, (-self._commit_time(origin), self._count, origin))
        self._parts.setdefault(origin, []).extend(parts)

    def _commit_time(self, origin: Origin) -> int:
        return commit_of(self.handle, origin.commit).commit_time if origin.commit is not None else 1 << 62


def old_path(handle: pygit2.Repository, parent: str, commit: str, path: str) -> str | None:
    """The path that a renamed file has in a parent commit."""
    trees = [str(commit_of(handle, oid).tree_id) for oid in (parent, commit)]
    changes = tree_changes(handle, trees[0], trees[1])
    deletions = {
        change.path: change.old for change in changes if change.kind == "D" and change.old is not None
    }
    place = place_at(handle, commit, path)
    return (
        find_renames(handle, deletions, {path: Side(*place)}).get(path)
        if place is not None and deletions
        else None
    )


def _split_parts(parts: list[_Part], same: list[UnchangedRun]) -> tuple[list[_Part], list[_Part]]:
    """Splits lines into those that an older content has too, renumbered, and the others."""
    parent_parts: list[_Part] = []
    remaining: list[_Part] = []
    for part in parts:
        at, end = part.start, part.start + part.length
        for run in same:
            start, stop = max(at, run.new), min(end, run.new + run.length)
            if start >= stop:
                continue
            if start > at:
                remaining.append(_Part(part.final + at - part.start, at, start - at))
            parent_parts.append(
                _Part(part.final + start - part.start, run.old + start - run.new, stop - start)
            )
            at = stop
        if at < end:
            remaining.append(_Part(part.final + at - part.start, at, end - at))
    return parent_parts, remaining


def _join_runs(runs: list[Lines]) -> list[Lines]:
    """Joins neighbouring runs that are also neighbours in their origin."""
    out: list[Lines] = []
    for run in runs:
        before = out[-1] if out else None
        if (
            before is not None
            and before.origin == run.origin
            and before.first + before.length == run.first
            and before.original + before.length == run.original
        ):
            out[-1] = before._replace(length=before.length + run.length)
        else:
            out.append(run)
    return out
