"""Walks history as `git log` does: by date, skipping commits that do not touch the given paths."""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import pygit2

from codeplane.core.errors import GitFailed
from codeplane.git.history.changes import tree_changes
from codeplane.git.repo.objects import tree_of
from codeplane.git.repo.pathspec import PathFilter

_CACHED: Final = 50_000

Place = tuple[str, int] | None


@dataclass
class Walk:
    """A walk through history. It holds no handle, so it can be kept and resumed later."""

    paths: PathFilter = field(default_factory=PathFilter)
    since: int | None = None  # by commit date; the walk stops at older commits
    ahead: list[tuple[int, int, str]] = field(default_factory=list)
    visits: set[str] = field(default_factory=set)
    count: int = 0
    ends: int = 0  # commits whose parents are not in this clone

    def copy(self) -> "Walk":
        return Walk(self.paths, self.since, [*self.ahead], {*self.visits}, self.count, self.ends)

    def begin(self, handle: pygit2.Repository, oid: str) -> None:
        self._add(oid, _Commits(handle))

    def leave_out(self, handle: pygit2.Repository, oid: str) -> None:
        """Excludes a commit and its ancestors; call it before the walk."""
        for commit in handle.walk(oid):
            self.visits.add(str(commit.id))

    def commits(
        self, handle: pygit2.Repository, check: Callable[[], None] = lambda: None
    ) -> Iterator[pygit2.Commit]:
        """The commits, newest first; `check` may end the walk."""
        commits = _Commits(handle)
        compare = _Compare(handle, self.paths, commits)
        is_whole = self.paths == PathFilter()
        while self.ahead:
            check()
            commit = commits.taken(heapq.heappop(self.ahead)[2])
            if self.since is not None and commit.commit_time < self.since:
                continue
            every = [str(oid) for oid in commit.parent_ids]
            parents, is_shown = (every, True) if is_whole else compare.parents(commit, every)
            for parent in parents:
                self._add(parent, commits)
            if is_shown:
                yield commit

    def _add(self, oid: str, commits: "_Commits") -> None:
        if oid in self.visits:
            return
        self.visits.add(oid)
        commit = commits.get(oid)
        if commit is None:
            self.ends += 1
            return
        self.count += 1
        heapq.heappush(self.ahead, (-commit.commit_time, self.count, oid))


class _Commits:
    """Commits that were read and are still to come."""

    def __init__(self, handle: pygit2.Repository) -> None:
        self._handle = handle
        self._by_id: dict[str, pygit2.Commit] = {}

    def get(self, oid: str) -> pygit2.Commit | None:
        """The commit, or None when this clone lacks it."""
        entry = self._by_id.get(oid)
        if entry is None:
            commit = self._handle.get(oid)
            if isinstance(commit, pygit2.Commit):
                entry = self._by_id[oid] = commit
        return entry

    def taken(self, oid: str) -> pygit2.Commit:
        """The commit, dropped from the cache."""
        return self._by_id.pop(oid, None) or commit_of(self._handle, oid)


class _Compare:
    """Finds the parents that differ at the given paths."""

    def __init__(self, handle: pygit2.Repository, paths: PathFilter, commits: _Commits) -> None:
        self._handle = handle
        self._filter = paths
        self._paths = tuple(sorted(paths.selection.paths))
        self._commits = commits
        self._places = lru_cache(_CACHED)(self._places_of)

    def parents(self, commit: pygit2.Commit, every: list[str]) -> tuple[list[str], bool]:
        """The parents to follow, and whether the commit changed anything.

        A merge that has the same as one parent tells nothing that this parent does not: the others are left.
        """
        for oid in every:
            parent = self._commits.get(oid)
            if parent is not None and not self._differs(parent.tree_id, commit.tree_id):
                return [oid], False
        return every, bool(every) or self._differs(None, commit.tree_id)

    def _differs(self, old: pygit2.Oid | None, new: pygit2.Oid) -> bool:
        if old == new:
            return False
        if self._filter.is_plain:
            before = self._places(old) if old is not None else (None,) * len(self._paths)
            return before != self._places(new)
        changes = tree_changes(self._handle, str(old) if old is not None else None, str(new))
        return any(change.path in self._filter for change in changes)

    def _places_of(self, tree: pygit2.Oid) -> tuple[Place, ...]:
        entries = tree_of(self._handle, tree)
        return tuple(place_of(entries, path) for path in self._paths)


def place_of(tree: pygit2.Tree, path: str) -> Place:
    """The object and the mode that a tree has at a path."""
    try:
        entry = tree[path]
    except (KeyError, UnicodeEncodeError):
        return None
    return str(entry.id), int(entry.filemode)


def place_at(handle: pygit2.Repository, commit: str, path: str) -> Place:
    """The object and the mode that a commit has at a path."""
    return place_of(tree_of(handle, commit_of(handle, commit).tree_id), path)


def commit_of(handle: pygit2.Repository, oid: str) -> pygit2.Commit:
    try:
        commit = handle[oid]
    except (KeyError, ValueError) as error:
        raise GitFailed(f"Git: the commit {oid} is missing or damaged.") from error
    if not isinstance(commit, pygit2.Commit):
        raise GitFailed(f"Git: {oid} is not a commit.")
    return commit
