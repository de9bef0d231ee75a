"""The right to serve a repository: an advisory lock that dies with its holder."""

import fcntl
import os
import time
from pathlib import Path

from codeplane.storage.files import unusable


class ServerLock:
    """An exclusive lock on a file of the state directory.

    The kernel drops it when the process ends, however it ends, so a dead holder never blocks anyone.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def acquire(self, *, wait_sec: float = 0) -> bool:
        """Takes the lock, waiting that long at the most; tells whether it did. Without a directory
        there is nothing to take."""
        end = time.monotonic() + wait_sec
        while not self._try_lock():
            if time.monotonic() >= end:
                return False
            time.sleep(0.02)
        return True

    def release(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def holds(self) -> bool:
        """Whether it is held, and still by what others would meet: its directory may have been removed."""
        return self._fd is not None and self._is_current(self._fd)

    def is_taken(self) -> bool:
        """Tells whether anyone holds the lock. Makes nothing; a start that meets this look tries again."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            fd = os.open(self._path, flags)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(fd)
        return False

    def _try_lock(self) -> bool:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            fd = os.open(self._path, flags, 0o600)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise unusable(self._path, error) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        if not self._is_current(fd):
            os.close(fd)
            return False
        self._fd = fd
        return True

    def _is_current(self, fd: int) -> bool:
        # The directory may have been cleared since the file was opened; then the lock guards nothing.
        try:
            return os.path.samestat(os.fstat(fd), self._path.lstat())
        except OSError:
            return False
