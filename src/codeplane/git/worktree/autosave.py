"""Saving work before it is discarded, in a commit of the form that `git stash` makes."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import pygit2

from codeplane.git.history.commit_info import info_of
from codeplane.git.history.tree_diff import conflict_paths, diff_index, index_side, unstaged_paths
from codeplane.git.history.tree_edit import clashing_paths, side_at
from codeplane.git.repo.objects import LINK
from codeplane.git.repo.outcome import Side
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.files import WorkTree

SAVED: Final = "refs/codeplane/saved/"
# Git's own stand-in for a stasher without a configured identity.
_NOBODY: Final = ("git stash", "git@stash")
_SHORT: Final = 7

Entries = Mapping[str, Side | None]


def save_work(
    repository: Repository, handle: pygit2.Repository, why: str, paths: Iterable[str] | None = None
) -> str | None:
    """Saves staged and unstaged work, of all tracked paths or of those given, tracked or not.

    Returns the name of the reference, which `git stash apply` takes too; None when nothing was to be kept.
    """
    work = LocalWork.look(repository, handle, paths)
    return None if work.is_empty else keep_work(handle, work, why)


def keep_work(handle: pygit2.Repository, work: "LocalWork", why: str) -> str:
    """Keeps local work in a reference of its own, and returns its name."""
    oid = work.commit(why)
    moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    name = f"{SAVED}{moment}-{str(oid)[:_SHORT]}"
    handle.create_reference_direct(name, oid, True, message=why)
    return name


def saved_names(handle: pygit2.Repository) -> list[str]:
    """The saved references, newest first."""
    # As bytes, because other references may have names that are not UTF-8.
    raw = (reference.raw_name for reference in handle.references.iterator())
    names = [name.decode() for name in raw if name.startswith(SAVED.encode()) and name.isascii()]
    return sorted(names, reverse=True)


def drop_saved(repository: Repository, until: float, is_needed: Callable[[str], bool]) -> int:
    """Drops saves older than `until` that are not needed; returns how many."""
    count = 0
    with repository.opened() as handle:
        for name in saved_names(handle):
            commit = handle.references[name].peel(pygit2.Commit)
            if commit.commit_time < until and not is_needed(name):
                handle.references.delete(name)
                count += 1
    return count


@dataclass(frozen=True)
class LocalWork:
    """Local work: what differs from HEAD in the index and in files, and untracked files."""

    handle: pygit2.Repository
    in_index: Entries
    in_files: Entries
    untracked: Entries

    @classmethod
    def look(
        cls, repository: Repository, handle: pygit2.Repository, paths: Iterable[str] | None = None
    ) -> "LocalWork":
        tree, conflicts = WorkTree(handle, repository.root), conflict_paths(handle)
        differences = diff_index(handle, head_tree(handle)).keys() | conflicts
        candidates = differences | unstaged_paths(handle) if paths is None else set(paths)
        index_paths = {
            path
            for path in candidates
            if index_side(handle, path) or path in conflicts or path in differences
        }
        loose = {
            path: side for path in candidates - index_paths if (side := store_file(tree, path)) is not None
        }
        return cls(
            handle,
            {path: _staged_side(handle, path, conflicts) for path in index_paths & differences},
            _in_files(tree, index_paths, head_tree(handle), loose),
            loose,
        )

    @property
    def is_empty(self) -> bool:
        return not (self.in_index or self.in_files or self.untracked)

    @property
    def paths(self) -> set[str]:
        """The paths of tracked files."""
        return {*self.in_index, *self.in_files}

    def commit(self, message: str = "") -> pygit2.Oid:
        """Commits the work as `git stash` does; the parents are HEAD, the index and untracked files."""
        handle = self.handle
        base = self._base()
        label = f"{_branch_label(handle)}: {_describe_base(handle, base)}"
        index_tree = changed_tree(handle, head_tree(handle), self.in_index)
        parents = [base, _create_commit(handle, f"index on {label}\n", index_tree, [base])]
        if self.untracked:
            loose = changed_tree(handle, None, self.untracked)
            parents.append(_create_commit(handle, f"untracked files on {label}\n", loose, []))
        work_tree = changed_tree(handle, str(index_tree), self.in_files)
        text = f"On {_branch_label(handle)}: {message}" if message else f"WIP on {label}\n"
        return _create_commit(handle, text, work_tree, parents)

    def _base(self) -> pygit2.Oid:
        if not self.handle.head_is_unborn:
            return self.handle.head.peel(pygit2.Commit).id
        return _create_commit(self.handle, "nothing\n", changed_tree(self.handle, None, {}), [])


def head_tree(handle: pygit2.Repository) -> str | None:
    """The tree of HEAD; None on a branch without a commit."""
    return None if handle.head_is_unborn else str(handle.head.peel(pygit2.Tree).id)


def store_file(tree: WorkTree, path: str) -> Side | None:
    """Writes the file or link at a path as a blob; None if there is neither."""
    current = tree.at(path, index_side(tree.handle, path))
    if current is None or current.side is None:
        return None
    if current.side.mode == LINK:
        target = os.readlink(tree.root / path)  # noqa: PTH115
        return Side(str(tree.handle.create_blob(os.fsencode(target))), LINK)
    return Side(str(tree.handle.create_blob_fromworkdir(path)), current.side.mode)


def changed_tree(handle: pygit2.Repository, tree: str | None, entries: Entries) -> pygit2.Oid:
    """A tree with some paths set, and others, given as None, removed."""
    index = pygit2.Index()
    if tree is not None:
        index.read_tree(handle[tree].peel(pygit2.Tree))
    for path, side in entries.items():
        if side is None and path in index:
            index.remove(path)
    for path, side in entries.items():
        if side is not None:
            index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=side.oid), pygit2.enums.FileMode(side.mode)))
    return index.write_tree(handle)


def stash_signature(handle: pygit2.Repository) -> pygit2.Signature:
    """The user's signature, or git's stand-in where none is configured."""
    try:
        return handle.default_signature
    except KeyError:
        return pygit2.Signature(*_NOBODY)


def _in_files(tree: WorkTree, tracked: set[str], head: str | None, loose: Entries) -> dict[str, Side | None]:
    """Keeps a new file that is only in the index, as git does, unless something else is in its place."""
    sides = {path: store_file(tree, path) for path in tracked}
    missing = {path for path, side in sides.items() if side is None}
    new_paths = {path for path in missing if head is None or side_at(tree.handle, head, path) is None}
    new_paths -= clashing_paths(new_paths, loose)
    return {path: side for path, side in sides.items() if path not in new_paths}


def _staged_side(handle: pygit2.Repository, path: str, conflicts: set[str]) -> Side | None:
    if path not in conflicts:
        return index_side(handle, path)
    _, ours, _ = handle.index.conflicts[path]
    return Side(str(ours.id), int(ours.mode)) if ours is not None else None


def _create_commit(
    handle: pygit2.Repository, message: str, tree: pygit2.Oid, parents: list[pygit2.Oid]
) -> pygit2.Oid:
    who = stash_signature(handle)
    return handle.create_commit(None, who, who, message, tree, parents)


def _branch_label(handle: pygit2.Repository) -> str:
    if handle.head_is_unborn or handle.head_is_detached:
        return "(no branch)"
    return os.fsencode(handle.head.shorthand).decode("utf-8", "replace")


def _describe_base(handle: pygit2.Repository, base: pygit2.Oid) -> str:
    commit = handle[base].peel(pygit2.Commit)
    return f"{str(base)[:_SHORT]} {info_of(commit).subject}"
