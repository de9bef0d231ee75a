"""What has happened in the directories of the working tree since it was last asked for."""

import os
import select
import tempfile
from collections.abc import Container, Iterable, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.working_tree.watch import inotify
from codeplane.working_tree.watch.inotify import Inotify
from codeplane.working_tree.watch.mounts import Mounts

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
    unseen: set[str] = field(default_factory=set)  # directories whose files were not watched all the time
    files: set[RepoPath] = field(default_factory=set)

    def add(self, other: "Happened") -> None:
        self.directories |= other.directories
        self.arrived |= other.arrived
        self.unseen |= other.unseen
        self.files |= other.files


class Events:
    """Watches directories, each from the moment on when it is first opened to be listed.

    An event is in the queue before the call that caused it returns, so `take` misses nothing that was done
    before it. Where that cannot be relied on there is a `problem`, for good.
    """

    def __init__(self, root: Path, directory: Path) -> None:
        self.problem = ""
        self._root = root
        self._watches: dict[str, int] = {}
        self._paths: dict[int, str] = {}
        self._unseen: set[str] = set()
        with ExitStack() as resources:
            top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            resources.callback(os.close, top)
            self._place = _place(os.fstat(top))
            self._mounts = Mounts(root, top)
            resources.callback(self._mounts.close)
            self._cookie = _unnamed_file(directory)
            resources.callback(os.close, self._cookie)
            self._queue = Inotify()
            resources.callback(self._queue.close)
            self._cookie_watch = self._queue.watch_stamps(self._cookie)
            resources.pop_all()
            os.close(top)
        if self._mounts.kind not in _LOCAL:
            kind = self._mounts.kind or "unknown"
            self.problem = f"changes on a file system of type {kind} may come from elsewhere"

    def close(self) -> None:
        self._queue.close()
        self._mounts.close()
        os.close(self._cookie)

    @property
    def watched(self) -> Set[str]:
        return self._watches.keys()

    def watch(self, path: str, fd: int) -> None:
        """Watches an open directory; to be called before it is listed."""
        if self.problem:
            return
        if os.fstat(fd).st_dev != self._place[0]:
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
            if self._paths.get(watch) != path:
                self._unseen.add(path)
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

    def check_mounts(self, *listed: Container[str]) -> None:
        """A mounted file tells of its changes elsewhere, and a directory may be mounted in two places."""
        if any(path in names for path in self._mounts.below for names in listed):
            self.problem = "a part of the tree is mounted from elsewhere"

    def unseen(self) -> set[str]:
        """Directories that were not watched, or had another path, before the last call."""
        folders, self._unseen = self._unseen, set()
        return folders

    def stirs(self, seconds: float) -> bool:
        """Waits until there is an event, at most so long."""
        waiting = select.poll()  # takes descriptors of any number
        waiting.register(self._queue.fd, select.POLLIN)
        return bool(waiting.poll(seconds * 1000))

    def nudge(self) -> None:
        """Makes an event, so that a wait ends."""
        try:
            os.utime(self._cookie)
        except OSError as error:
            self.problem = (error.strerror or str(error)).lower()

    def take(self) -> Happened | None:
        """What has happened since the last call; None where that is not known."""
        # The stamp comes back as an event: what was in the queue before it has been delivered.
        self.nudge()
        changes, is_proved = Happened(), False
        is_in_place = self._is_in_place()
        for event in self._queue.read():
            if event.watch == self._cookie_watch:
                is_proved = True
            elif event.what & _DOUBT:
                return None
            elif event.what & inotify.UNWATCHED:
                path = self._paths.pop(event.watch, None)
                if path is not None and self._watches.get(path) == event.watch:
                    del self._watches[path]
            elif event.watch in self._paths:
                self._note_event(self._paths[event.watch], event, changes)
        return changes if is_proved and is_in_place and not self.problem else None

    def _is_in_place(self) -> bool:
        """Whether the paths of the tree still lead to what is watched; no event tells of these changes."""
        have_changed = self._mounts.have_changed()
        try:
            now = _place(self._root.stat())
        except OSError:
            return False
        if now[0] != self._place[0]:
            self.problem = "another file system is in the place of the tree"
        before, self._place = self._place, (self._place[0], now[1])
        return now == before and not have_changed

    def _note_event(self, directory: str, event: inotify.Event, found: Happened) -> None:
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


def _place(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _unnamed_file(directory: Path) -> int:
    """A file that no other process can open: its events are those of this one alone."""
    with tempfile.TemporaryFile(dir=directory) as file:
        return os.dup(file.fileno())
