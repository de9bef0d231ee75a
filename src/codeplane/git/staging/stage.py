"""Staging files into git's index."""

import os
import stat
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import FileStatus

from codeplane.core.errors import GitBusy, GitUnfinished, NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.git.history.tree_diff import conflict_paths, index_side, unstaged_paths
from codeplane.git.history.tree_edit import side_at
from codeplane.git.repo.config import config_flag
from codeplane.git.repo.objects import EXECUTABLE, FILE, LINK, SUBMODULE
from codeplane.git.repo.outcome import Outcome, Side, list_names
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.staging.conflicts import conflicts_of, has_marks
from codeplane.git.worktree.autosave import head_tree
from codeplane.git.worktree.files import WorkTree
from codeplane.git.worktree.filters import add_filtered, check_filters, filter_drivers
from codeplane.git.worktree.index_writer import NextIndex, is_frozen, locked_index, put_entry, put_file
from codeplane.jail import shown
from codeplane.jail.beneath import open_beneath
from codeplane.process import Programs

_MOST_NAMED: Final = 20
_IN_TREE: Final = (
    FileStatus.WT_NEW
    | FileStatus.WT_MODIFIED
    | FileStatus.WT_DELETED
    | FileStatus.WT_TYPECHANGE
    | FileStatus.WT_RENAMED
    | FileStatus.WT_UNREADABLE
    | FileStatus.CONFLICTED
)


def _no_check() -> None: ...


@dataclass(frozen=True)
class StagingRules:
    """The caller's rules for paths, which git does not know."""

    closed_reason: Callable[[str], str | None]  # why a path is never touched; None when it may be
    unwanted_reason: Callable[[str], str | None]  # why an untracked path needs `force`
    submodule: Callable[[str], str | None]  # the commit that a submodule has checked out
    check: Callable[[], None] = _no_check


@dataclass(frozen=True)
class StageOutcome(Outcome):
    """The outcome of staging, with the paths whose entries changed."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Modes:
    """What the file system can tell about files, by git's settings."""

    has_bits: bool
    has_links: bool

    @classmethod
    def of(cls, handle: pygit2.Repository) -> "Modes":
        bits = config_flag(handle, "core.fileMode", default=True)
        return cls(bits, config_flag(handle, "core.symlinks", default=True))

    def of_file(self, status: os.stat_result, entry: Side | None) -> int:
        if stat.S_ISLNK(status.st_mode):
            return LINK
        if not self.has_links and entry is not None and entry.mode == LINK:
            return LINK
        if not self.has_bits:
            return entry.mode if entry is not None and entry.mode in (FILE, EXECUTABLE) else FILE
        return EXECUTABLE if status.st_mode & stat.S_IXUSR else FILE


