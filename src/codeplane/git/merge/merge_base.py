"""Merge bases of two commits; several are merged into one virtual base, as git's recursive strategy does."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import pygit2

from codeplane.git.history.tree_edit import EMPTY_TREE
from codeplane.git.merge.text_merge import Labels, MergeDrivers
from codeplane.git.merge.tree_merge import MergeResult, merge_trees

BETWEEN: Final = Labels("Temporary merge branch 1", "Temporary merge branch 2", "merged common ancestors")
"""What sides are called that are common ancestors themselves."""

_DEEPEST: Final = 12


def merge_bases(handle: pygit2.Repository, ours: str, theirs: str) -> list[str]:
    """The best common ancestors, latest first."""
    one = handle.merge_base(ours, theirs)
    if one is None:
        return []
    others = _commits_beyond(handle, ours, one) & _commits_beyond(handle, theirs, one)
    candidates = {str(one), *others}
    best = [
        oid for oid in candidates if not any(_is_ancestor(handle, other, oid) for other in candidates - {oid})
    ]
    return sorted(best, key=lambda oid: (-handle[oid].peel(pygit2.Commit).commit_time, oid))


def merge_commits(
    drivers: MergeDrivers, ours: str, theirs: str, names: tuple[str, str], depth: int = 0
) -> MergeResult | None:
    """Merges two commits; `names` label the conflict markers. None if they have no common ancestor."""
    handle = drivers.handle
    bases = merge_bases(handle, ours, theirs)
    if not bases and not depth:
        return None
    base, label = _common_base(drivers, bases, depth)
    ours_tree, theirs_tree = _tree_id(handle, ours), _tree_id(handle, theirs)
    return merge_trees(replace(drivers, depth=depth), base, ours_tree, theirs_tree, Labels(*names, label))


def _common_base(drivers: MergeDrivers, bases: Sequence[str], depth: int) -> tuple[str, str]:
    if not bases:
        return EMPTY_TREE, "empty tree"
    if len(bases) == 1 or depth >= _DEEPEST:
        return _tree_id(drivers.handle, bases[0]), abbreviate(drivers.handle, bases[0])
    *others, base = bases
    for other in reversed(others):
        result = merge_commits(drivers, base, other, BETWEEN[:2], depth + 1)
        assert result is not None, "BUG: ancestors of ancestors are merged whatever they are"
        base = _join_commits(drivers.handle, result.tree, (base, other))
    return _tree_id(drivers.handle, base), BETWEEN.base


def _join_commits(handle: pygit2.Repository, tree: str, parents: tuple[str, str]) -> str:
    """An unreferenced commit, so that merge bases with it can be found."""
    nobody = pygit2.Signature("merged common ancestors", "none", 0, 0)
    return str(handle.create_commit(None, nobody, nobody, "", tree, list(parents)))


def abbreviate(handle: pygit2.Repository, oid: str) -> str:
    """An id as git abbreviates it."""
    return handle[oid].short_id


def _tree_id(handle: pygit2.Repository, oid: str) -> str:
    return str(handle[oid].peel(pygit2.Commit).tree_id)


def _commits_beyond(handle: pygit2.Repository, tip: str, base: pygit2.Oid) -> set[str]:
    walker = handle.walk(tip)
    walker.hide(base)
    return {str(commit.id) for commit in walker}


def _is_ancestor(handle: pygit2.Repository, descendant: str, ancestor: str) -> bool:
    return handle.descendant_of(descendant, ancestor)
