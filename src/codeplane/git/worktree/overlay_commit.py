"""Contents that are in no working tree, saved as a commit on top of the one that they differ from."""

import os
import time
from collections.abc import Mapping
from typing import NamedTuple

import pygit2

from codeplane.core.paths import RepoPath
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.autosave import SAVED

_NOBODY = ("CodePlane", "codeplane@localhost")
_SHORT = 7


class Content(NamedTuple):
    """What a file holds, and git's mode of it."""

    data: bytes
    mode: int


def save_overlay(
    repository: Repository, base: str, files: Mapping[RepoPath, Content | None], why: str
) -> str:
    """The reference of a commit whose parent is the base, and which has these files; None is a file less."""
    with repository.opened() as handle:
        parent = handle.get(base)
        assert isinstance(parent, pygit2.Commit), "BUG: a workspace is made of a commit"
        index = pygit2.Index()
        index.read_tree(parent.tree)
        for path, content in sorted(files.items()):
            if content is None:
                index.remove(os.fsencode(path))
                continue
            blob = handle.create_blob(content.data)
            index.add(pygit2.IndexEntry(os.fsencode(path), blob, pygit2.enums.FileMode(content.mode)))
        who = _signature(handle)
        oid = handle.create_commit(None, who, who, why, index.write_tree(handle), [parent.id])
        moment = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        name = f"{SAVED}{moment}-{str(oid)[:_SHORT]}"
        handle.create_reference_direct(name, oid, True, message=why)
        return name


def _signature(handle: pygit2.Repository) -> pygit2.Signature:
    try:
        return handle.default_signature
    except KeyError:
        return pygit2.Signature(*_NOBODY)
