"""Changes between two states of a repository, file by file."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import pygit2

from codeplane.git.history.renames import find_renames
from codeplane.git.repo.objects import EXECUTABLE, FILE, KIND, SUBMODULE, tree_of
from codeplane.git.repo.outcome import Side

Kind = Literal["A", "M", "D", "T", "R", "U"]


_TYPES = pygit2.enums.DiffOption.INCLUDE_TYPECHANGE
_KINDS: Final[dict[str, Kind]] = {"A": "A", "M": "M", "D": "D", "T": "T"}


@dataclass(frozen=True)
class Change:
    """One changed path. A missing side is None; a side without an id is in the working tree."""

    kind: Kind
    path: str
    old: Side | None
    new: Side | None
    old_path: str | None = None  # of a rename

    @property
    def is_submodule(self) -> bool:
        return any(side is not None and side.mode & KIND == SUBMODULE for side in (self.old, self.new))


def changes_between(handle: pygit2.Repository, old: str | None, new: str | None) -> list[Change]:
    """The changes from one tree to another, by their ids; None is the empty tree."""
    return with_renames(handle, tree_changes(handle, old, new))


def tree_changes(handle: pygit2.Repository, old: str | None, new: str | None) -> list[Change]:
    """The changes from one tree to another, without detecting renames."""
    if old == new:
        return []
    if old is None or new is None:
        one = tree_of(handle, old or new or "")
        diff = one.diff_to_tree(flags=_TYPES, swap=old is None)
    else:
        diff = tree_of(handle, old).diff_to_tree(tree_of(handle, new), flags=_TYPES)
    return [_change_of(delta) for delta in diff.deltas]


def with_renames(
    handle: pygit2.Repository, changes: list[Change], contents: Mapping[str, bytes] | None = None
) -> list[Change]:
    """Joins deletions and additions into renames, in the order of the new paths.

    `contents` has the new files that are in no blob.
    """
    deletions = {
        change.path: change.old for change in changes if change.kind == "D" and change.old is not None
    }
    additions = {
        change.path: change.new for change in changes if change.kind == "A" and change.new is not None
    }
    if not deletions or not additions:
        return changes
    blobs = {blob_id(data): data for data in (contents or {}).values()}
    for path, data in (contents or {}).items():
        additions[path] = Side(blob_id(data), additions[path].mode)
    pairs = find_renames(handle, deletions, additions, blobs)
    targets = set(pairs.values())
    others = [
        Change("R", change.path, deletions[pairs[change.path]], change.new, pairs[change.path])
        if change.kind == "A" and change.path in pairs
        else change
        for change in changes
        if not (change.kind == "D" and change.path in targets)
    ]
    return sorted(others, key=lambda change: os.fsencode(change.path))


def git_mode(mode: int) -> int:
    """The mode that git records for a regular file with these permissions."""
    return EXECUTABLE if mode & 0o100 else FILE


def blob_id(data: bytes) -> str:
    """The id of the blob with these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def change_of(path: str, old: Side | None, new: Side | None) -> Change | None:
    """The change of one path; None when both sides are equal."""
    if old is None or new is None:
        side = old or new
        return Change("A" if old is None else "D", path, old, new) if side is not None else None
    if old == new:
        return None
    return Change("M" if old.mode & KIND == new.mode & KIND else "T", path, old, new)


def _change_of(delta: pygit2.DiffDelta) -> Change:
    kind = _KINDS[delta.status_char()]
    old = None if kind == "A" else _side_of(delta.old_file)
    new = None if kind == "D" else _side_of(delta.new_file)
    return Change(kind, os.fsdecode((delta.old_file if new is None else delta.new_file).raw_path), old, new)


def _side_of(file: pygit2.DiffFile) -> Side:
    return Side(str(file.id), int(file.mode))
