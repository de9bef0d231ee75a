"""What has happened in the directories of the working tree since it was last asked for."""

import os
import select
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.truth import inotify
from codeplane.truth.inotify import Inotify

# Watches are a resource that all programs of a user share.
_MOST_DIRECTORIES: Final = 50_000
# File systems whose every change passes through this kernel.
_LOCAL: Final = frozenset("ext2 ext3 ext4 xfs btrfs f2fs zfs bcachefs tmpfs overlay".split())
_CONTENT = inotify.MODIFIED | inotify.CLOSED_AFTER_WRITE | inotify.ACCESS_CHANGED
_ARRIVED = inotify.CREATED | inotify.MOVED_TO
_DOUBT = inotify.OVERFLOW | inotify.UNMOUNTED


@dataclass
class Happened:
    """Where a look is worth while. Everything else is as it was."""

    directories: set[str] = field(default_factory=set)  # names in them have come or gone
    arrived: set[str] = field(default_factory=set)  # directories that are new, with all that is in them
    files: set[RepoPath] = field(default_factory=set)

    def add(self, other: "Happened") -> None:
        self.directories |= other.directories
        self.arrived |= other.arrived
        self.files |= other.files


class Events:
    """Watches directories, each from the moment on when it is first opened to be listed.

    An event is in the queue before the call that caused it returns, so `take` misses nothing that was done
    before it. Where that cannot be relied on there is a `problem`, for good.
    """

    def __init__(self, root: Path, cookie: Path) -> None:
        self.problem = ""
        self._device = root.stat().st_dev
        kind = _file_system(self._device)
        if kind not in _LOCAL:
            self.problem = f"changes on a file system of type {kind or 'unknown'} may come from elsewhere"
        self._queue = Inotify()
        self._watches: dict[str, int] = {}
        self._paths: dict[int, str] = {}
        self._cookie = os.open(cookie, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        self._cookie_watch = self._queue.watch_stamps(self._cookie)

    def close(self) -> None:
        self._queue.close()
        os.close(self._cookie)

    @property
    def watched(self) -> Set[str]:
        return self._watches.keys()

    def watch(self, path: str, fd: int) -> None:
        """Watches an open directory; to be called before it is listed."""
        if self.problem:
            return
        if os.fstat(fd).st_dev != self._device:
            self.problem = "a part of the tree is on another file system"
        elif len(self._watches) >= _MOST_DIRECTORIES:
            self.problem = f"there are more than {_MOST_DIRECTORIES} directories"
        else:
            try:
                watch = self._queue.watch_directory(fd)
            except OSError as error:
                self.problem = (error.strerror or str(error)).lower()
                return
            # A directory that was moved keeps its watch, whatever its path was.
            self._watches[path] = watch
            self._paths[watch] = path

    def forget(self, path: str) -> None:
        watch = self._watches.pop(path, None)
        if watch is not None and self._paths.get(watch) == path:
            del self._paths[watch]
            self._queue.unwatch(watch)

    def keep(self, paths: Iterable[str]) -> None:
        """Forgets all directories but these."""
        for path in self._watches.keys() - set(paths):
            self.forget(path)

    def stirs(self, seconds: float) -> bool:
        """Waits until there is an event, at most so long."""
        return bool(select.select([self._queue.fd], [], [], seconds)[0])

    def take(self) -> Happened | None:
        """What has happened since the last call; None where that is not known."""
        # The stamp comes back as an event: what was in the queue before it has been delivered.
        try:
            os.utime(self._cookie)
        except OSError as error:
            self.problem = (error.strerror or str(error)).lower()
        found, is_sound = Happened(), False
        for event in self._queue.read():
            if event.watch == self._cookie_watch:
                is_sound = True
            elif event.what & _DOUBT:
                return None
            elif event.what & inotify.UNWATCHED:
                path = self._paths.pop(event.watch, None)
                if path is not None and self._watches.get(path) == event.watch:
                    del self._watches[path]
            elif event.watch in self._paths:
                self._note(self._paths[event.watch], event, found)
        return found if is_sound and not self.problem else None

    def _note(self, directory: str, event: inotify.Event, found: Happened) -> None:
        name = os.fsdecode(event.name)
        path = f"{directory}/{name}" if directory else name
        if not name:
            found.directories.add(directory)
        elif event.what & inotify.IS_DIRECTORY:
            if event.what & _ARRIVED:
                found.arrived.add(path)
            found.directories |= {directory, path}
        else:
            found.files.add(RepoPath(path))
            if not event.what & _CONTENT:
                found.directories.add(directory)


def _file_system(device: int) -> str:
    """The type of the file system of a device, or "" where it cannot be told."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    for line in lines:
        mount, _, rest = line.partition(" - ")
        if mount.split()[2:3] == [wanted]:
            return rest.split()[0]
    return ""
