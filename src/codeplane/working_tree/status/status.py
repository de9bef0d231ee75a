"""How the working tree differs from git's index: what is modified, and what git does not know."""

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pygit2

from codeplane.core.errors import GitFailed
from codeplane.core.paths import RepoPath
from codeplane.git.history.changes import Change, change_of, with_renames
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.outcome import Conflict
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.unsupported import check_index
from codeplane.git.worktree.index_snapshot import IndexSnapshot
from codeplane.jail import Jail
from codeplane.working_tree.folders import Folders
from codeplane.working_tree.known import Known
from codeplane.working_tree.plain_file import read_plain
from codeplane.working_tree.rules.ignore import Ignore
from codeplane.working_tree.status.tracked_changes import Look
from codeplane.working_tree.status.untracked import Untracked

_LARGEST_INDEX: Final = 1 << 30


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
    """The status of one working tree. It is asked anew each time; only names and hashes are remembered.

    `followed` tells what files are now that need not be asked, because whatever happens to them is followed.
    """

    def __init__(self, repository: Repository, jail: Jail, ignore: Ignore) -> None:
        self.followed: Callable[[], Mapping[RepoPath, Known]] = dict
        self._repository = repository
        self._jail = jail
        self._ignore = ignore
        self._folders = Folders(jail)
        self._hashes: dict[str, tuple[tuple[int, ...], str | None]] = {}
        self._index: tuple[bytes, IndexSnapshot] = (b"", IndexSnapshot())
        self._untracked = Untracked(jail, ignore, self._folders, self._index[1])
        self._changes: tuple[bytes, str | None, tuple[Change, ...]] | None = None
        self._lock = threading.Lock()

    def look(self) -> WorkStatus:
        """The status now."""
        stamps = self.followed()
        with self._lock, self._repository.opened() as handle:
            index, look = self._look_at_files(handle, stamps, untracked=True)
            return WorkStatus(
                self._staged_changes(handle, index),
                tuple(with_renames(handle, look.changes(), look.intended())),
                tuple(sorted(look.untracked, key=os.fsencode)),
                index.conflicts,
                tuple(sorted(look.undecided)),
            )

    def unstaged(self) -> tuple[list[Change], tuple[Conflict, ...]]:
        """How the tracked files of the working tree differ from the index, and what is not merged in it."""
        stamps = self.followed()
        with self._lock, self._repository.opened() as handle:
            index, look = self._look_at_files(handle, stamps, untracked=False)
            return with_renames(handle, look.changes(), look.intended()), index.conflicts

    def since(self, tree: str | None) -> tuple[list[Change], tuple[Conflict, ...]]:
        """How the tracked files of the working tree differ from a tree, and what is not merged."""
        stamps = self.followed()
        with self._lock, self._repository.opened() as handle:
            index, look = self._look_at_files(handle, stamps, untracked=False)
            before = {one.path: one for one in index.differences(handle, tree)}
            after = {one.path: one for one in look.changes()}
            candidates = [
                change_of(
                    path,
                    before[path].old if path in before else after[path].old,
                    after[path].new if path in after else before[path].new,
                )
                for path in sorted(before.keys() | after.keys(), key=os.fsencode)
            ]
            came = [one for one in candidates if one is not None]
            contents = {
                one.path: look.content(one.path)
                for one in came
                if one.kind == "A" and one.new is not None and not one.new.oid
            }
            return with_renames(handle, came, contents), index.conflicts

    def staged_since(self, tree: str | None) -> list[Change]:
        """How the index differs from a tree; None is the empty one."""
        with self._lock, self._repository.opened() as handle:
            return self._read_index().changes(handle, tree)

    def attributed(self) -> frozenset[str]:
        """The directories in which a file of attributes is tracked."""
        with self._lock:
            return self._read_index().attributed

    def _look_at_files(
        self, handle: pygit2.Repository, known: Mapping[RepoPath, Known], *, untracked: bool
    ) -> tuple[IndexSnapshot, Look]:
        index = self._read_index()
        if self._ignore.has_changed():
            self._ignore.forget()
        look = Look(handle, self._repository, self._jail, self._folders, index, self._untracked, known)
        look.index_ns = _stamp_of(self._repository.git_dir / "index")
        look.hashes = self._hashes
        look.run(untracked=untracked)
        self._folders.settle(whole=untracked)
        self._hashes = look.next_hashes
        return index, look

    def _read_index(self) -> IndexSnapshot:
        file = self._repository.git_dir / "index"
        read = read_plain(str(file), _LARGEST_INDEX)
        if read is None and os.path.lexists(file):
            raise GitFailed(f"Git's index can't be read: {file}.")
        data = read or b""
        if data != self._index[0] or (read is not None and not data):
            check_index(read)
            self._index = (data, IndexSnapshot.of(data, self._index[1]))
            self._untracked = Untracked(self._jail, self._ignore, self._folders, self._index[1])
        return self._index[1]

    def _staged_changes(self, handle: pygit2.Repository, staged: IndexSnapshot) -> tuple[Change, ...]:
        tree = None if handle.head_is_unborn else find_commit(handle, "HEAD").tree
        cache = self._changes
        if cache is None or cache[0] is not self._index[0] or cache[1] != tree:
            self._changes = cache = (self._index[0], tree, tuple(staged.changes(handle, tree)))
        return cache[2]


def _stamp_of(path: Path) -> int:
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
