"""Going back through history as `git log` does: by date, and past what does not touch the paths asked for."""

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import pygit2

from codeplane.core.errors import GitFailed

_CACHED: Final = 50_000

Place = tuple[str, int] | None


@dataclass
class Walk:
    """What is still ahead. It holds no handle, so it can be kept and gone on with later."""

    paths: tuple[str, ...] = ()  # files or directories; none is everything
    since: int | None = None  # of the committer; what is older is not gone past
    ahead: list[tuple[int, int, str]] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    count: int = 0
    ends: int = 0  # commits whose parents are not in this clone

    def copy(self) -> "Walk":
        return Walk(self.paths, self.since, [*self.ahead], {*self.seen}, self.count, self.ends)

    def begin(self, handle: pygit2.Repository, oid: str) -> None:
        self._add(handle, oid)

    def leave_out(self, handle: pygit2.Repository, oid: str) -> None:
        """Neither the commit nor any before it is to be given; to be called first."""
        for commit in handle.walk(oid):
            self.seen.add(str(commit.id))

    def commits(self, handle: pygit2.Repository) -> Iterator[pygit2.Commit]:
        """The commits, newest first; each is taken off before it is given."""
        compare = _Compare(handle, self.paths)
        while self.ahead:
            commit = commit_of(handle, heapq.heappop(self.ahead)[2])
            if self.since is not None and commit.commit_time < self.since:
                continue
            followed, is_shown = compare.parents(commit) if self.paths else (commit.parent_ids, True)
            for parent in followed:
                self._add(handle, str(parent))
            if is_shown:
                yield commit

    def _add(self, handle: pygit2.Repository, oid: str) -> None:
        if oid in self.seen:
            return
        self.seen.add(oid)
        if oid not in handle:
            self.ends += 1
            return
        self.count += 1
        heapq.heappush(self.ahead, (-commit_of(handle, oid).commit_time, self.count, oid))


class _Compare:
    """Which parents have other content at the paths."""

    def __init__(self, handle: pygit2.Repository, paths: tuple[str, ...]) -> None:
        self._handle = handle
        self._paths = paths
        self._places = lru_cache(_CACHED)(self._places_of)

    def parents(self, commit: pygit2.Commit) -> tuple[list[pygit2.Oid], bool]:
        """The parents to go on with, and whether the commit has changed anything.

        A merge that has the same as one parent tells nothing that this parent does not: the others are left.
        """
        here = self._places(str(commit.tree_id))
        there = [one for one in commit.parent_ids if one in self._handle]
        for parent in there:
            if self._places(str(commit_of(self._handle, str(parent)).tree_id)) == here:
                return [parent], False
        is_shown = bool(commit.parent_ids) or any(place is not None for place in here)
        return list(commit.parent_ids), is_shown

    def _places_of(self, tree: str) -> tuple[Place, ...]:
        found = self._handle[tree]
        assert isinstance(found, pygit2.Tree), "BUG: a commit has a tree"
        return tuple(place_of(found, path) for path in self._paths)


def place_of(tree: pygit2.Tree, path: str) -> Place:
    """The object and the mode that a tree has at a path."""
    try:
        found = tree[path]
    except (KeyError, UnicodeEncodeError):
        return None
    return str(found.id), int(found.filemode)


def commit_of(handle: pygit2.Repository, oid: str) -> pygit2.Commit:
    try:
        found = handle[oid]
    except (KeyError, ValueError) as error:
        raise GitFailed(f"Git: the commit {oid} is missing or damaged.") from error
    if not isinstance(found, pygit2.Commit):
        raise GitFailed(f"Git: {oid} is no commit.")
    return found
