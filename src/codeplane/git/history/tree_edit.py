"""Edits trees without an index: only directories on the way to an edit are rewritten."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import pygit2

from codeplane.git.repo.objects import TREE
from codeplane.git.repo.outcome import Side

_OID: Final = 20
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

Edits = Mapping[str, Side | None]


def edit_tree(handle: pygit2.Repository, tree: str, edits: Edits) -> str:
    """The tree with files set (a side) or removed (None); directories that become empty are dropped."""
    split = {tuple(os.fsencode(path).split(b"/")): side for path, side in edits.items()}
    root = _write_edited(handle, tree, split)
    return str(root or handle.odb.write(pygit2.enums.ObjectType.TREE, b""))


def side_at(handle: pygit2.Repository, tree: str, path: str) -> Side | None:
    """The file, link or submodule that a tree has at a path, or None."""
    entry = _find_entry(handle, tree, path)
    return entry if entry is not None and entry.mode != TREE else None


def has_entry(handle: pygit2.Repository, tree: str, path: str) -> bool:
    """Whether a tree has anything at a path, be it a directory."""
    return _find_entry(handle, tree, path) is not None


def parent_paths(path: str) -> list[str]:
    """The directories of a path, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def clashing_paths(paths: Iterable[str], others: Collection[str]) -> set[str]:
    """Paths that cannot coexist with one of `others` because one would be inside the other."""
    paths_there, directories = set(others), {parent for path in others for parent in parent_paths(path)}
    return {path for path in paths if path in directories or not paths_there.isdisjoint(parent_paths(path))}


def _find_entry(handle: pygit2.Repository, tree: str, path: str) -> Side | None:
    *parents, name = os.fsencode(path).split(b"/")
    here: str | None = tree
    for part in parents:
        entry = dict(_read_entries(handle, here)).get(part) if here is not None else None
        here = entry.oid if entry is not None and entry.mode == TREE else None
    return dict(_read_entries(handle, here)).get(name) if here is not None else None


@dataclass
class _Directory:
    """A directory being edited: its entries, and the edits below its subdirectories."""

    name: bytes
    entries: dict[bytes, Side]
    below: dict[bytes, dict[tuple[bytes, ...], Side | None]] = field(default_factory=dict)

    def apply(self, edits: Mapping[tuple[bytes, ...], Side | None]) -> None:
        for (name, *rest), side in sorted(edits.items(), key=lambda edit: edit[1] is not None):
            if rest:
                self.below.setdefault(name, {})[tuple(rest)] = side
            elif side is not None:
                self.entries[name] = side
            elif name in self.entries and not self.has_tree(name):
                del self.entries[name]

    def has_tree(self, name: bytes) -> bool:
        return name in self.entries and self.entries[name].mode == TREE

    def take(self, name: bytes, tree: pygit2.Oid | None) -> None:
        """Sets or drops a subdirectory after its edits."""
        if tree is not None:
            self.entries[name] = Side(str(tree), TREE)
        elif self.has_tree(name):
            del self.entries[name]


def _write_edited(
    handle: pygit2.Repository, tree: str, edits: Mapping[tuple[bytes, ...], Side | None]
) -> pygit2.Oid | None:
    # Not recursive: a tree may be deeper than Python's stack.
    stack = [_Directory(b"", dict(_read_entries(handle, tree)))]
    stack[0].apply(edits)
    oid = None
    while stack:
        here = stack[-1]
        if here.below:
            name, inner = here.below.popitem()
            old = here.entries[name].oid if here.has_tree(name) else EMPTY_TREE
            stack.append(_Directory(name, dict(_read_entries(handle, old))))
            stack[-1].apply(inner)
            continue
        content = _pack_entries(here.entries)
        oid = handle.odb.write(pygit2.enums.ObjectType.TREE, content) if here.entries else None
        stack.pop()
        if stack:
            stack[-1].take(here.name, oid)
    return oid


def _read_entries(handle: pygit2.Repository, tree: str) -> Iterator[tuple[bytes, Side]]:
    data = handle.odb.read(tree)[1] if tree != EMPTY_TREE else b""
    at = 0
    while at < len(data):
        space, end = data.index(b" ", at), data.index(b"\0", at)
        oid = data[end + 1 : end + 1 + _OID].hex()
        yield data[space + 1 : end], Side(oid, int(data[at:space], 8))
        at = end + 1 + _OID


def _pack_entries(entries: Mapping[bytes, Side]) -> bytes:
    """A tree object; git sorts a directory as if its name ended in a slash."""
    entries_in_order = sorted(
        entries.items(), key=lambda item: item[0] + (b"/" if item[1].mode == TREE else b"")
    )
    return b"".join(
        b"%o %b\0" % (side.mode, name) + bytes.fromhex(side.oid) for name, side in entries_in_order
    )
