"""Directories of the tree by descriptor: opened beneath the root, never through a link."""

import errno
import os

from codeplane.jail.beneath import open_beneath

_FLAGS = os.O_RDONLY | os.O_DIRECTORY
# Well below the usual limit of 1,024 descriptors, for a few batches at once.
_MOST_OPEN = 96


class Directories:
    """The directories that one batch works in. What is opened again is the same directory or an error."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: dict[str, int] = {}
        self._identity: dict[str, tuple[int, int]] = {}

    def __enter__(self) -> "Directories":
        return self

    def __exit__(self, *_: object) -> None:
        for path in list(self._open):
            self._close_path(path)

    def at(self, path: str) -> int:
        """The descriptor of a directory; an `OSError` when there is none, or one behind a link."""
        fd = self._open.pop(path, None)
        if fd is None:
            if len(self._open) >= _MOST_OPEN:
                self._close_path(next(iter(self._open)))
            fd = open_beneath(self._root, path, _FLAGS)
            if self._identity.setdefault(path, _device_and_inode(fd)) != _device_and_inode(fd):
                os.close(fd)
                raise OSError(errno.ESTALE, "It was replaced by another directory", path)
        self._open[path] = fd
        return fd

    def forget(self, path: str) -> None:
        """The directory is removed, or another one may take its place."""
        self._close_path(path)
        self._identity.pop(path, None)

    def stray(self) -> list[str]:
        """Directories that are not where they were opened any more."""
        paths = []
        for path, identity in self._identity.items():
            try:
                fd = open_beneath(self._root, path, _FLAGS)
            except OSError:
                paths.append(path)
                continue
            if _device_and_inode(fd) != identity:
                paths.append(path)
            os.close(fd)
        return paths

    def _close_path(self, path: str) -> None:
        fd = self._open.pop(path, None)
        if fd is not None:
            os.close(fd)


def parent_of(path: str) -> str:
    return path.rpartition("/")[0]


def name_of(path: str) -> str:
    return path.rpartition("/")[2]


def ancestors(path: str) -> list[str]:
    """The directories above a path, the nearest first, without the root."""
    paths = []
    while path := parent_of(path):
        paths.append(path)
    return paths


def _device_and_inode(fd: int) -> tuple[int, int]:
    stat_result = os.fstat(fd)
    return stat_result.st_dev, stat_result.st_ino
