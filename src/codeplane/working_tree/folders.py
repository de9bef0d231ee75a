"""The names in single directories, remembered until a directory's time stamps move."""

import os
import time
from dataclasses import dataclass
from typing import Final

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail
from codeplane.working_tree.known import is_racy

_GIT = ".git"


@dataclass(frozen=True, eq=False)
class Folder:
    """What is in a directory, without `.git`; for git there are only files, links and directories."""

    files: frozenset[str] = frozenset()  # and links
    folders: frozenset[str] = frozenset()
    has_git: bool = False  # it may be a repository of its own
    problem: str = ""  # why it cannot be listed


_Listed = tuple[tuple[int, int, int], Folder]
_NEVER: Final = (0, 0, 0)  # a stamp that no directory has


class Folders:
    """Directories of one tree; each is listed anew only when it has to be."""

    def __init__(self, jail: Jail) -> None:
        self._jail = jail
        self._root = os.fspath(jail.root)
        self._listings: dict[str, _Listed] = {}
        self._queries: dict[str, _Listed] = {}

    def at(self, path: str) -> Folder | None:
        """The directory at a path that goes through no link; None when there is none."""
        try:
            now = os.lstat(f"{self._root}/{path}")
        except OSError:
            return None
        listing = self._listings.get(path)
        if listing is None or listing[0] != (now.st_mtime_ns, now.st_ctime_ns, now.st_ino):
            listing = self._list_folder(path)
        if listing is None:
            return None
        self._queries[path] = listing
        return listing[1]

    def settle(self, *, whole: bool) -> None:
        """Remembers what was asked for since the last time; after a `whole` look, nothing else."""
        self._listings = self._queries if whole else {**self._listings, **self._queries}
        self._queries = {}

    def _list_folder(self, path: str) -> _Listed | None:
        now = time.time_ns()
        try:
            fd = self._jail.open(RepoPath(path), directory=True)
        except NotFound:
            return None
        except PathRefused as error:
            return _NEVER, Folder(problem=error.message)
        try:
            before = os.fstat(fd)
            with os.scandir(fd) as entries:
                folder = _sort_entries(list(entries))
        finally:
            os.close(fd)
        stamp = (before.st_mtime_ns, before.st_ctime_ns, before.st_ino)
        return _NEVER if is_racy(before, now) else stamp, folder


def _sort_entries(entries: list["os.DirEntry[str]"]) -> Folder:
    files, folders, has_git = set(), set(), False
    for entry in entries:
        if entry.name == _GIT:
            has_git = True
        elif entry.is_dir(follow_symlinks=False):
            folders.add(entry.name)
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            files.add(entry.name)
    return Folder(frozenset(files), frozenset(folders), has_git)
