"""What stands at paths of the working tree, as git would name it."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pygit2

from codeplane.git.outcome import Side

FILE, EXECUTABLE, LINK, SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
_OWNER_RUNS: Final = 0o100


@dataclass(frozen=True)
class Standing:
    """A file or a link has a side; a directory, a device or the like has none."""

    side: Side | None
    is_directory: bool = False


@dataclass
class WorkTree:
    """Looks at the working tree path by path, never through a link."""

    handle: pygit2.Repository
    root: Path
    _directories: dict[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        config = self.handle.config
        self._has_modes = "core.filemode" not in config or config.get_bool("core.filemode")

    def blocker(self, path: str) -> str | None:
        """The nearest directory of a path that is there and is no directory: a file, a link, a device."""
        parent = path.rpartition("/")[0]
        if not parent:
            return None
        if parent not in self._directories:
            self._directories[parent] = self.blocker(parent) or self._unless_directory(parent)
        return self._directories[parent]

    def at(self, path: str, known: Side | None = None) -> Standing | None:
        """What is at a path; None when nothing is. `known` says the mode where the file system has none."""
        if self.blocker(path) is not None:
            return None
        place = self.root / path
        try:
            found = place.lstat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        if stat.S_ISDIR(found.st_mode):
            return Standing(None, is_directory=True)
        if stat.S_ISLNK(found.st_mode):
            return Standing(Side(str(pygit2.hash(os.fsencode(os.readlink(place)))), LINK))  # noqa: PTH115
        if not stat.S_ISREG(found.st_mode):
            return Standing(None)
        return Standing(Side(str(self.handle.hashfile(path)), self._mode(found, known)))

    def files_below(self, path: str) -> Iterator[str]:
        """Everything below a directory that is not a directory itself; links are not entered."""
        for name in sorted(os.listdir(self.root / path)):  # noqa: PTH208
            inner = f"{path}/{name}"
            if (self.root / inner).is_dir() and not (self.root / inner).is_symlink():
                yield from self.files_below(inner)
            else:
                yield inner

    def forget(self) -> None:
        """What was known of directories may have changed."""
        self._directories.clear()

    def _mode(self, found: os.stat_result, known: Side | None) -> int:
        if not self._has_modes:
            return known.mode if known is not None and known.mode in (FILE, EXECUTABLE) else FILE
        return EXECUTABLE if found.st_mode & _OWNER_RUNS else FILE

    def _unless_directory(self, path: str) -> str | None:
        try:
            return None if stat.S_ISDIR((self.root / path).lstat().st_mode) else path
        except (FileNotFoundError, NotADirectoryError):
            return None
