"""Opening a path beneath a directory without ever following a symbolic link."""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable
from functools import cache

# The same number on every Linux architecture that Python runs on.
_OPENAT2 = 437
_NO_MAGICLINKS, _NO_SYMLINKS, _BENEATH = 0x02, 0x04, 0x08
_RESOLVE = _BENEATH | _NO_MAGICLINKS | _NO_SYMLINKS
# A concurrent rename makes the kernel give up and ask for another try.
_TRIES = 8

_WALK = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


_HOW_SIZE = ctypes.sizeof(_OpenHow)


def open_beneath(root: str, path: str, flags: int) -> int:
    """Opens `path` relative to `root`; a symbolic link anywhere in it is an `OSError` (`ELOOP`).

    `path` has no `..`; an empty one is the root itself.
    """
    top = os.open(root, os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY))
    try:
        return open_below(top, path, flags)
    finally:
        os.close(top)


def open_below(top: int, path: str, flags: int) -> int:
    """Opens `path` below an open directory, with the promise of `open_beneath`."""
    return _openat2(top, path or ".", flags) if kernel_resolves() else by_component(top, path, flags)


def by_component(top: int, path: str, flags: int) -> int:
    """Opens a path without help from the kernel: each directory from the one before it."""
    *parents, last = path.split("/")
    if ".." in (*parents, last):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), path)
    here = os.dup(top)
    try:
        for name in parents:
            inner = _open_here(here, name, _WALK)
            os.close(here)
            here = inner
        return _open_here(here, last or ".", flags | os.O_NOFOLLOW | os.O_CLOEXEC)
    finally:
        os.close(here)


def _open_here(here: int, name: str, flags: int) -> int:
    try:
        return os.open(name, flags, dir_fd=here)
    except NotADirectoryError as error:
        # A link that was to be a directory is told as one, as the kernel tells it.
        if stat.S_ISLNK(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
        raise


@cache
def kernel_resolves() -> bool:
    """Whether openat2 is there; an old kernel does not know it and some sandboxes forbid it."""
    if sys.platform != "linux":
        return False
    top = os.open("/", os.O_DIRECTORY | os.O_CLOEXEC | os.O_PATH)
    try:
        os.close(_openat2(top, ".", os.O_DIRECTORY | os.O_PATH))
    except OSError:
        return False
    finally:
        os.close(top)
    return True


@cache
def _load_syscall() -> Callable[..., int]:
    """The call of the kernel, with the types of the arguments of openat2."""
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    syscall.argtypes = (
        ctypes.c_long,
        ctypes.c_int,
        ctypes.c_char_p,
        ctypes.POINTER(_OpenHow),
        ctypes.c_size_t,
    )
    return syscall


@cache
def _how_to_open(flags: int) -> _OpenHow:
    return _OpenHow(flags | os.O_CLOEXEC, 0, _RESOLVE)


def _openat2(top: int, path: str, flags: int) -> int:
    syscall, how, name = _load_syscall(), _how_to_open(flags), os.fsencode(path)
    for _ in range(_TRIES):
        fd = syscall(_OPENAT2, top, name, how, _HOW_SIZE)
        if fd >= 0:
            return fd
        number = ctypes.get_errno()
        if number not in (errno.EAGAIN, errno.EINTR):
            break
    raise OSError(number, os.strerror(number), path)
