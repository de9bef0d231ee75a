"""CodePlane's own files: written whole, and read without following what a repository planted there."""

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from codeplane.core.errors import StateUnusable

_LEAST_ROOM = 131_072


def write_private(path: Path, data: bytes) -> None:
    """Replaces a file that only its owner may read."""
    _replace_file(path, data, 0o600)


def write_public(path: Path, data: bytes) -> None:
    """Replaces a file with the permissions it has, or the usual ones when it is new."""
    try:
        mode = stat.S_IMODE(path.lstat().st_mode)
    except FileNotFoundError:
        mode = 0o666 & ~_current_umask()
    _replace_file(path, data, mode)


def open_plain(path: Path) -> BinaryIO | None:
    """Opens a regular file for reading; a link in its place, or in that of its directory, is no file."""
    try:
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        # Without O_NONBLOCK a named pipe would be waited for.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        fd = os.open(path.name, flags, dir_fd=directory)
    except OSError:
        return None
    finally:
        os.close(directory)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        return None
    return os.fdopen(fd, "rb")


def read_small(path: Path, limit: int) -> bytes | None:
    """The bytes of a regular file of at most `limit`; anything else counts as absent."""
    stream = open_plain(path)
    if stream is None:
        return None
    with stream:
        try:
            data = stream.read(limit + 1)
        except OSError:
            return None
    return data if len(data) <= limit else None


def remove_tree(path: Path) -> None:
    """Deletes a directory, out of the way first: whoever comes meanwhile finds none, not half of one."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}.tmp")
    path.rename(temporary)
    shutil.rmtree(temporary)


def remove_all_but(path: Path, names: Collection[str], *, last: str) -> bool:
    """Deletes what is in a directory besides some entries, named by paths in it; tells whether there was any.

    The entry that is named `last` goes last and does not count. Links are deleted, not followed.
    """
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}.tmp")
    entries = sorted(entries_beside(path, names), key=lambda name: name == last)
    temporary.mkdir(mode=0o700)
    for number, name in enumerate(entries):
        (path / name).rename(temporary / str(number))
    shutil.rmtree(temporary)
    return any(name != last for name in entries)


def entries_beside(path: Path, names: Collection[str]) -> list[str]:
    """The entries of a directory besides some, which are named by paths in it."""
    return list(_entries_beside(path, "", {name.strip("/") for name in names}))


def _entries_beside(root: Path, directory: str, keeps: Collection[str]) -> Iterator[str]:
    """The entries of a directory that neither stay nor hold what stays."""
    for entry in sorted((root / directory).iterdir()):
        name = f"{directory}{entry.name}"
        if name in keeps:
            continue
        if any(one.startswith(f"{name}/") for one in keeps) and not entry.is_symlink():
            yield from _entries_beside(root, f"{name}/", keeps)
        else:
            yield name


def private_dir(path: Path) -> Path:
    """Makes a directory that only its owner may enter, or checks that the one there is such."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        stat_result = path.lstat()
    except OSError as error:
        raise unusable(path, error) from error
    if not stat.S_ISDIR(stat_result.st_mode):
        raise StateUnusable(f"{path} is not a plain directory.", path=str(path))
    if stat_result.st_uid != os.getuid():
        raise StateUnusable(f"{path} belongs to another user.", path=str(path))
    if stat.S_IMODE(stat_result.st_mode) & 0o077:
        path.chmod(0o700)
    return path


def publish(made: Path, path: Path) -> None:
    """Gives a file that is whole its name, in the same directory, for good."""
    os.replace(made, path)
    sync_dir(path.parent)


def claim(path: Path, mark: bytes, *, durable: bool = False) -> bool:
    """Makes a file that is whole from its first moment, unless there is one; tells whether it did."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as stream:
            stream.write(mark)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        return False
    finally:
        temporary.unlink(missing_ok=True)
    return True


def is_full(directory: Path) -> bool:
    """Whether the disk of a directory has no room for what CodePlane writes there."""
    try:
        result = os.statvfs(directory)
    except OSError:
        return False
    return result.f_bavail * result.f_frsize < _LEAST_ROOM or (result.f_files > 0 and result.f_favail == 0)


def disk_problem(directory: Path) -> str | None:
    """What to tell of a disk that is full; None where it is not."""
    if not is_full(directory):
        return None
    return f"The disk of {directory} is full: nothing can be written or recorded. Free some space there."


def unusable(path: Path, error: OSError) -> StateUnusable:
    """The error for a path that the system refuses, with what to do about it."""
    reason = (error.strerror or str(error)).lower()
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        hint = "Free some disk space there and try again."
    else:
        hint = "CodePlane needs to write there: check the owner and the permissions."
    return StateUnusable(
        f"Cannot use {path}: {reason}.",
        hints=[hint],
        path=str(path),
    )


def _replace_file(path: Path, data: bytes, mode: int) -> None:
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
    sync_dir(path.parent)


def sync_dir(path: Path) -> None:
    """Makes sure that what was made, renamed or removed in a directory stays so."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _current_umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
