"""The kernel's own record of what happens in directories; there is one on Linux."""

import ctypes
import errno
import os
import struct
from functools import cache
from typing import Final, NamedTuple

ACCESS_CHANGED: Final = 0x00000004
MODIFIED: Final = 0x00000002
CLOSED_AFTER_WRITE: Final = 0x00000008
MOVED_FROM: Final = 0x00000040
MOVED_TO: Final = 0x00000080
CREATED: Final = 0x00000100
DELETED: Final = 0x00000200
SELF_DELETED: Final = 0x00000400
SELF_MOVED: Final = 0x00000800
UNMOUNTED: Final = 0x00002000
OVERFLOW: Final = 0x00004000
UNWATCHED: Final = 0x00008000
IS_DIRECTORY: Final = 0x40000000

_NEW_OR_GONE = CREATED | DELETED | MOVED_FROM | MOVED_TO
_EVERYTHING = _NEW_OR_GONE | MODIFIED | CLOSED_AFTER_WRITE | ACCESS_CHANGED | SELF_DELETED | SELF_MOVED
_ONLY_DIRECTORIES: Final = 0x01000000
_HEAD = struct.Struct("iIII")  # watch, what, a number that joins two halves of a move, bytes of the name
_BUFFER = 1 << 18
_MOST_READS = 256  # of a queue that fills as fast as it is read


class Event(NamedTuple):
    watch: int
    what: int
    name: bytes  # of the entry; empty for the directory itself


class Inotify:
    """One queue of events. Each is in it before the call that caused it returns, in the order of calls."""

    def __init__(self) -> None:
        self.fd = _check_result(_load_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))

    def watch_directory(self, fd: int) -> int:
        """The number of the watch on an open directory; the same for the same directory."""
        return self._add_watch(fd, _EVERYTHING | _ONLY_DIRECTORIES)

    def watch_stamps(self, fd: int) -> int:
        """Watches the time stamps of an open file alone."""
        return self._add_watch(fd, ACCESS_CHANGED)

    def unwatch(self, watch: int) -> None:
        """Ends a watch, or does nothing where it has ended by itself."""
        _load_libc().inotify_rm_watch(self.fd, watch)

    def read(self) -> list[Event]:
        """Everything in the queue; ends with an overflow where there is no end to it."""
        events: list[Event] = []
        for _ in range(_MOST_READS):
            try:
                data = os.read(self.fd, _BUFFER)
            except BlockingIOError:
                return events
            events += _parse_events(data)
        return [*events, Event(-1, OVERFLOW, b"")]

    def close(self) -> None:
        os.close(self.fd)

    def _add_watch(self, fd: int, what: int) -> int:
        # By its descriptor: nothing can be put in its place meanwhile.
        return _check_result(_load_libc().inotify_add_watch(self.fd, b"/proc/self/fd/%d" % fd, what))


@cache
def _load_libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno() or errno.EIO
        raise OSError(number, os.strerror(number))
    return result


def _parse_events(data: bytes) -> list[Event]:
    events = []
    at = 0
    while at < len(data):
        watch, what, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size + length
        events.append(Event(watch, what, data[at - length : at].rstrip(b"\0")))
    return events
