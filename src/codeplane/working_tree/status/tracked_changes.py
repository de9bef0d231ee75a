"""One pass over the tracked files: which of them differ from git's index."""

import hashlib
import os
import stat
import time
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO, Final

import pygit2

from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.git.history.changes import Change, blob_id, git_mode
from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.config import config_flag
from codeplane.git.repo.objects import KIND, LINK, SUBMODULE
from codeplane.git.repo.outcome import Side
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.clean_filter import clean_content
from codeplane.git.worktree.index_snapshot import IndexEntry, IndexSnapshot
from codeplane.jail import Jail
from codeplane.working_tree.folders import Folders
from codeplane.working_tree.known import Known, is_racy
from codeplane.working_tree.status.untracked import Untracked, is_repository
from codeplane.working_tree.version import submodule_head

_LARGEST_COMPARED: Final = 8 << 20
_CHUNK: Final = 1 << 20
# The clock of a file system moves in steps: a file this much older than the index may be as young as it.
_STEP_NS: Final = 20_000_000
_WORD: Final = 0xFFFFFFFF
_TYPE_AND_EXECUTABLE: Final = KIND | 0o100
_DIRTY: Final = (
    pygit2.enums.SubmoduleStatus.WD_INDEX_MODIFIED
    | pygit2.enums.SubmoduleStatus.WD_WD_MODIFIED
    | pygit2.enums.SubmoduleStatus.WD_UNTRACKED
)


