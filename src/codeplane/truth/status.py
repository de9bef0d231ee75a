"""How the working tree differs from git's index: what is modified, and what git does not know."""

import os
import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

import pygit2

from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.git.changes import KIND, LINK, Change, blob_id, change_of, git_mode, with_renames
from codeplane.git.clean import attributes_of, cleaned
from codeplane.git.degraded import check_index
from codeplane.git.outcome import Conflict, Side
from codeplane.git.repository import Repository
from codeplane.git.selection import Selection
from codeplane.git.settings import flag
from codeplane.git.staged import Entry, Staged
from codeplane.jail import Jail
from codeplane.truth.folders import Folder, Folders
from codeplane.truth.ignore import GITIGNORE, Ignore, Scope, Standing
from codeplane.truth.known import is_racy
from codeplane.truth.plainfile import read_plain
from codeplane.truth.version import submodule_head

_LARGEST_INDEX: Final = 1 << 30
_LARGEST_COMPARED: Final = 8 << 20
# The clock of a file system moves in steps: a file this much older than the index may be as young as it.
_STEP_NS: Final = 20_000_000
_WORD: Final = 0xFFFFFFFF
_TYPE_AND_EXECUTABLE: Final = KIND | 0o100
_DIRTY: Final = (
    pygit2.enums.SubmoduleStatus.WD_INDEX_MODIFIED
    | pygit2.enums.SubmoduleStatus.WD_WD_MODIFIED
    | pygit2.enums.SubmoduleStatus.WD_UNTRACKED
)


class WorkStatus(NamedTuple):
    """Everything in the order of paths. A directory that git knows nothing of is one name with `/`."""

    staged: tuple[Change, ...]
    modified: tuple[Change, ...]  # the new side has no id
    untracked: tuple[str, ...]
    conflicts: tuple[Conflict, ...]
    undecided: tuple[str, ...] = ()  # behind an external filter: modified, as far as can be told

    @property
    def is_clean(self) -> bool:
        return not (self.staged or self.modified or self.untracked or self.conflicts)

    def in_words(self) -> str:
        """`clean`, or how many of what."""
        lists = {
            "in conflict": self.conflicts,
            "staged": self.staged,
            "modified": self.modified,
            "untracked": self.untracked,
        }
        return ", ".join(f"{len(one)} {name}" for name, one in lists.items() if one) or "clean"


class GitStatus:
    """The status of one working tree. It is asked anew each time; only names and hashes are remembered."""

    def __init__(self, repository: Repository, jail: Jail, ignore: Ignore) -> None:
        self._repository = repository
        self._jail = jail
        self._ignore = ignore
        self._folders = Folders(jail)
        self._hashed: dict[str, tuple[tuple[int, ...], str | None]] = {}
        self._index: tuple[bytes, Staged] = (b"", Staged())
        self._changes: tuple[bytes, str | None, tuple[Change, ...]] | None = None
        self._lock = threading.Lock()

    def look(self) -> WorkStatus:
        """The status now."""
        with self._lock, self._repository.opened() as handle:
            staged, look = self._looked(handle)
            return WorkStatus(
                self._staged_changes(handle, staged),
                tuple(with_renames(handle, look.changes(), look.intended())),
                tuple(sorted(look.untracked, key=os.fsencode)),
                staged.conflicts,
                tuple(sorted(look.undecided)),
            )

    def since(self, tree: str | None) -> list[Change]:
        """How the tracked files of the working tree differ from a tree; None is the empty one."""
        with self._lock, self._repository.opened() as handle:
            staged, look = self._looked(handle)
            before = {one.path: one for one in staged.differences(handle, tree)}
            after = {one.path: one for one in look.changes()}
            found = [
                change_of(
                    path,
                    before[path].old if path in before else after[path].old,
                    after[path].new if path in after else before[path].new,
                )
                for path in sorted(before.keys() | after.keys(), key=os.fsencode)
            ]
            came = [one for one in found if one is not None]
            contents = {
                one.path: look.content(one.path)
                for one in came
                if one.kind == "A" and one.new is not None and not one.new.oid
            }
            return with_renames(handle, came, contents)

    def staged_since(self, tree: str | None) -> list[Change]:
        """How the index differs from a tree; None is the empty one."""
        with self._lock, self._repository.opened() as handle:
            return self._staged().changes(handle, tree)

    def _looked(self, handle: pygit2.Repository) -> "tuple[Staged, _Look]":
        staged = self._staged()
        if self._ignore.has_changed():
            self._ignore.forget()
        look = _Look(handle, self._repository, self._jail, self._ignore, self._folders, staged)
        look.index_ns = _stamp(self._repository.git_dir / "index")
        look.hashed = self._hashed
        look.run()
        self._folders.keep(look.entered)
        self._hashed = look.kept
        return staged, look

    def _staged(self) -> Staged:
        data = read_plain(str(self._repository.git_dir / "index"), _LARGEST_INDEX) or b""
        if data != self._index[0]:
            check_index(data)
            self._index = (data, Staged.of(data))
        return self._index[1]

    def _staged_changes(self, handle: pygit2.Repository, staged: Staged) -> tuple[Change, ...]:
        tree = None if handle.head_is_unborn else str(handle.head.peel(pygit2.Tree).id)
        known = self._changes
        if known is None or known[0] is not self._index[0] or known[1] != tree:
            self._changes = known = (self._index[0], tree, tuple(staged.changes(handle, tree)))
        return known[2]


