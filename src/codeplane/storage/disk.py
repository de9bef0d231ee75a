"""The system calls that change files, one small method each: tests count, refuse and end at each."""

import ctypes
import errno
import fcntl
import os
import stat
import sys
import threading
from functools import cache

_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# What a system or a file system answers that cannot swap names, or cannot refuse to replace one.
_UNABLE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP)
# (swap, refuse to replace) as renameat2 and as renameatx_np number them.
_LINUX, _MACOS = (2, 1), (2, 4)
_CHUNK = 1 << 24


class NoSuchRename(Exception):
    """Neither the system nor the file system knows the rename that was asked for."""


class Disk:
    """Changes of files by descriptors of their directories. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._counted = threading.local()

    @property
    def syncs(self) -> int:
        """How often this thread has waited for the disk."""
        return getattr(self._counted, "syncs", 0)

    def create(self, directory: int, name: str, mode: int) -> int:
        """Makes a file that was not there and returns its descriptor."""
        return os.open(name, _CREATE, mode, dir_fd=directory)

    def write(self, fd: int, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view[:_CHUNK]) :]

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def set_mode(self, fd: int, mode: int) -> None:
        os.fchmod(fd, mode)

    def set_owner(self, fd: int, user: int, group: int) -> None:
        os.fchown(fd, user, group)

    def set_attribute(self, fd: int, name: str, value: bytes) -> None:
        os.setxattr(fd, name, value)

    def set_times(self, fd: int) -> None:
        os.utime(fd)

    def sync(self, fd: int) -> None:
        """Waits until a file, or the names in a directory, are on the disk itself."""
        self._counted.syncs = self.syncs + 1
        try:
            if sys.platform == "darwin":
                fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
            else:
                os.fsync(fd)
        except OSError as error:
            # Some network file systems have no way to wait for the names of a directory.
            if error.errno != errno.EINVAL or not stat.S_ISDIR(os.fstat(fd).st_mode):
                raise

    def sync_data(self, fd: int) -> None:
        """Syncs content without time stamps."""
        if sys.platform == "darwin":
            self.sync(fd)
        else:
            self._counted.syncs = self.syncs + 1
            os.fdatasync(fd)

    def make_directory(self, directory: int, name: str, mode: int) -> None:
        os.mkdir(name, mode, dir_fd=directory)

    def remove_directory(self, directory: int, name: str) -> None:
        os.rmdir(name, dir_fd=directory)

    def unlink(self, directory: int, name: str) -> None:
        os.unlink(name, dir_fd=directory)

    def link(self, source: int, name: str, target: int, new: str) -> None:
        os.link(name, new, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)

    def replace(self, source: int, name: str, target: int, new: str) -> None:
        """Renames, whatever is at the new name."""
        os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)

    def move(self, source: int, name: str, target: int, new: str) -> None:
        """Renames unless the new name is taken; `NoSuchRename` where nobody can ask for that."""
        _rename_with_flag(source, name, target, new, flag=1)

    def swap(self, source: int, name: str, target: int, new: str) -> None:
        """Gives two entries each other's names; `NoSuchRename` where nobody can ask for that."""
        _rename_with_flag(source, name, target, new, flag=0)


def _rename_with_flag(source: int, name: str, target: int, new: str, *, flag: int) -> None:
    call, flags = _find_rename()
    if call is None:
        raise NoSuchRename
    if call(source, os.fsencode(name), target, os.fsencode(new), flags[flag]) == 0:
        return
    number = ctypes.get_errno()
    if number in _UNABLE:
        raise NoSuchRename
    raise OSError(number, os.strerror(number), name, None, new)


@cache
def _find_rename() -> tuple["ctypes._NamedFuncPointer | None", tuple[int, int]]:
    """The library's rename with flags, and the flags."""
    library = ctypes.CDLL(None, use_errno=True)
    name, flags = ("renameatx_np", _MACOS) if sys.platform == "darwin" else ("renameat2", _LINUX)
    call = getattr(library, name, None)
    if call is not None:
        call.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
    return call, flags