@dataclass
class Look:
    """One pass over the directories that git tracks something in."""

    handle: pygit2.Repository
    repository: Repository
    jail: Jail
    folders: Folders
    index: IndexSnapshot
    untracked_search: Untracked
    known: Mapping[RepoPath, Known] = field(default_factory=dict)  # files that need not be asked
    index_ns: int = 0
    latest: int = 0  # a file that was staged later than this may have changed unseen
    trusts_modes: bool = True
    is_sparse: bool = False
    hashes: dict[str, tuple[tuple[int, ...], str | None]] = field(default_factory=dict)
    next_hashes: dict[str, tuple[tuple[int, ...], str | None]] = field(default_factory=dict)
    modified: list[Change] = field(default_factory=list)
    untracked: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)

    def run(self, *, untracked: bool) -> None:
        """Compares all tracked files; what is not tracked is looked for only when it is asked for."""
        self.trusts_modes = config_flag(self.handle, "core.filemode", default=True)
        self.is_sparse = config_flag(self.handle, "core.sparsecheckout")
        self.latest = self.index_ns - _STEP_NS
        self.untracked_search.begin()
        left = self._unlike_known() if self.known else self.index.watched
        above = _parent_folders(left) if self.known and not untracked else self.index.inner.keys()
        missing = self._folders_gone(above, untracked=untracked)
        for folder in missing:
            self.modified += self._gone_below(folder)
        with self.jail.descriptor() as root:
            self._compare_entries(root, left, tuple(f"{folder}/" if folder else "" for folder in missing))

    def _unlike_known(self) -> list[IndexEntry]:
        """The tracked files that are not known to be what the index has."""
        latest, stamp_of, left = self.latest, self.known.get, list[IndexEntry]()
        for entry in self.index.watched:
            path, mode, _, mtime_ns, ctime_ns, inode, size, _, _, is_intended = entry
            now = stamp_of(RepoPath(path))
            if (
                now is None
                or now.ctime_ns != ctime_ns
                or now.mtime_ns != mtime_ns
                or now.size & _WORD != size
                or now.inode & _WORD != inode
                or mtime_ns >= latest
                or (now.mode ^ mode) & _TYPE_AND_EXECUTABLE
                or is_intended
            ):
                left.append(entry)
        return left

    def _folders_gone(self, asked: Container[str], *, untracked: bool) -> list[str]:
        """The outermost of some directories with tracked files that are not there, or are links.

        A directory without directories in it is vouched for by the names in the one above, so that it is
        asked itself only for what git does not know.
        """
        folders, at, missing = self.index.inner, self.folders.at, list[str]()
        ahead = [""]
        while ahead:
            path = ahead.pop()
            inner = folders[path]
            if not inner and not untracked:
                continue
            listing = at(path)
            if listing is None or listing.problem:
                if inner:
                    missing.append(path)
                continue
            if untracked:
                self.untracked += self.untracked_search.within(path, listing)
            for name, below in inner:
                if below in asked:
                    (ahead if name in listing.folders else missing).append(below)
        return missing

    def changes(self) -> list[Change]:
        return sorted(self.modified, key=lambda one: os.fsencode(one.path))

    def intended(self) -> dict[str, bytes]:
        """The files that are to be added and have nothing staged."""
        return {one.path: self.content(one.path) for one in self.modified if one.kind == "A"}

    def content(self, path: str) -> bytes:
        """A file of the working tree as git would keep it; nothing where it cannot be read."""
        try:
            if stat.S_ISLNK(os.lstat(f"{self.jail.root}/{path}").st_mode):
                return os.fsencode(os.readlink(f"{self.jail.root}/{path}"))  # noqa: PTH115
            fd = self.jail.open(RepoPath(path))
        except (OSError, CodePlaneError):
            return b""
        with os.fdopen(fd, "rb") as stream:
            data = stream.read(_LARGEST_COMPARED)
        return clean_content(Attributes(self.handle, path), data, None)

    def _compare_entries(self, root: int, entries: Iterable[IndexEntry], gone: tuple[str, ...]) -> None:
        """Tracked files, but those below what is gone."""
        latest, lstat = self.latest, os.lstat
        for entry in entries:
            path, mode, _, mtime_ns, ctime_ns, inode, size, _, _, is_intended = entry
            if gone and path.startswith(gone):
                continue
            try:
                now = lstat(path, dir_fd=root)
            except OSError:
                self._note_missing(entry)
                continue
            if (
                now.st_mtime_ns != mtime_ns
                or now.st_ctime_ns != ctime_ns
                or now.st_size & _WORD != size
                or now.st_ino & _WORD != inode
                or mtime_ns >= latest
                or (now.st_mode ^ mode) & _TYPE_AND_EXECUTABLE
                or is_intended
            ):
                self._check_suspect(entry, now)

    def _note_missing(self, entry: IndexEntry) -> None:
        if not entry.is_skipped:
            self.modified.append(Change("D", entry.path, entry.side, None))

    def _is_a_folder(self, entry: IndexEntry) -> None:
        """A directory in the place of a file, or that of a submodule."""
        if entry.is_submodule:
            self._check_submodule(entry)
        elif not entry.is_skipped or self.is_sparse:
            new = Side("", SUBMODULE) if is_repository(self.jail, entry.path) else None
            self.modified.append(Change("T" if new else "D", entry.path, entry.side, new))

    def _check_suspect(self, entry: IndexEntry, now: os.stat_result) -> None:
        """A file whose stat proves nothing, or that it is another one."""
        if stat.S_ISDIR(now.st_mode):
            self._is_a_folder(entry)
            return
        if entry.is_skipped and not self.is_sparse:
            return
        if not stat.S_ISREG(now.st_mode) and not stat.S_ISLNK(now.st_mode):
            self.modified.append(Change("M", entry.path, entry.side, Side("", entry.mode)))
            return
        new = Side("", self._mode_now(entry, now))
        if entry.is_intended:
            self.modified.append(Change("A", entry.path, None, new))
        elif new.mode & KIND != entry.mode & KIND:
            self.modified.append(Change("T", entry.path, entry.side, new))
        elif (
            new.mode != entry.mode
            or self._has_other_size(entry, now)
            or self._hash_file(entry, now) != entry.oid
        ):
            self.modified.append(Change("M", entry.path, entry.side, new))

    def _has_other_size(self, entry: IndexEntry, now: os.stat_result) -> bool:
        """Then git looks no further, even where line ends alone have changed; 0 is no size that it knows."""
        return entry.size != 0 and now.st_size & _WORD != entry.size

    def _mode_now(self, entry: IndexEntry, now: os.stat_result) -> int:
        if stat.S_ISLNK(now.st_mode):
            return LINK
        if not self.trusts_modes and stat.S_ISREG(entry.mode):
            return entry.mode
        return git_mode(now.st_mode)

    def _hash_file(self, entry: IndexEntry, now: os.stat_result) -> str | None:
        key = (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_mode)
        cache = self.hashes.get(entry.path)
        if cache is None or cache[0] != key:
            began = time.time_ns()
            cache = (key, self._read_blob_id(entry, now))
            if cache[1] is None or is_racy(now, began):
                return cache[1]
        self.next_hashes[entry.path] = cache
        return cache[1]

    def _read_blob_id(self, entry: IndexEntry, now: os.stat_result) -> str | None:
        """The id of the blob that git would make of the file now; None when it cannot be read or told."""
        path = f"{self.jail.root}/{entry.path}"
        try:
            if stat.S_ISLNK(now.st_mode):
                return blob_id(os.fsencode(os.readlink(path)))  # noqa: PTH115 - names that are not UTF-8
            attributes = Attributes(self.handle, entry.path)
            if attributes.filter is not None or attributes.encoding is not None:
                self.undecided.append(entry.path)
                return None
            fd = self.jail.open(RepoPath(entry.path))
        except (OSError, CodePlaneError):
            return None
        with os.fdopen(fd, "rb") as stream:
            if now.st_size > _LARGEST_COMPARED and attributes.line_ends is None and not attributes.has_ident:
                return _streamed_id(stream, now.st_size)
            return blob_id(clean_content(attributes, stream.read(), entry.oid))

    def _check_submodule(self, entry: IndexEntry) -> None:
        head = submodule_head(self.repository, RepoPath(entry.path))
        if head is None or entry.is_skipped:
            return
        if head != entry.oid or self._is_dirty(entry.path):
            self.modified.append(Change("M", entry.path, entry.side, Side(head, entry.mode)))

    def _is_dirty(self, path: str) -> bool:
        try:
            return bool(self.handle.submodules.status(path) & _DIRTY)
        except (KeyError, ValueError, pygit2.GitError):
            return False

    def _gone_below(self, folder: str) -> Iterator[Change]:
        """Everything that is tracked below a directory that is not there."""
        ahead = [folder]
        while ahead:
            path = ahead.pop()
            for name, entry in self.index.folders.get(path, {}).items():
                if entry is None:
                    ahead.append(f"{path}/{name}" if path else name)
                elif not (entry.is_assumed or entry.is_skipped):
                    yield Change("D", entry.path, entry.side, None)


def _parent_folders(entries: Iterable[IndexEntry]) -> set[str]:
    """The directories around files."""
    folders: set[str] = set()
    for entry in entries:
        path = entry.path.rpartition("/")[0]
        while path and path not in folders:
            folders.add(path)
            path = path.rpartition("/")[0]
    return folders


def _streamed_id(stream: BinaryIO, size: int) -> str:
    """The id of a blob that need not be in memory as a whole."""
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    while chunk := stream.read(_CHUNK):
        digest.update(chunk)
    return digest.hexdigest()
