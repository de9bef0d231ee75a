"""Reading git's own and the user's small files, whatever stands in their place."""

import os
import stat


def read_plain(path: str, largest: int, *, follow: bool = False) -> bytes | None:
    """The bytes of a regular file of at most that size; None for anything else, and nothing is waited for."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        fd = os.open(path, flags)
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_size > largest:
            return None
        parts = []
        while part := os.read(fd, 1 << 20):
            parts.append(part)
        return b"".join(parts)
    except OSError:
        return None
    finally:
        os.close(fd)
