"""The names in single directories, remembered until a directory's time stamps move."""

import os
import time
from dataclasses import dataclass, field

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail
from codeplane.truth.known import is_racy

_GIT = ".git"


@dataclass(frozen=True, eq=False)
class Folder:
    """What is in a directory, without `.git`; for git there are only files, links and directories."""

    files: frozenset[str] = frozenset()  # and links
    folders: frozenset[str] = frozenset()
    has_git: bool = False  # it may be a repository of its own
    problem: str = ""  # why it cannot be listed


@dataclass
class Folders:
    """Directories of one tree; each is listed anew only when it has to be."""

    jail: Jail
    _known: dict[str, tuple[tuple[int, int, int], Folder]] = field(default_factory=dict)

    def at(self, path: str) -> Folder | None:
        """The directory at a path that goes through no link; None when there is none."""
        try:
            now = os.lstat(f"{self.jail.root}/{path}")
        except OSError:
            self._known.pop(path, None)
            return None
        known = self._known.get(path)
        if known is not None and known[0] == (now.st_mtime_ns, now.st_ctime_ns, now.st_ino):
            return known[1]
        return self._list(path)

    def keep(self, paths: set[str]) -> None:
        """Forgets all but these."""
        for path in self._known.keys() - paths:
            del self._known[path]

    def _list(self, path: str) -> Folder | None:
        self._known.pop(path, None)
        now = time.time_ns()
        try:
            fd = self.jail.open(RepoPath(path), directory=True)
        except NotFound:
            return None
        except PathRefused as error:
            return Folder(problem=error.message)
        try:
            before = os.fstat(fd)
            with os.scandir(fd) as entries:
                found = _sorted(list(entries))
        finally:
            os.close(fd)
        if not is_racy(before, now):
            self._known[path] = ((before.st_mtime_ns, before.st_ctime_ns, before.st_ino), found)
        return found


def _sorted(entries: list["os.DirEntry[str]"]) -> Folder:
    files, folders, has_git = set(), set(), False
    for entry in entries:
        if entry.name == _GIT:
            has_git = True
        elif entry.is_dir(follow_symlinks=False):
            folders.add(entry.name)
        elif entry.is_symlink() or entry.is_file(follow_symlinks=False):
            files.add(entry.name)
    return Folder(frozenset(files), frozenset(folders), has_git)
