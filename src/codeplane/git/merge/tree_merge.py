"""Two trees and their common ancestor made into one: files by path and by rename, what clashes on record.

The outcome is that of git's own strategy (ort), case by case: what stays in conflict has the same stages in
the index and the same file in the tree. Nothing outside git's object database is touched.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import pygit2

from codeplane.git.history.renames import find_renames
from codeplane.git.history.tree_diff import Pair, diff_trees
from codeplane.git.history.tree_edit import edit_tree, has_entry, parent_paths
from codeplane.git.merge.text_merge import Labels, MergeDrivers
from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.objects import KIND, REGULAR, SUBMODULE
from codeplane.git.repo.outcome import Conflict, Side

_EMPTY_BLOB: Final = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
_BUILT_IN: Final = ("text", "union", "binary")


@dataclass(frozen=True)
class MergeResult:
    """The merged tree, with files as the working tree is to have them, and the conflicts for the index."""

    tree: str
    conflicts: tuple[Conflict, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Item:
    """One path with its three sides, and the names that the sides have for it."""

    base: Side | None
    ours: Side | None
    theirs: Side | None
    names: tuple[str, str, str]
    is_followed: bool = False  # the ancestor is another path's, so a side equal to it decides nothing
    is_clash: bool = False  # the paths clash, whatever the contents say


@dataclass(frozen=True)
class _Changes:
    """What one side changed since the ancestor."""

    sides: Mapping[str, Pair]
    renames: Mapping[str, str]


@dataclass
class _Result:
    edits: dict[str, Side | None] = field(default_factory=dict)  # against our tree
    conflicts: dict[str, Conflict] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


def merge_trees(drivers: MergeDrivers, base: str, ours: str, theirs: str, labels: Labels) -> MergeResult:
    """Merges the changes from `base` to `theirs` into `ours`; all are tree ids."""
    handle = drivers.handle
    if theirs in (base, ours):
        return MergeResult(ours)
    if ours == base:
        return MergeResult(theirs)
    our_changes, their_changes = diff_trees(handle, base, ours), diff_trees(handle, base, theirs)
    result = _Work(
        drivers,
        labels,
        ours,
        _find_changes(handle, our_changes, their_changes),
        _find_changes(handle, their_changes, our_changes),
    ).run()
    tree = edit_tree(handle, ours, result.edits)
    conflicts = tuple(result.conflicts[path] for path in sorted(result.conflicts))
    return MergeResult(tree, conflicts, tuple(result.notes))


def _find_changes(
    handle: pygit2.Repository, pairs: Mapping[str, Pair], other: Mapping[str, Pair]
) -> _Changes:
    """One side's changes; a rename matters only if the other side changed the file too."""
    paths = _in_order(pairs, other)
    deletions = {
        path: old for path in paths for old, new in [pairs[path]] if old and not new and _is_traced(old)
    }
    additions = {
        path: new for path in paths for old, new in [pairs[path]] if new and not old and _is_traced(new)
    }
    targets = deletions.keys() & other.keys()
    moves = find_renames(handle, deletions, additions, targets=targets) if targets and additions else {}
    return _Changes(pairs, {old: new for new, old in moves.items() if old in targets})


def _in_order(pairs: Mapping[str, Pair], other: Mapping[str, Pair]) -> list[str]:
    """The paths in the order of git, which counts where files are alike: directories of one side last."""
    common = {parent for path in other for parent in parent_paths(path)} | other.keys()
    return sorted(pairs, key=lambda path: (not common.issuperset(parent_paths(path)), os.fsencode(path)))


def _is_traced(side: Side) -> bool:
    """Empty files are equal without being renames of each other."""
    return side.oid != _EMPTY_BLOB and side.mode & KIND != SUBMODULE


def _is_regular(side: Side) -> bool:
    return side.mode & KIND == REGULAR


