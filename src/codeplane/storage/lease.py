"""Use of one file by several processes: they share it, and only who is alone with it may delete it."""

import fcntl
import os
from pathlib import Path


class Lease:
    """An advisory lock beside a file, shared while the file is in use; it ends with the process."""

    def __init__(self, path: Path) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(path.with_name(f"{path.name}.lease"), flags, 0o600)
        # Waits only for a deletion, which is short.
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def make_sole(self) -> bool:
        """Keeps everybody else out, unless somebody is in; tells whether it did."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A failed change may have dropped what was held.
            fcntl.flock(self._fd, fcntl.LOCK_SH)
            return False
        return True

    def share(self) -> None:
        fcntl.flock(self._fd, fcntl.LOCK_SH)

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