@dataclass
class _Look:
    """One pass over the directories that git tracks something in."""

    handle: pygit2.Repository
    repository: Repository
    jail: Jail
    ignore: Ignore
    folders: Folders
    staged: Staged
    index_ns: int = 0
    trusts_modes: bool = True
    is_sparse: bool = False
    hashed: dict[str, tuple[tuple[int, ...], str | None]] = field(default_factory=dict)
    kept: dict[str, tuple[tuple[int, ...], str | None]] = field(default_factory=dict)
    modified: list[Change] = field(default_factory=list)
    untracked: list[str] = field(default_factory=list)
    undecided: list[str] = field(default_factory=list)
    entered: set[str] = field(default_factory=set)

    def run(self) -> None:
        self.trusts_modes = flag(self.handle, "core.filemode", default=True)
        self.is_sparse = flag(self.handle, "core.sparsecheckout")
        ahead: list[tuple[str, Scope, bool]] = [("", self.ignore.top(), False)]
        while ahead:
            path, outer, is_ignored = ahead.pop()
            found = self.folders.at(path)
            if found is None or found.problem:
                self.modified += self._gone_below(path)
                continue
            self.entered.add(path)
            scope = outer.inside(path, Standing.IN, has_rules=GITIGNORE in found.files)
            self._compare(path, found)
            if not is_ignored:
                self.untracked += self._unknown(path, found, scope)
            ahead += self._inner(path, found, scope, is_ignored=is_ignored)

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
        return cleaned(self.handle, attributes_of(self.handle, path), data, None)

    def _inner(
        self, path: str, found: Folder, scope: Scope, *, is_ignored: bool
    ) -> Iterator[tuple[str, Scope, bool]]:
        prefix = f"{path}/" if path else ""
        for name, entry in self.staged.folders[path].items():
            inner = prefix + name
            if entry is not None or inner not in self.staged.folders:
                continue
            if name in found.folders:
                yield inner, scope, is_ignored or scope.git_ignores(name, inner, directory=True)
            else:
                self.modified += self._gone_below(inner)

    def _compare(self, path: str, found: Folder) -> None:
        """The tracked files of one directory."""
        base, lstat = f"{self.jail.root}/", os.lstat
        latest = self.index_ns - _STEP_NS
        files = found.files
        for name, entry in self.staged.folders[path].items():
            if entry is None or entry.is_assumed:
                continue
            if name in files:
                try:
                    now = lstat(base + entry.path)
                except OSError:
                    self._missing(entry, found, name)
                    continue
                if (
                    now.st_mtime_ns != entry.mtime_ns
                    or now.st_ctime_ns != entry.ctime_ns
                    or now.st_size & _WORD != entry.size
                    or now.st_ino & _WORD != entry.inode
                    or entry.mtime_ns >= latest
                    or (now.st_mode ^ entry.mode) & _TYPE_AND_EXECUTABLE
                    or entry.is_intended
                ):
                    self._suspect(entry, now)
            else:
                self._missing(entry, found, name)

    def _missing(self, entry: Entry, found: Folder, name: str) -> None:
        if name not in found.folders:
            if not entry.is_skipped:
                new = Side("", entry.mode) if os.path.lexists(f"{self.jail.root}/{entry.path}") else None
                self.modified.append(Change("M" if new else "D", entry.path, entry.side, new))
        elif entry.is_submodule:
            self._submodule(entry)
        elif not entry.is_skipped or self.is_sparse:
            is_repository = self._is_repository(entry.path)
            new = Side("", 0o160000) if is_repository else None
            self.modified.append(Change("T" if new else "D", entry.path, entry.side, new))

    def _suspect(self, entry: Entry, now: os.stat_result) -> None:
        """A file whose stat proves nothing, or that it is another one."""
        if entry.is_skipped and not self.is_sparse:
            return
        new = Side("", self._mode(entry, now))
        if entry.is_intended:
            self.modified.append(Change("A", entry.path, None, new))
        elif new.mode & KIND != entry.mode & KIND:
            self.modified.append(Change("T", entry.path, entry.side, new))
        elif (
            new.mode != entry.mode or self._has_other_size(entry, now) or self._hash(entry, now) != entry.oid
        ):
            self.modified.append(Change("M", entry.path, entry.side, new))

    def _has_other_size(self, entry: Entry, now: os.stat_result) -> bool:
        """Then git looks no further, even where line ends alone have changed; 0 is no size that it knows."""
        return entry.size != 0 and now.st_size & _WORD != entry.size

    def _mode(self, entry: Entry, now: os.stat_result) -> int:
        if stat.S_ISLNK(now.st_mode):
            return LINK
        if not self.trusts_modes and stat.S_ISREG(entry.mode):
            return entry.mode
        return git_mode(now.st_mode)

    def _hash(self, entry: Entry, now: os.stat_result) -> str | None:
        key = (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_mode)
        known = self.hashed.get(entry.path)
        if known is None or known[0] != key:
            began = time.time_ns()
            known = (key, self._read(entry, now))
            if is_racy(now, began):
                return known[1]
        self.kept[entry.path] = known
        return known[1]

    def _read(self, entry: Entry, now: os.stat_result) -> str | None:
        """The id of the blob that git would make of the file now; None when it cannot be read or told."""
        path = f"{self.jail.root}/{entry.path}"
        try:
            if stat.S_ISLNK(now.st_mode):
                return blob_id(os.fsencode(os.readlink(path)))  # noqa: PTH115 - names that are not UTF-8
            told = attributes_of(self.handle, entry.path)
            if told.filter is not None or told.encoding is not None:
                self.undecided.append(entry.path)
                return None
            fd = self.jail.open(RepoPath(entry.path))
        except (OSError, CodePlaneError):
            return None
        with os.fdopen(fd, "rb") as stream:
            data = stream.read()
        return blob_id(cleaned(self.handle, told, data, entry.oid))

    def _submodule(self, entry: Entry) -> None:
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
            for name, entry in self.staged.folders.get(path, {}).items():
                if entry is None:
                    ahead.append(f"{path}/{name}" if path else name)
                elif not (entry.is_assumed or entry.is_skipped):
                    yield Change("D", entry.path, entry.side, None)

    def _unknown(self, path: str, found: Folder, scope: Scope) -> Iterator[str]:
        """What is in a directory that git tracks something in, and is not tracked itself."""
        tracked = self.staged.folders.get(path, {})
        prefix = f"{path}/" if path else ""
        for name in found.files - tracked.keys():
            if not scope.git_ignores(name, prefix + name, directory=False):
                yield prefix + name
        for name in found.files & tracked.keys():
            inner = prefix + name
            if tracked[name] is None and inner not in self.staged.sides:
                yield inner
        for name in found.folders:
            inner = prefix + name
            if inner in self.staged.folders or inner in self.staged.entries or inner in self.staged.sides:
                continue
            if not scope.git_ignores(name, inner, directory=True) and self._is_seen(inner, scope):
                yield f"{inner}/"

    def _is_seen(self, top: str, scope: Scope) -> bool:
        """Whether a directory that is not tracked has anything in it that git would tell of."""
        ahead = [(top, scope)]
        while ahead:
            path, outer = ahead.pop()
            found = self.folders.at(path)
            if found is None:
                continue
            self.entered.add(path)
            if found.has_git and self._is_repository(path):
                return True
            inner = outer.inside(path, Standing.IN, has_rules=GITIGNORE in found.files)
            if any(not inner.git_ignores(one, f"{path}/{one}", directory=False) for one in found.files):
                return True
            ahead += [
                (f"{path}/{one}", inner)
                for one in found.folders
                if not inner.git_ignores(one, f"{path}/{one}", directory=True)
            ]
        return False

    def _is_repository(self, path: str) -> bool:
        place = self.jail.root / path / ".git"
        return place.is_file() or (place / "HEAD").is_file()


def _stamp(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def within(found: WorkStatus, chosen: Selection) -> WorkStatus:
    """What concerns the chosen paths."""
    if not chosen.paths:
        return found
    return WorkStatus(
        tuple(one for one in found.staged if one.path in chosen),
        tuple(one for one in found.modified if one.path in chosen),
        tuple(path for path in found.untracked if path.rstrip("/") in chosen or _is_above(path, chosen)),
        tuple(one for one in found.conflicts if one.path in chosen),
        tuple(path for path in found.undecided if path in chosen),
    )


def _is_above(path: str, chosen: Selection) -> bool:
    return path.endswith("/") and any(one.startswith(path) for one in chosen.paths)
