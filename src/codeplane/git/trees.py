"""Trees made from trees: only the directories on the way to what differs are written."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Final

import pygit2

from codeplane.git.outcome import Side

_TREE: Final = 0o040000
_OID: Final = 20
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

Edits = Mapping[str, Side | None]


def edited(handle: pygit2.Repository, tree: str, edits: Edits) -> str:
    """The tree with files put (a side) and taken away (None); a directory that is left empty is gone."""
    split = {tuple(os.fsencode(path).split(b"/")): side for path, side in edits.items()}
    made = _edited(handle, tree, split)
    return str(made or handle.odb.write(pygit2.enums.ObjectType.TREE, b""))


def side_at(handle: pygit2.Repository, tree: str, path: str) -> Side | None:
    """What a tree has at a path; None where it has no file, link or submodule there."""
    found = _found(handle, tree, path)
    return found if found is not None and found.mode != _TREE else None


def has_entry(handle: pygit2.Repository, tree: str, path: str) -> bool:
    """Whether a tree has anything at a path, a directory too."""
    return _found(handle, tree, path) is not None


def above(path: str) -> list[str]:
    """The directories of a path, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def beside(paths: Iterable[str], others: Collection[str]) -> set[str]:
    """Paths that cannot be there together with one of the others, which is below or above them."""
    known, directories = set(others), {parent for path in others for parent in above(path)}
    return {path for path in paths if path in directories or not known.isdisjoint(above(path))}


def _found(handle: pygit2.Repository, tree: str, path: str) -> Side | None:
    *parents, name = os.fsencode(path).split(b"/")
    here: str | None = tree
    for part in parents:
        found = dict(_entries(handle, here)).get(part) if here is not None else None
        here = found.oid if found is not None and found.mode == _TREE else None
    return dict(_entries(handle, here)).get(name) if here is not None else None


def _edited(
    handle: pygit2.Repository, tree: str | None, edits: Mapping[tuple[bytes, ...], Side | None]
) -> pygit2.Oid | None:
    entries = dict(_entries(handle, tree)) if tree is not None else {}
    below: dict[bytes, dict[tuple[bytes, ...], Side | None]] = {}
    for (name, *rest), side in sorted(edits.items(), key=lambda one: one[1] is not None):
        if rest:
            below.setdefault(name, {})[tuple(rest)] = side
        elif side is not None:
            entries[name] = side
        elif name in entries and entries[name].mode != _TREE:
            del entries[name]
    for name, inner in below.items():
        old = entries.get(name)
        is_tree = old is not None and old.mode == _TREE
        made = _edited(handle, old.oid if old is not None and is_tree else None, inner)
        if made is not None:
            entries[name] = Side(str(made), _TREE)
        elif is_tree:
            del entries[name]
    return handle.odb.write(pygit2.enums.ObjectType.TREE, _packed(entries)) if entries else None


def _entries(handle: pygit2.Repository, tree: str) -> Iterator[tuple[bytes, Side]]:
    data = handle.odb.read(tree)[1] if tree != EMPTY_TREE else b""
    at = 0
    while at < len(data):
        space, end = data.index(b" ", at), data.index(b"\0", at)
        oid = data[end + 1 : end + 1 + _OID].hex()
        yield data[space + 1 : end], Side(oid, int(data[at:space], 8))
        at = end + 1 + _OID


def _packed(entries: Mapping[bytes, Side]) -> bytes:
    """In git's order: a directory is sorted as if its name ended in a slash."""
    ordered = sorted(entries.items(), key=lambda one: one[0] + (b"/" if one[1].mode == _TREE else b""))
    return b"".join(b"%o %b\0" % (side.mode, name) + bytes.fromhex(side.oid) for name, side in ordered)