class _Work:
    def __init__(
        self, drivers: MergeDrivers, labels: Labels, tree: str, ours: _Changes, theirs: _Changes
    ) -> None:
        self._drivers, self._labels = drivers, labels
        self._tree, self._ours, self._theirs = tree, ours, theirs
        self._items: dict[str, _Item] = {}
        self._full: set[str] = set()  # directories with something in them
        self._result = _Result()

    def run(self) -> _Result:
        for path in sorted(self._ours.sides.keys() | self._theirs.sides.keys(), key=os.fsencode):
            base = (self._ours.sides.get(path) or self._theirs.sides[path])[0]
            ours = self._ours.sides[path][1] if path in self._ours.sides else base
            theirs = self._theirs.sides[path][1] if path in self._theirs.sides else base
            self._items[path] = _Item(base, ours, theirs, (path, path, path))
        our_directories = {
            parent for path, one in self._items.items() if one.ours for parent in parent_paths(path)
        }
        for old in sorted(self._ours.renames.keys() | self._theirs.renames.keys(), key=os.fsencode):
            self._follow_rename(old, self._ours.renames.get(old), self._theirs.renames.get(old))
        # The contents of a directory are decided first: if any remain, a file of its name moves aside.
        for path, item in reversed(self._items.items()):
            if path not in self._full:
                self._decide_path(path, item)
            else:
                self._move_aside(path, item, is_ours=path not in our_directories)
        return self._result

    def _follow_rename(self, old: str, ours: str | None, theirs: str | None) -> None:
        """Brings the sides of a renamed file together under the new name."""
        source = self._items[old]
        if ours is not None and theirs is not None:
            if ours == theirs:
                self._items[ours].base, source.base = source.base, None
            else:
                self._split_renames(old, ours, theirs)
        elif ours is not None:
            self._follow_one(old, ours, is_ours=True)
        elif theirs is not None:
            self._follow_one(old, theirs, is_ours=False)

    def _split_renames(self, old: str, ours: str, theirs: str) -> None:
        """Both sides renamed the file differently: both names stay, with the merged content."""
        source, left, right = self._items[old], self._items[ours], self._items[theirs]
        assert left.ours is not None and right.theirs is not None, "BUG: a rename leads to a file"
        both = _Item(source.base, left.ours, right.theirs, (old, ours, theirs))
        content, is_clean = self._merge_content(old, both, longer=1)
        if is_clean or content != left.ours:  # otherwise it cannot be merged, and each name keeps its own
            left.ours = right.theirs = content
        source.is_clash = left.is_clash = right.is_clash = True

    def _follow_one(self, old: str, new: str, *, is_ours: bool) -> None:
        source, target = self._items[old], self._items[new]
        mine, other = (target.ours, source.theirs) if is_ours else (target.theirs, source.ours)
        assert mine is not None, "BUG: a rename leads to a file"
        is_taken = (target.theirs if is_ours else target.ours) is not None
        names = (old, new, old) if is_ours else (old, old, new)
        is_other_kind = other is not None and _is_regular(other) != _is_regular(mine)
        if other is None:
            target.is_clash = True
            if not is_taken:
                target.base, target.is_followed = source.base, True
        elif is_other_kind:
            # The other side put a link or the like at the old path: that is a new file.
            target.base, source.base, target.names = source.base, None, (old, new, new)
            target.is_followed = True
        elif is_taken:
            ours, theirs = (mine, other) if is_ours else (other, mine)
            content, _ = self._merge_content(old, _Item(source.base, ours, theirs, names), longer=1)
            if is_ours:
                target.ours = content
            else:
                target.theirs = content
        else:
            target.base, target.names, target.is_followed = source.base, names, True
            if is_ours:
                target.theirs = other
            else:
                target.ours = other
        if not is_other_kind:
            source.base = source.ours = source.theirs = None

    def _merge_content(self, path: str, item: _Item, longer: int = 0) -> tuple[Side | None, bool]:
        """Two files that are there made into one; of ancestors that cannot be, there may be none."""
        base, ours, theirs = item.base, item.ours, item.theirs
        assert ours is not None and theirs is not None, "BUG: nothing to join"
        if ours.mode == theirs.mode or (base is not None and ours.mode == base.mode):
            mode, is_clean = theirs.mode, True
        else:
            mode, is_clean = ours.mode, base is not None and theirs.mode == base.mode
        if ours.oid == theirs.oid or (base is not None and base.oid == theirs.oid):
            return Side(ours.oid, mode), is_clean
        if base is not None and base.oid == ours.oid:
            return Side(theirs.oid, mode), is_clean
        if ours.mode & KIND != REGULAR:
            return self._choose_whole(item, mode)
        self._tell_of_driver(path)
        if base is not None and not _is_regular(base):
            base = None
        labels = self._labels.at(*item.names)
        content = self._drivers.merge(path, (base, ours, theirs), labels, longer + 2 * self._drivers.depth)
        return Side(content.oid, mode), is_clean and content.is_clean

    def _choose_whole(self, item: _Item, mode: int) -> tuple[Side | None, bool]:
        """Links and submodules are taken from one side; in a virtual ancestor, from its base."""
        assert item.ours is not None and item.theirs is not None, "BUG: nothing to join"
        favor, enum = self._drivers.favor, pygit2.enums.MergeFavor
        if self._drivers.depth:
            return item.base, False
        is_link = mode & KIND != SUBMODULE
        side = item.theirs if is_link and favor == enum.THEIRS else item.ours
        return Side(side.oid, mode), is_link and favor in (enum.OURS, enum.THEIRS)

    def _tell_of_driver(self, path: str) -> None:
        driver = Attributes(self._drivers.handle, path).merge_driver
        if driver not in _BUILT_IN:
            self._result.notes[
                f"The merge driver {driver!r} is a program and was not run: merged as text."
            ] = None

    def _decide_path(self, path: str, item: _Item) -> None:
        base, ours, theirs = item.base, item.ours, item.theirs
        if ours == theirs:
            self._settle_path(path, item, ours, is_clean=not item.is_clash)
        elif base is not None and not item.is_followed and base in (ours, theirs):
            side = theirs if base == ours else ours
            self._settle_path(path, item, side, is_clean=side is None or not item.is_clash)
        elif ours is not None and theirs is not None:
            self._decide_both(path, item, ours, theirs)
        elif base is not None:
            side = base if self._drivers.depth else ours or theirs
            self._settle_path(path, item, side, is_clean=False)
        else:
            self._settle_path(path, item, ours or theirs, is_clean=not item.is_clash)

    def _decide_both(self, path: str, item: _Item, ours: Side, theirs: Side) -> None:
        if ours.mode & KIND == theirs.mode & KIND:
            content, is_clean = self._merge_content(path, item)
            self._settle_path(path, item, content, is_clean=is_clean and not item.is_clash)
        elif self._drivers.depth:
            self._settle_path(path, item, item.base, is_clean=False)
        else:
            self._keep_apart(path, item, ours, theirs)

    def _move_aside(self, path: str, item: _Item, *, is_ours: bool) -> None:
        """A file whose name is that of a directory: the side that has no directory there has the file."""
        self._result.edits[path] = None
        if item.ours is None and item.theirs is None:
            return
        place = self._free_name(path, self._labels.ours if is_ours else self._labels.theirs)
        item.is_clash = True
        if item.ours is None or item.theirs is None:
            self._decide_path(place, item)
            return
        content, is_clean = self._merge_content(place, item)
        if is_clean:  # of a file that the other side moved, one stage is left
            item.base, item.ours, item.theirs = (None, content, None) if is_ours else (None, None, content)
        self._settle_path(place, item, content, is_clean=False)

    def _keep_apart(self, path: str, item: _Item, ours: Side, theirs: Side) -> None:
        """A file and a link, or the like, under one name: the regular file gives way."""
        is_moved = ours.mode & KIND == REGULAR, theirs.mode & KIND == REGULAR
        if not any(is_moved):
            is_moved = (True, True)
        for side, moves, label in ((ours, is_moved[0], "ours"), (theirs, is_moved[1], "theirs")):
            base = item.base if item.base is not None and item.base.mode & KIND == side.mode & KIND else None
            place = self._free_name(path, getattr(self._labels, label)) if moves else path
            one = _Item(base, None, None, item.names)
            setattr(one, label, side)
            self._settle_path(place, one, side, is_clean=False)
        if all(is_moved):
            self._result.edits[path] = None

    def _settle_path(self, path: str, item: _Item, side: Side | None, *, is_clean: bool) -> None:
        self._result.edits[path] = side
        if side is not None:
            self._full.update(parent_paths(path))
        if not is_clean and any((item.base, item.ours, item.theirs)):
            self._result.conflicts[path] = Conflict(path, item.base, item.ours, item.theirs)

    def _free_name(self, path: str, label: str) -> str:
        name = f"{path}~{label.replace('/', '_')}"
        place, count = name, 0
        while self._is_taken(place):
            place, count = f"{name}_{count}", count + 1
        return place

    def _is_taken(self, path: str) -> bool:
        paths = self._items.keys() | self._result.edits.keys()
        is_known = path in paths or any(one.startswith(f"{path}/") for one in paths)
        return is_known or has_entry(self._drivers.handle, self._tree, path)
