"""The files of the working tree, as git would record them."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pygit2

from codeplane.git.repo.attributes import AttributeFiles
from codeplane.git.repo.config import config_flag
from codeplane.git.repo.objects import EXECUTABLE, FILE, LINK
from codeplane.git.repo.outcome import Side

_OWNER_RUNS: Final = 0o100


@dataclass(frozen=True)
class FileState:
    """What is at a path. A file or link has a side; a directory, a device or the like has none."""

    side: Side | None
    is_directory: bool = False


@dataclass
class WorkTree:
    """Looks at the working tree path by path, never through a link."""

    handle: pygit2.Repository
    root: Path
    _directories: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._has_modes = config_flag(self.handle, "core.filemode", default=True)
        self._attribute_files = AttributeFiles(self.handle)

    def blocker(self, path: str) -> str | None:
        """The nearest parent of a path that exists and is not a directory: a file, a link, a device."""
        parent, ahead = path.rpartition("/")[0], []
        while parent and parent not in self._directories:
            ahead.append(parent)
            parent = parent.rpartition("/")[0]
        blocker = self._directories[parent] if parent else None
        for directory in reversed(ahead):
            blocker = blocker or self._unless_directory(directory)
            self._directories[directory] = blocker
        return blocker

    def at(self, path: str, entry: Side | None = None) -> FileState | None:
        """What is at a path; None when nothing is. `entry` says the mode where the file system has none."""
        status = self._stat(path)
        if status is None:
            return None
        if stat.S_ISDIR(status.st_mode):
            return FileState(None, is_directory=True)
        if stat.S_ISLNK(status.st_mode):
            return FileState(Side(str(pygit2.hash(os.fsencode(os.readlink(self.root / path)))), LINK))  # noqa: PTH115
        if not stat.S_ISREG(status.st_mode):
            return FileState(None)
        return FileState(Side(self._hash_file(path), self._mode_of(status, entry)))

    def is_there(self, path: str) -> bool:
        """Whether anything is at a path."""
        return self._stat(path) is not None

    def is_directory(self, path: str) -> bool:
        status = self._stat(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def files_below(self, path: str) -> Iterator[str]:
        """Everything below a directory that is not a directory itself; links are not entered."""
        ahead = [f"{path}/"]
        while ahead:
            place = ahead.pop()
            if place.endswith("/"):
                names = sorted(os.listdir(self.root / place), reverse=True)  # noqa: PTH208
                ahead += [self._mark_directory(f"{place}{name}") for name in names]
            else:
                yield place

    def _mark_directory(self, path: str) -> str:
        """The path, with a slash behind a directory."""
        place = self.root / path
        return f"{path}/" if place.is_dir() and not place.is_symlink() else path

    def _stat(self, path: str) -> os.stat_result | None:
        if self.blocker(path) is not None:
            return None
        try:
            return os.lstat(f"{self.root}/{path}")
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _hash_file(self, path: str) -> str:
        """The blob that git would make of a file."""
        if self._attribute_files.may_convert(path):
            return str(self.handle.hashfile(path))
        return str(pygit2.hashfile(f"{self.root}/{path}"))

    def _mode_of(self, status: os.stat_result, entry: Side | None) -> int:
        if not self._has_modes:
            return entry.mode if entry is not None and entry.mode in (FILE, EXECUTABLE) else FILE
        return EXECUTABLE if status.st_mode & _OWNER_RUNS else FILE

    def _unless_directory(self, path: str) -> str | None:
        try:
            return None if stat.S_ISDIR((self.root / path).lstat().st_mode) else path
        except (FileNotFoundError, NotADirectoryError):
            return None
