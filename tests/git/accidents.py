"""Merges whose outcome is an accident of git's: there, and only there, ours may differ. See the docs."""

from collections.abc import Mapping
from pathlib import Path

import pygit2

from codeplane.git.history.renames import find_renames
from codeplane.git.history.tree_diff import Pair, diff_trees
from codeplane.git.history.tree_edit import parent_paths
from tests.git import plain

Pairs = Mapping[str, Pair]


def is_accident(handle: pygit2.Repository, base: str, ours: str, theirs: str) -> bool:
    """Of a merge of trees."""
    left, right = diff_trees(handle, base, ours), diff_trees(handle, base, theirs)
    sides = ((left, right), (right, left))
    return any(overwrites(handle, *side) or is_any_of_several(*side) for side in sides)


def may_be_accident(root: Path) -> bool:
    """Of anything that git may have picked, merged or stashed in a repository."""
    handle = pygit2.Repository(str(root))
    known = [pygit2.Oid(hex=oid) for oid in plain.text(root, "rev-list", "--all", "--reflog").split()]
    trees = {oid: str(handle[oid].peel(pygit2.Tree).id) for oid in known}
    steps = {(trees[old], trees[new]) for old in known for new in known if handle.descendant_of(new, old)}
    steps |= {(new, old) for old, new in steps}  # a revert is a step back
    return any(is_accident(handle, old, ours, new) for old, new in steps for ours in set(trees.values()))


def overwrites(handle: pygit2.Repository, one: Pairs, other: Pairs) -> bool:
    """Whether both sides have brought the same file to a path, one of them by renaming a file that the other
    has changed where it was: git takes what our side has at the path, whatever has become of the change."""
    gone = {path: pair.old for path, pair in one.items() if pair.old and not pair.new and path in other}
    come = {
        path: pair.new for path, pair in one.items() if pair.new and not pair.old and other.get(path) == pair
    }
    return bool(find_renames(handle, gone, come))


def is_any_of_several(one: Pairs, other: Pairs) -> bool:
    """Whether a file that the other side has changed has gone, and stands in several directories that the
    other side has not touched: git takes one of them by the hash of its name."""
    touched = {parent for path in other for parent in parent_paths(path)} | other.keys()
    places: dict[str, set[str]] = {}
    for path, pair in one.items():
        alone = next((parent for parent in parent_paths(path) if parent not in touched), None)
        if pair.new and not pair.old and alone is not None:
            places.setdefault(pair.new.oid, set()).add(alone)
    gone = {pair.old.oid for path, pair in one.items() if pair.old and not pair.new and path in other}
    return any(len(places.get(oid, ())) > 1 for oid in gone)
