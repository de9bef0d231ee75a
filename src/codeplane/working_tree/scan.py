"""The names in the working tree, kept up to date by entering only directories whose time stamps moved."""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from codeplane.core.errors import NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail, is_closed, shown
from codeplane.jail.names import is_temporary
from codeplane.working_tree.known import is_racy
from codeplane.working_tree.rules.ignore import GITIGNORE, Ignore, Scope, Standing
from codeplane.working_tree.tracked import Tracked
from codeplane.working_tree.watch.events import Events, Happened

_PLAIN_CLOSED = (".git", ".codeplane")
_KINDS: tuple[tuple[Callable[[int], bool], str], ...] = (
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


class _Stamp(NamedTuple):
    """The stat of a directory from before it was listed. None of it proves anything while it is racy."""

    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0


class _Directory:
    """What one listing of a directory found."""

    __slots__ = (
        "children",
        "files",
        "has_rules",
        "is_nested",
        "is_unsure",
        "links",
        "refused",
        "scope",
        "stamp",
    )

    def __init__(self, scope: Scope, stamp: _Stamp) -> None:
        self.scope = scope
        self.stamp = stamp
        self.files: list[RepoPath] = []
        self.links: list[RepoPath] = []
        self.refused: dict[RepoPath, str] = {}
        self.children: dict[str, Standing] = {}
        self.has_rules = False
        self.is_nested = False
        self.is_unsure = False


class Listing:
    """Every file, link and nested repository that the rules let in; `refresh` brings it up to date.

    Directories are opened through the jail and listed from their descriptor, so a directory that is replaced
    by a link while the walk goes on is never entered. Links are recorded, not followed: there are no loops.
    """

    def __init__(self, jail: Jail, ignore: Ignore, index: Path) -> None:
        self.files: dict[RepoPath, None] = {}
        self.links: dict[RepoPath, None] = {}
        self.refused: dict[RepoPath, str] = {}
        self.nested: dict[RepoPath, None] = {}
        self._jail = jail
        self._ignore = ignore
        self._index = index
        self._index_stamp: tuple[int, ...] = ()
        self._tracked = Tracked()
        self._directories: dict[str, _Directory] = {}
        self._unsure: set[str] = set()  # directories of which no event tells that they can be entered, or not
        self.events: Events | None = None  # told of every directory before it is listed

    @property
    def is_filled(self) -> bool:
        """Whether there has been a first look."""
        return bool(self._directories)

    @property
    def directories(self) -> frozenset[RepoPath]:
        return frozenset(RepoPath(path) for path in self._directories)

    @property
    def closed(self) -> list[RepoPath]:
        """The directories that cannot be entered."""
        return [RepoPath(path) for path in self._unsure if path in self.refused]

    def refresh(self, happened: Happened | None = None) -> None:
        """Enters the directories that have moved, or all of them when a rule has changed.

        With what has `happened` since the last time, no others are asked for their time stamps.
        """
        try:
            self._refresh_listing(happened)
        except BaseException:
            # The names may be half renewed; the next time begins with none.
            self._directories.clear()
            raise
        if self.events:
            self.events.check_mounts(self.files, self._directories.keys())

    def _refresh_listing(self, happened: Happened | None) -> None:
        before = self._tracked
        self._read_index()
        is_current = self.is_filled and not self._ignore.has_changed()
        if is_current:
            is_current = self._look_again() if happened is None else self._look_at(happened)
        if not is_current or self._is_told_apart(before):
            self._rebuild_listing()
            if happened is not None:
                happened.directories.add("")

    def cover(self) -> None:
        """Has all directories watched that are known; others are when they are listed."""
        events = self.events
        if events is None:
            return
        for path in self._directories.keys() - events.watched:
            try:
                fd = self._jail.open(RepoPath(path), directory=True)
            except (NotFound, PathRefused):
                continue
            try:
                events.watch(path, fd)
            finally:
                os.close(fd)

    def in_directories(self, paths: Iterable[str]) -> Iterator[RepoPath]:
        """The files that are in these directories themselves."""
        for path in paths:
            if (directory := self._directories.get(path)) is not None:
                yield from directory.files

    def refusal_of(self, path: str) -> str | None:
        """Why the last look has not entered the path, or a directory above it."""
        while path:
            if (why := self.refused.get(RepoPath(path))) is not None:
                return why
            path = path.rpartition("/")[0]
        return None

    def rule_against(self, path: RepoPath, *, directory: bool = False) -> str | None:
        """Which directory or name on the way to `path` the rules keep out."""
        if path in self.nested:
            return apart(path)
        here, names = "", path.split("/")
        for at, name in enumerate(names):
            inner = _join_path(here, name)
            folder = self._directories.get(here)
            if folder is None:
                return None
            if folder.is_nested:
                return apart(here)
            is_last = at == len(names) - 1
            if is_last or name not in folder.children:
                return folder.scope.reason(name, inner, directory=directory or not is_last)
            here = inner
        return None

    def _read_index(self) -> None:
        try:
            status = os.lstat(self._index)
        except OSError:
            self._index_stamp, self._tracked = (), Tracked()
            return
        stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
        if stamp != self._index_stamp:
            self._tracked = Tracked.read(self._index, self._tracked)
            self._index_stamp = () if is_racy(status, time.time_ns()) else stamp

    def _is_told_apart(self, before: Tracked) -> bool:
        """Whether an entry is listed, or not, for the sole reason that git did or did not track it."""
        if self._tracked is before or self._tracked == before:
            return False
        additions = self._tracked.files - before.files
        paths = self.files.keys() | self.links.keys() | self.refused.keys()
        return (
            not additions <= paths
            or not paths.isdisjoint(before.files - self._tracked.files)
            or self._tracked.submodules != before.submodules
        )

    def _rebuild_listing(self) -> None:
        for names in (self.files, self.links, self.refused, self.nested, self._directories):
            names.clear()
        self._unsure.clear()
        self._ignore.forget()
        self._walk_tree("", self._ignore.top(), Standing.IN)
        if self.events:
            self.events.keep(self._directories)

    def _look_again(self) -> bool:
        """Lists the directories that have moved; False when that has changed the rules."""
        lstat, stale = os.lstat, []
        with self._jail.descriptor() as root:
            for path, directory in self._directories.items():
                mtime, ctime, inode = directory.stamp
                try:
                    status = lstat(path or ".", dir_fd=root)
                except OSError:
                    stale.append(path)
                    continue
                if status.st_mtime_ns != mtime or status.st_ctime_ns != ctime or status.st_ino != inode:
                    stale.append(path)
        return all(self._list_again(path) for path in stale)

    def _look_at(self, happened: Happened) -> bool:
        """Lists the directories that events have named; False when that has changed the rules."""
        happened.directories |= {path for path in self._unsure if self._is_sure_now(path)}
        for path in happened.arrived:
            outer, _, name = path.rpartition("/")
            self._drop_children([name], outer)
        return all(self._list_again(path) for path in sorted(happened.directories))

    def _is_sure_now(self, path: str) -> bool:
        try:
            fd = self._jail.open(RepoPath(path), directory=True)
        except NotFound:
            return True
        except PathRefused:
            return False
        try:
            return path in self.refused or _is_repository(fd)
        finally:
            os.close(fd)

    def _list_again(self, path: str) -> bool:
        before = self._directories.get(path)
        if before is None:
            return True
        self._discard_directory(path)
        after = self._list_directory(path, before.scope)
        if after is None:
            self._forget_tree(path)
            self._drop_children(before.children, path)
            return True
        if after.has_rules != before.has_rules:
            return False
        self._record_directory(path, after)
        stale = [name for name in before.children if after.children.get(name) != before.children[name]]
        self._drop_children(stale, path)
        for name, standing in after.children.items():
            inner = _join_path(path, name)
            if inner not in self._directories:
                self._walk_tree(inner, after.scope, standing)
        return True

    def _walk_tree(self, top: str, scope: Scope, standing: Standing) -> None:
        ahead = [(top, scope, standing)]
        with self._jail.descriptor() as root:
            while ahead:
                path, outer, standing = ahead.pop()
                has_rules = self._has_rules(path)
                scope = outer.inside(path, standing, has_rules=has_rules)
                folder = self._list_directory(path, scope, root)
                if folder is None:
                    continue
                folder.has_rules = has_rules
                self._record_directory(path, folder)
                children = folder.children.items()
                ahead += [(_join_path(path, name), folder.scope, kind) for name, kind in children]

    def _has_rules(self, path: str) -> bool:
        return os.path.lexists(f"{self._jail.root}/{_join_path(path, GITIGNORE)}")

    def _list_directory(self, path: str, scope: Scope, root: int = -1) -> _Directory | None:
        """The entries of one directory that the rules let in; None when it is gone."""
        now = time.time_ns()
        try:
            fd = self._jail.open(RepoPath(path), directory=True, root=root)
        except NotFound:
            return None
        except PathRefused as error:
            folder = _Directory(scope, _Stamp())
            folder.refused[RepoPath(path)] = error.message
            folder.has_rules = self._has_rules(path)
            folder.is_unsure = True
            return folder
        try:
            before = os.fstat(fd)
            stamp = _Stamp(before.st_mtime_ns, before.st_ctime_ns, before.st_ino)
            folder = _Directory(scope, _Stamp() if is_racy(before, now) else stamp)
            if self.events:
                self.events.watch(path, fd)
            with os.scandir(fd) as entries:
                self._sort_entries(path, list(entries), folder, fd)
        finally:
            os.close(fd)
        return folder

    def _sort_entries(self, path: str, entries: list["os.DirEntry[str]"], found: _Directory, fd: int) -> None:
        names = {entry.name for entry in entries}
        found.has_rules = GITIGNORE in names
        if path and ".git" in names and path not in self._tracked.directories:
            found.is_nested = _is_repository(fd)
            if found.is_nested:
                return
            # It may be one in the making. Nobody watches what is in `.git`.
            found.is_unsure, found.stamp = True, _Stamp()
        prefix = f"{path}/" if path else ""
        for entry in entries:
            self._place_entry(entry, RepoPath(prefix + entry.name), found)

    def _place_entry(self, entry: "os.DirEntry[str]", path: RepoPath, found: _Directory) -> None:
        is_directory = entry.is_dir(follow_symlinks=False)
        standing = found.scope.of(entry.name, path, directory=is_directory)
        if standing is Standing.OUT:
            is_own = entry.name in _PLAIN_CLOSED or is_temporary(entry.name)
            if is_closed(entry.name) and not is_own:
                found.refused[path] = "The name is one that some file systems take for a closed directory."
        elif is_directory:
            if standing is not Standing.SOFT or self._is_worth_entering(path):
                found.children[entry.name] = standing
        elif standing is Standing.SOFT and path not in self._tracked.files:
            return
        elif entry.is_file(follow_symlinks=False):
            found.files.append(path)
        elif entry.is_symlink():
            found.links.append(path)
        else:
            found.refused[path] = _describe_kind(entry)

    def _is_worth_entering(self, path: RepoPath) -> bool:
        index = self._tracked
        return path in index.directories or path in index.submodules or self._ignore.may_hold_whites(path)

    def _record_directory(self, path: str, found: _Directory) -> None:
        self._directories[path] = found
        self.files.update(dict.fromkeys(found.files))
        self.links.update(dict.fromkeys(found.links))
        self.refused.update(found.refused)
        if found.is_unsure:
            self._unsure.add(path)
        if found.is_nested:
            self.nested[RepoPath(path)] = None

    def _discard_directory(self, path: str) -> dict[str, Standing]:
        """Takes one directory's entries out again and returns its children."""
        folder = self._directories.pop(path, None)
        if folder is None:
            return {}
        for names, entries in ((folder.files, self.files), (folder.links, self.links)):
            for name in names:
                entries.pop(name, None)
        for name in folder.refused:
            self.refused.pop(name, None)
        self.nested.pop(RepoPath(path), None)
        self._unsure.discard(path)
        return folder.children

    def _drop_children(self, names: "list[str] | dict[str, Standing]", path: str) -> None:
        ahead = [_join_path(path, name) for name in names]
        while ahead:
            inner = ahead.pop()
            self._forget_tree(inner)
            ahead += [_join_path(inner, name) for name in self._discard_directory(inner)]

    def _forget_tree(self, path: str) -> None:
        if self.events:
            self.events.forget(path)


def apart(path: str) -> str:
    """Why nothing of a nested repository is known."""
    return f"{shown(path)} is a repository of its own."


def _join_path(path: str, name: str) -> str:
    return f"{path}/{name}" if path else name


def _describe_kind(entry: "os.DirEntry[str]") -> str:
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError:
        return "It is not a regular file."
    return next((f"It is {kind}." for is_kind, kind in _KINDS if is_kind(mode)), "It is not a regular file.")


def _is_repository(fd: int) -> bool:
    try:
        status = os.stat(".git", dir_fd=fd, follow_symlinks=False)
        if stat.S_ISDIR(status.st_mode):
            status = os.stat(".git/HEAD", dir_fd=fd, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)
