"""Commits, trees and blobs from git's object database."""

import os
from typing import Final, NamedTuple

import pygit2

from codeplane.core.errors import GitFailed, RevisionNotFound
from codeplane.git.repo.remedies import Fix, Remedy

_LONGEST_NAME: Final = 250
# Modes of entries, as trees and the index have them.
FILE: Final = 0o100644
EXECUTABLE: Final = 0o100755
LINK: Final = 0o120000
SUBMODULE: Final = 0o160000
TREE: Final = 0o040000
KIND: Final = 0o170000  # the bits of a mode that tell the type
REGULAR: Final = 0o100000


class Commit(NamedTuple):
    """A commit and its tree, by their ids."""

    oid: str
    tree: str


class TreeEntry(NamedTuple):
    """One name in one directory of a commit."""

    name: str
    oid: str
    mode: int

    @property
    def is_tree(self) -> bool:
        return self.mode & KIND == TREE

    @property
    def is_link(self) -> bool:
        return self.mode & KIND == LINK

    @property
    def is_submodule(self) -> bool:
        return self.mode & KIND == SUBMODULE


def find_commit(handle: pygit2.Repository, name: str) -> Commit:
    """The commit that a branch, a tag, an id or an expression such as `HEAD~2` names."""
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        raise RevisionNotFound("The name of a commit must be printable and at most 250 characters long.")
    try:
        commit = handle.revparse_single(name).peel(pygit2.Commit)
        return Commit(str(commit.id), str(commit.tree_id))
    except (pygit2.GitError, LookupError, ValueError) as error:
        shallow = handle.is_shallow
        hints = ["git fetch --unshallow"] if shallow else [Remedy(Fix.SHOW_LOG), Remedy(Fix.FETCH)]
        where = "this shallow clone" if shallow else "this repository"
        raise RevisionNotFound(f"There is no commit {name!r} in {where}.", hints=hints, name=name) from error


def tree_of(handle: pygit2.Repository, oid: str | pygit2.Oid) -> pygit2.Tree:
    """The tree with this id; an error if it is missing or not a tree."""
    tree = handle.get(oid)
    if not isinstance(tree, pygit2.Tree):
        raise GitFailed(f"Git: the directory {oid} is missing or damaged.")
    return tree


def list_tree(handle: pygit2.Repository, oid: str) -> list[TreeEntry] | None:
    """The entries of one directory; None when the object is missing or not a tree."""
    try:
        tree = handle[oid]
        if not isinstance(tree, pygit2.Tree):
            return None
        return [TreeEntry(os.fsdecode(e.raw_name or b""), str(e.id), int(e.filemode)) for e in tree]
    except (pygit2.GitError, LookupError, ValueError):
        return None


def blob_size(handle: pygit2.Repository, oid: str) -> int | None:
    """The size of a blob, from its header alone; None when the object is missing or not a blob."""
    try:
        kind, size = handle.odb.read_header(oid)
    except (pygit2.GitError, LookupError, ValueError):
        return None
    return int(size) if kind == pygit2.enums.ObjectType.BLOB else None


def read_blob(handle: pygit2.Repository, oid: str) -> bytes | None:
    """The bytes that git keeps, before any filter; None when they are missing or damaged."""
    try:
        kind, data = handle.odb.read(oid)
    except (pygit2.GitError, LookupError, ValueError):
        return None
    return bytes(data) if kind == pygit2.enums.ObjectType.BLOB else None
