"""Whole-file writes of CodePlane's own files: a reader sees the old bytes or the new ones."""

import os
import secrets
import stat
from pathlib import Path

from codeplane.core.errors import StateUnusable


def write_private(path: Path, data: bytes) -> None:
    """Replaces a file that only its owner may read."""
    _replace(path, data, 0o600)


def write_public(path: Path, data: bytes) -> None:
    """Replaces a file with the permissions it has, or the usual ones when it is new."""
    try:
        mode = stat.S_IMODE(path.lstat().st_mode)
    except FileNotFoundError:
        mode = 0o666 & ~_umask()
    _replace(path, data, mode)


def private_dir(path: Path) -> Path:
    """Makes a directory that only its owner may enter, or checks that the one there is such."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise unusable(path, error) from error
    if not stat.S_ISDIR(found.st_mode):
        raise StateUnusable(f"{path} is not a plain directory.", path=str(path))
    if found.st_uid != os.getuid():
        raise StateUnusable(f"{path} belongs to another user.", path=str(path))
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)
    return path


def unusable(path: Path, error: OSError) -> StateUnusable:
    reason = (error.strerror or str(error)).lower()
    return StateUnusable(
        f"Cannot use {path}: {reason}.",
        hints=["CodePlane needs to write there: check the owner and the permissions."],
        path=str(path),
    )


def _replace(path: Path, data: bytes, mode: int) -> None:
    # A random name with O_EXCL and O_NOFOLLOW: a link planted in the directory is never written through.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(fd, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fchmod(fd, mode)
            os.fsync(fd)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_dir(path.parent)


def _sync_dir(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
