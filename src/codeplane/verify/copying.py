"""The files of the working tree, copied to another place: what is written there is not written here."""

import fcntl
import os
import sys
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail
from codeplane.testrun.run import Watch

_CHUNK: Final = 1 << 20
_AT_ONCE: Final = 200
# Of Linux: the file shares its blocks with another one until either is written.
_CLONE: Final = 0x40049409
_EXECUTABLE: Final = 0o111
_MODE: Final = 0o600


class Copy:
    """Copies files below a directory, by cloning where the file system can."""

    def __init__(self, jail: Jail, target: Path) -> None:
        self._jail, self._target = jail, target
        self._clones = sys.platform == "linux"

    def files(self, paths: Collection[RepoPath], watch: Watch) -> None:
        """Copies files; one that has gone meanwhile, or cannot be read, is left out."""
        self._make_directories(paths)
        for count, path in enumerate(paths):
            if count % _AT_ONCE == 0:
                watch.progress(count, len(paths), "copying the working tree")
            with suppress(NotFound, PathRefused):
                self._copy_file(path)

    def links(self, leads: Mapping[RepoPath, RepoPath]) -> None:
        """Makes links that lead inside the copy where those of the tree lead inside the tree."""
        self._make_directories(leads)
        for path, to in leads.items():
            (self._target / path).symlink_to(os.path.relpath(to, path.rpartition("/")[0] or "."))

    def _make_directories(self, paths: Iterable[str]) -> None:
        for directory in sorted({path.rpartition("/")[0] for path in paths}):
            (self._target / directory).mkdir(parents=True, exist_ok=True)

    def _copy_file(self, path: RepoPath) -> None:
        source = self._jail.open(path)
        try:
            executable = os.fstat(source).st_mode & _EXECUTABLE
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            target = os.open(f"{self._target}/{path}", flags, _MODE | (0o100 if executable else 0))
            try:
                self._copy_content(source, target)
            finally:
                os.close(target)
        finally:
            os.close(source)

    def _copy_content(self, source: int, target: int) -> None:
        if self._clones:
            try:
                fcntl.ioctl(target, _CLONE, source)
            except OSError:
                self._clones = False  # another file system, or one that cannot
            else:
                return
        while data := os.read(source, _CHUNK):
            left = memoryview(data)
            while left:
                left = left[os.write(target, left) :]
