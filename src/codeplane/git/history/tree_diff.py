"""Which paths differ between two trees, the index and the working tree."""

import os
from collections.abc import Iterable
from typing import NamedTuple

import pygit2

from codeplane.git.repo.outcome import Side

_IN_INDEX = pygit2.enums.DiffOption.INCLUDE_TYPECHANGE | pygit2.enums.DiffOption.INCLUDE_UNREADABLE


class Pair(NamedTuple):
    """Both sides of one path; a missing side is None."""

    old: Side | None
    new: Side | None


def diff_trees(handle: pygit2.Repository, old: str | None, new: str) -> dict[str, Pair]:
    """The paths that differ between two trees; `old` None is the empty tree."""
    target = handle[new].peel(pygit2.Tree)
    if old is None:
        return _collect_pairs(target.diff_to_tree(swap=True).deltas)
    return _collect_pairs(handle[old].peel(pygit2.Tree).diff_to_tree(target).deltas)


def diff_index(
    handle: pygit2.Repository, tree: str | None, index: pygit2.Index | None = None
) -> dict[str, Pair]:
    """The paths that differ between a tree and an index; an unmerged path has no new side."""
    index = handle.index if index is None else index
    if tree is None:
        return {os.fsdecode(e.path): Pair(None, Side(str(e.id), int(e.mode))) for e in index}
    return _collect_pairs(index.diff_to_tree(handle[tree].peel(pygit2.Tree)).deltas)


def count_lines(handle: pygit2.Repository, old: str | None, new: str) -> tuple[int, int]:
    """The lines inserted and deleted between two trees."""
    target = handle[new].peel(pygit2.Tree)
    if old is None:
        diff = target.diff_to_tree(swap=True, context_lines=0)
    else:
        diff = handle[old].peel(pygit2.Tree).diff_to_tree(target, context_lines=0)
    return diff.stats.insertions, diff.stats.deletions


def unstaged_paths(handle: pygit2.Repository) -> set[str]:
    """Tracked paths whose file differs from the index: changed, of another type, or deleted."""
    deltas = handle.index.diff_to_workdir(_IN_INDEX).deltas
    return {os.fsdecode(delta.new_file.raw_path) for delta in deltas}


def index_side(handle: pygit2.Repository, path: str) -> Side | None:
    """The merged entry of the index at a path."""
    try:
        entry = handle.index[path]
    except KeyError:
        return None
    return Side(str(entry.id), int(entry.mode))


def conflict_paths(handle: pygit2.Repository) -> set[str]:
    """Paths with a conflict in the index."""
    sides = handle.index.conflicts or ()
    return {os.fsdecode(side.path) for conflict in sides for side in conflict if side is not None}


def _collect_pairs(deltas: Iterable[pygit2.DiffDelta]) -> dict[str, Pair]:
    """Pairs by path; libgit2 may report a type change as two deltas."""
    pairs: dict[str, Pair] = {}
    for delta in deltas:
        old, new = _side_of(delta.old_file), _side_of(delta.new_file)
        path = os.fsdecode(delta.new_file.raw_path or delta.old_file.raw_path)
        before = pairs.get(path, Pair(None, None))
        pairs[path] = Pair(before.old or old, before.new or new)
    return {path: pair for path, pair in pairs.items() if pair.old != pair.new}


def _side_of(file: pygit2.DiffFile) -> Side | None:
    return Side(str(file.id), int(file.mode)) if file.mode else None
