"""Git's index as a value, and what is staged in it: the difference from the tree of HEAD."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import pygit2

from codeplane.core.errors import GitFailed
from codeplane.git.history.changes import Change, change_of, with_renames
from codeplane.git.repo import index_file
from codeplane.git.repo.attributes import FILE_NAME
from codeplane.git.repo.objects import KIND, SUBMODULE, TreeEntry, list_tree
from codeplane.git.repo.outcome import Conflict, Side

_SECOND: Final = 1_000_000_000


class IndexEntry(NamedTuple):
    """One file as the index has it, with the stat values that it had when it was staged."""

    path: str
    mode: int
    oid: str
    mtime_ns: int
    ctime_ns: int
    inode: int
    size: int
    is_assumed: bool = False
    is_skipped: bool = False
    is_intended: bool = False

    @property
    def is_submodule(self) -> bool:
        return self.mode & KIND == SUBMODULE

    @property
    def side(self) -> Side:
        return Side(self.oid, self.mode)


@dataclass(frozen=True)
class IndexSnapshot:
    """An index that was read whole."""

    entries: dict[str, IndexEntry] = field(default_factory=dict)
    sides: dict[str, dict[int, Side]] = field(default_factory=dict)  # of unmerged paths
    trees: dict[str, str] = field(default_factory=dict)  # cached for directories
    # Entries by their raw bytes: most are the same when the index is read again.
    raw: dict[bytes, tuple[bytes, IndexEntry]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, data: bytes, before: "IndexSnapshot | None" = None) -> "IndexSnapshot":
        """The index in a file's bytes; of a damaged one as much as can be read."""
        entries: dict[str, IndexEntry] = {}
        sides: dict[str, dict[int, Side]] = {}
        cache = before.raw if before is not None else {}
        raw: dict[bytes, tuple[bytes, IndexEntry]] = {}
        for name, fields in index_file.entries(data):
            cached_entry = cache.get(name)
            if cached_entry is not None and cached_entry[0] == fields:
                raw[name] = cached_entry
                entries[cached_entry[1].path] = cached_entry[1]
            elif stage := index_file.stage_of(fields):
                side = Side(index_file.oid_of(fields), index_file.mode_of(fields))
                sides.setdefault(os.fsdecode(name), {})[stage] = side
            else:
                entry = _parse_entry(os.fsdecode(name), fields)
                raw[name] = (fields, entry)
                entries[entry.path] = entry
        return cls(entries, sides, index_file.cached_trees(data), raw)

    @cached_property
    def conflicts(self) -> tuple[Conflict, ...]:
        return tuple(
            Conflict(path, sides.get(1), sides.get(2), sides.get(3)) for path, sides in self.sides.items()
        )

    @cached_property
    def folders(self) -> dict[str, dict[str, IndexEntry | None]]:
        """What is tracked, directory by directory and name by name; None is a directory or a conflict."""
        folders: dict[str, dict[str, IndexEntry | None]] = {"": {}}
        for path in (*self.entries, *self.sides):
            entry = self.entries.get(path)
            while True:
                above, _, name = path.rpartition("/")
                is_known = above in folders
                folders.setdefault(above, {})[name] = entry
                if is_known:
                    break
                path, entry = above, None
        return folders

    @cached_property
    def attributed(self) -> frozenset[str]:
        """The directories with a `.gitattributes` file."""
        return frozenset(path for path, names in self.folders.items() if FILE_NAME in names)

    @cached_property
    def watched(self) -> list[IndexEntry]:
        """The entries to compare with files: all but those marked assume-unchanged."""
        return [entry for entry in self.entries.values() if not entry.is_assumed]

    @cached_property
    def inner(self) -> dict[str, list[tuple[str, str]]]:
        """For each directory, the names and paths of subdirectories with tracked files."""
        return {
            path: [
                (name, below)
                for name in names
                if (below := f"{path}/{name}" if path else name) in self.folders
            ]
            for path, names in self.folders.items()
        }

    def changes(self, handle: pygit2.Repository, tree: str | None) -> list[Change]:
        """What a commit would change in a tree, with renames; unmerged paths are left out."""
        return with_renames(handle, self.differences(handle, tree))

    def differences(self, handle: pygit2.Repository, tree: str | None) -> list[Change]:
        """What a commit would change in a tree, without detecting renames."""
        return sorted(self._tree_differences(tree, handle), key=lambda change: os.fsencode(change.path))

    def _tree_differences(self, tree: str | None, handle: pygit2.Repository) -> Iterator[Change]:
        ahead = [("", tree)]
        while ahead:
            folder, tree = ahead.pop()
            if tree is not None and self.trees.get(folder) == tree:
                continue
            here = self.folders.get(folder, {})
            prefix = f"{folder}/" if folder else ""
            then = _tree_entries(handle, tree)
            for name in {**here, **then}:
                path, old = prefix + name, then.get(name)
                yield from self._path_differences(
                    path, None if old is None or old.is_tree else Side(old.oid, old.mode)
                )
                if (old is not None and old.is_tree) or path in self.folders:
                    ahead.append((path, old.oid if old is not None and old.is_tree else None))

    def _path_differences(self, path: str, old: Side | None) -> Iterator[Change]:
        entry = self.entries.get(path)
        new = entry.side if entry is not None and not entry.is_intended else None
        change = change_of(path, old, new)
        if change is not None and path not in self.sides:
            yield change


def _tree_entries(handle: pygit2.Repository, tree: str | None) -> dict[str, TreeEntry]:
    entries = list_tree(handle, tree) if tree is not None else []
    if entries is None:
        raise GitFailed(f"Git: the directory {tree} of HEAD is missing or damaged.")
    return {entry.name: entry for entry in entries}


def _parse_entry(path: str, fields: bytes) -> IndexEntry:
    word = int.from_bytes
    return IndexEntry(
        path,
        word(fields[24:28]),
        fields[40:60].hex(),
        word(fields[8:12]) * _SECOND + word(fields[12:16]),
        word(fields[0:4]) * _SECOND + word(fields[4:8]),
        word(fields[20:24]),
        word(fields[36:40]),
        index_file.is_assumed(fields),
        index_file.is_skipped(fields),
        index_file.is_intended(fields),
    )
