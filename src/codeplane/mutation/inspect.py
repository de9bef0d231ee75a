"""What stands at a name in an open directory."""

import errno
import hashlib
import os
import stat
from dataclasses import dataclass
from typing import Literal

from codeplane.core.paths import Digest

_CHUNK = 1 << 20
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
PERMISSIONS = 0o777


@dataclass(frozen=True)
class Seen:
    """An entry of a directory; only a regular file within the limit has a digest."""

    kind: Literal["file", "link", "directory", "other"]
    inode: int
    mode: int
    links: int
    size: int
    digest: Digest | None = None


def look(directory: int, name: str, largest: int) -> Seen | None:
    """What is at the name, read to its end; None when nothing is."""
    try:
        stat_result = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(stat_result.st_mode):
        return _seen_from_stat(stat_result)
    try:
        fd = os.open(name, _FLAGS, dir_fd=directory)
    except OSError as error:
        # It has been replaced since.
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENOENT):
            return look(directory, name, largest)
        raise
    try:
        return _seen_from_stat(os.fstat(fd), _compute_digest(fd, largest))
    finally:
        os.close(fd)


def _seen_from_stat(found: os.stat_result, digest: Digest | None = None) -> Seen:
    mode = found.st_mode
    return Seen(_kind_of_mode(mode), found.st_ino, mode & PERMISSIONS, found.st_nlink, found.st_size, digest)


def _kind_of_mode(mode: int) -> Literal["file", "link", "directory", "other"]:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "link"
    return "directory" if stat.S_ISDIR(mode) else "other"


def _compute_digest(fd: int, largest: int) -> Digest | None:
    digest, left = hashlib.sha256(), largest
    while left >= 0 and (chunk := os.read(fd, _CHUNK)):
        digest.update(chunk)
        left -= len(chunk)
    return Digest(digest.hexdigest()) if left >= 0 else None