@dataclass
class _Staging:
    repository: Repository
    handle: pygit2.Repository
    rules: StagingRules
    selection: Selection
    force: bool
    tracked_only: bool
    put: list[str] = field(default_factory=list)  # files and links
    removals: list[str] = field(default_factory=list)  # deleted files
    submodules: dict[str, str] = field(default_factory=dict)  # with their commits
    reasons: dict[str, str] = field(default_factory=dict)  # why they were not staged

    def sort(self, tree: WorkTree, conflicts: set[str]) -> None:
        for path in self._candidate_paths(tree):
            self.rules.check()
            reason = self._refusal_reason(path)
            if reason is not None:
                self._leave_out(path, reason)
            else:
                self._sort_one(tree, path, is_conflict=path in conflicts)

    def _candidate_paths(self, tree: WorkTree) -> list[str]:
        paths: set[str] = set(self.selection.paths)
        if not paths or any(map(self._may_hold_more, paths)):
            paths |= {
                path.rstrip("/")
                for path, flags in self.handle.status(untracked_files="all").items()
                if flags & _IN_TREE and path.rstrip("/") in self.selection
            }
        if self.force:
            for path in self.selection.paths:
                paths |= set(_files_below(tree, path))
        return sorted(paths)

    def _may_hold_more(self, path: str) -> bool:
        """Whether it is a directory, or was one that is gone with all that git knows in it."""
        place = self.repository.root / path
        return place.is_dir() or (not os.path.lexists(place) and index_side(self.handle, path) is None)

    def _refusal_reason(self, path: str) -> str | None:
        reason = self.rules.closed_reason(path)
        if reason is not None:
            return reason
        if is_frozen(self.handle.index, path):
            return f"{shown(path)} is marked assume-unchanged or skip-worktree in git's index."
        is_new = index_side(self.handle, path) is None
        return self.rules.unwanted_reason(path) if is_new and not self.force else None

    def _leave_out(self, path: str, reason: str) -> None:
        if path in self.selection.paths and not (self.repository.root / path).is_dir():
            raise PathRefused(reason, hints=_force_hint(self.rules, path), path=shown(path))
        if os.path.lexists(self.repository.root / path) or index_side(self.handle, path) is not None:
            self.reasons[path] = reason

    def _sort_one(self, tree: WorkTree, path: str, *, is_conflict: bool) -> None:
        entry = index_side(self.handle, path)
        is_known = entry is not None or is_conflict or (self.tracked_only and self._is_in_head(path))
        status = None if tree.blocker(path) is not None else _stat_file(self.repository, path)
        if status is None:
            if is_known:
                self.removals.append(path)
            elif path in self.selection.paths and not self._is_above_known(path):
                raise _unknown_path(path)
        elif stat.S_ISDIR(status.st_mode):
            self._sort_directory(path, entry)
        elif not is_known and self.tracked_only:
            self._leave_unknown(path)
        elif stat.S_ISLNK(status.st_mode) or stat.S_ISREG(status.st_mode):
            self.put.append(path)
        else:
            self._leave_out(path, f"{shown(path)} is neither a file nor a link.")

    def _is_in_head(self, path: str) -> bool:
        """Whether the last commit has it, whatever is staged: then git knows it where it commits paths."""
        head = head_tree(self.handle)
        return head is not None and side_at(self.handle, head, path) is not None

    def _leave_unknown(self, path: str) -> None:
        if path in self.selection.paths:
            raise NotFound(f"{shown(path)} is not tracked by git.", hints=[Remedy(Fix.STAGE_NEW_FILE)])

    def _sort_directory(self, path: str, entry: Side | None) -> None:
        """A directory is staged as a submodule that git knows already, or not as itself at all."""
        if entry is not None and entry.mode == SUBMODULE:
            head = self.rules.submodule(path)
            if head is not None and head != entry.oid:
                self.submodules[path] = head
        elif entry is not None:
            self.removals.append(path)
        elif os.path.lexists(self.repository.root / path / ".git"):
            reason = f"{shown(path)} is a repository of its own: it can be added as a submodule."
            if path in self.selection.paths:
                raise PathRefused(reason, hints=[Remedy(Fix.ADD_SUBMODULE)], path=shown(path))
            self.reasons[path] = reason

    def write(self, index: pygit2.Index, paths: Container[str]) -> None:
        """Writes what was sorted to the index, except for `paths`, which are done."""
        for path in self.removals:
            put_entry(index, path, None)
        modes = Modes.of(self.handle)
        for path in self.put:
            if path not in paths:
                self.rules.check()
                self._stage_file(index, path, modes)
        for path, head in self.submodules.items():
            put_entry(index, path, Side(head, SUBMODULE))

    def _stage_file(self, index: pygit2.Index, path: str, modes: "Modes") -> None:
        """Stages one file, if it is the same beneath the root before and after it was read."""
        place = self.repository.root / path
        status = self._stat_beneath(path)
        mode = modes.of_file(status, index_side(self.handle, path))
        if stat.S_ISLNK(status.st_mode):
            oid = self.handle.create_blob(os.fsencode(os.readlink(place)))  # noqa: PTH115
        elif not stat.S_ISREG(status.st_mode):
            raise _replaced_error(path)
        elif mode == LINK:
            oid = self.handle.create_blob(place.read_bytes())
        else:
            oid = self.handle.create_blob_fromworkdir(path)
        if not os.path.samestat(status, self._stat_beneath(path)):
            raise _replaced_error(path)
        put_file(index, path, Side(str(oid), mode), status)

    def _stat_beneath(self, path: str) -> os.stat_result:
        """The stat of a path, never through a link."""
        parent, _, name = path.rpartition("/")
        directory = open_beneath(str(self.repository.root), parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return os.stat(name, dir_fd=directory, follow_symlinks=False)
        finally:
            os.close(directory)

    def _is_above_known(self, path: str) -> bool:
        """Whether it is a directory that was deleted with tracked files in it."""
        inside = Selection(frozenset({RepoPath(path)}))
        return any(os.fsdecode(entry.path) in inside for entry in self.handle.index)


def stage_paths(
    repository: Repository,
    programs: Programs,
    selection: Selection,
    rules: StagingRules,
    *,
    force: bool = False,
    tracked_only: bool = False,
) -> StageOutcome:
    """Stages new, changed and deleted files as `git add --all` does.

    What the rules keep back is an error where it is named, and left out with a note where it is only below a
    name. `force` stages what is ignored, and conflicts with their marks.
    """
    with repository.opened() as handle, locked_index(repository, handle) as next_index:
        return stage_into(
            next_index, repository, programs, handle, selection, rules, force=force, tracked_only=tracked_only
        )


def stage_into(
    next_index: NextIndex,
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    selection: Selection,
    rules: StagingRules,
    *,
    force: bool = False,
    tracked_only: bool = False,
) -> StageOutcome:
    """Stages into an index that is not git's yet."""
    handle.index.read(False)
    conflicts = conflict_paths(handle)
    work = _Staging(repository, handle, rules, selection, force, tracked_only)
    work.sort(WorkTree(handle, repository.root), conflicts)
    _check_marks(repository, (path for path in work.put if path in conflicts and not force))
    drivers = filter_drivers(handle, (path for path in work.put if not _is_link(repository, path)))
    drivers = _changed_only(handle, drivers, conflicts)
    check_filters(repository, handle, drivers)
    index = next_index.index
    if drivers:
        add_filtered(repository, programs, next_index.file, drivers, rules.check)
        index.read()
    work.write(index, drivers)
    index.write()
    paths = (*work.put, *work.removals, *work.submodules)
    after = conflicts_of(index)
    still = {one.path for one in after}
    changes = tuple(
        sorted(
            path
            for path in paths
            if index_side(handle, path) != _entry_side(index, path) or (path in conflicts) != (path in still)
        )
    )
    return StageOutcome(summary_line("staged", changes), notes=left_out(work.reasons), paths=changes)


def _unknown_path(path: str) -> NotFound:
    hints = ["Paths are names, not patterns."] if set(path) & set("*?[:") else []
    return NotFound(f"{shown(path)} does not exist and is not tracked by git.", hints=hints, path=shown(path))


def _replaced_error(path: str) -> GitBusy:
    return GitBusy(f"{shown(path)} was replaced while it was being read.", hints=["Try again."])


def _check_marks(repository: Repository, paths: Iterable[str]) -> None:
    marked_paths = [path for path in paths if has_marks((repository.root / path).read_bytes())]
    if marked_paths:
        raise GitUnfinished(
            f"Conflict markers are still in {list_paths(marked_paths)}.",
            hints=[Remedy(Fix.STAGE_WITH_MARKERS)],
            paths=[shown(path) for path in marked_paths[:_MOST_NAMED]],
        )


def _entry_side(index: pygit2.Index, path: str) -> Side | None:
    try:
        entry = index[path]
    except KeyError:
        return None
    return Side(str(entry.id), int(entry.mode))


def _files_below(tree: WorkTree, path: str) -> Iterator[str]:
    ahead = [path] if tree.blocker(path) is None and _is_directory(tree.root / path) else []
    while ahead:
        here = ahead.pop()
        if not _is_directory(tree.root / here):
            yield here
        elif not os.path.lexists(tree.root / here / ".git"):
            names = sorted(os.listdir(tree.root / here), reverse=True)  # noqa: PTH208
            ahead += [f"{here}/{name}" for name in names]


def _is_directory(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _stat_file(repository: Repository, path: str) -> os.stat_result | None:
    try:
        return (repository.root / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _is_link(repository: Repository, path: str) -> bool:
    return (repository.root / path).is_symlink()


def _force_hint(rules: StagingRules, path: str) -> list[str]:
    return (
        []
        if rules.unwanted_reason(path) is None or rules.closed_reason(path) is not None
        else [Remedy(Fix.STAGE_IGNORED)]
    )


def _changed_only(handle: pygit2.Repository, drivers: dict[str, str], conflicts: set[str]) -> dict[str, str]:
    """Filtered files that changed by their stat: without the filter, the content says nothing."""
    differences = unstaged_paths(handle) | conflicts if drivers else set()
    return {
        path: name for path, name in drivers.items() if path in differences or not index_side(handle, path)
    }


def left_out(reason_by_path: dict[str, str]) -> tuple[str, ...]:
    """The note on what was not touched, with the reasons."""
    if not reason_by_path:
        return ()
    reasons = list(dict.fromkeys(reason_by_path[path].rstrip(".") for path in sorted(reason_by_path)))
    more = [f"{len(reasons) - _MOST_NAMED} more"] if len(reasons) > _MOST_NAMED else []
    return (f"Left out: {'; '.join(reasons[:_MOST_NAMED] + more)}.",)


def summary_line(did: str, paths: tuple[str, ...]) -> str:
    """The summary line of an outcome."""
    return f"{did} {list_paths(paths, 3)}" if paths else f"nothing was {did}"


def list_paths(paths: Iterable[str], most: int = _MOST_NAMED) -> str:
    """Joins paths for a sentence."""
    return list_names(map(shown, paths), most)
