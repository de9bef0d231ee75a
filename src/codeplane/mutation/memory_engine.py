"""The engine of a workspace in memory: the same promises, kept by rows and objects instead of files."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codeplane.core.edits import EditSet, FileChange, FileEdit
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.git import Repository
from codeplane.jail import shown
from codeplane.mutation.batch import Kind
from codeplane.mutation.checks import check_names, check_rules
from codeplane.mutation.directories import ancestors
from codeplane.mutation.engine import Engine
from codeplane.mutation.inspect import PERMISSIONS
from codeplane.mutation.prepared import Applied, Planned, Prepared, Recovered, Scope
from codeplane.mutation.problems import Problems
from codeplane.working_tree import MemoryTree, OverlaidFile, digest_of, no_files_on_disk

_FILE_MODE = 0o100644
_FORMAT = 0o100000


class MemoryEngine(Engine):
    """The one writer of a workspace in memory."""

    def __init__(self, tree: MemoryTree, repository: Repository, state: Path) -> None:
        super().__init__(tree, repository, state)
        self._memory = tree
        self._writing = threading.Lock()

    def prepare(self, edits: EditSet, scope: Scope) -> Prepared:
        """Checks the edits against names, rules and the files that are there. Writes nothing."""
        problems = Problems()
        check_names(edits, self._memory, problems)
        problems.raise_worst()
        plans = self._examine(edits, problems)
        flags = check_rules(edits, scope, self._memory, problems)
        problems.raise_worst()
        return Prepared(plans, tuple(flags))

    @contextmanager
    def committed(
        self, prepared: Prepared, operation: OperationId, note: Mapping[str, Any], check: Callable[[], None]
    ) -> Iterator[Applied]:
        """Makes the edits; they count when the block ends, in which the caller writes down that they do.

        An exception in the block takes everything back.
        """
        with self._writing:
            check()
            problems = Problems()
            plans = self._examine(EditSet(tuple(one.edit for one in prepared.planned)), problems)
            problems.raise_worst()
            changes = tuple(_change(one) for one in plans if one.is_change)
            if not changes:
                yield Applied((), 0)
                return
            self._keep_contents(plans)
            files = [_file(one) for one in plans if one.is_change]
            self._memory.files.begin(operation, note, zip(changes, files, strict=True))
            self._under_way[operation] = changes
            try:
                yield Applied(changes, 0)
            except BaseException:
                self._memory.files.drop(operation)
                raise
            finally:
                self._under_way.pop(operation, None)
            self._memory.files.finish(operation, self._memory.base_entry)

    @contextmanager
    def alone(self, check: Callable[[], None]) -> Iterator[None]:  # noqa: ARG002 - of the engine
        raise no_files_on_disk("A git operation")
        yield

    def announce(self, operation: OperationId, note: Mapping[str, Any]) -> None:  # noqa: ARG002 - as above
        raise no_files_on_disk("This")

    def recover(self, recorded: Callable[[OperationId], bool]) -> list[Recovered]:
        """Has changes count whose row is written, and forgets the others."""
        recoveries = []
        for one in self._memory.files.pending():
            if recorded(one.operation):
                self._memory.files.finish(one.operation, self._memory.base_entry)
            else:
                self._memory.files.drop(one.operation)
                recoveries.append(Recovered(one.operation, one.note, "undone", ()))
        return recoveries

    def forget(self, operation: OperationId) -> None:
        """The row of a recovered operation is written: there is nothing else that tells of it."""

    def _keep_contents(self, planned: tuple[Planned, ...]) -> None:
        """Has the contents before and after on the disk before anything counts."""
        for one in planned:
            if one.edit.before is not None:
                self.objects.put(self._memory.read(one.edit.path), durable=False)
            if one.edit.after is not None:
                self.objects.put(one.edit.after, durable=False)
        self.objects.sync()

    def _examine(self, edits: EditSet, problems: Problems) -> tuple[Planned, ...]:
        removals = {edit.path for edit in edits.edits if edit.after is None}
        plans = []
        for edit in edits.edits:
            self._examine_edit(edit, removals, problems)
            plans.append(self._plan_edit(edit))
        return tuple(plans)

    def _examine_edit(self, edit: FileEdit, removals: set[RepoPath], problems: Problems) -> None:
        tree, path, name = self._memory, edit.path, shown(edit.path)
        if edit.after is not None and len(edit.after) > tree.largest:
            problems.refuse(path, f"{name} would have {len(edit.after)} bytes; the limit is {tree.largest}.")
        link = tree.link_at(path)
        entry = tree.entry(path)
        if link is not None:
            problems.refuse(
                path, f"{shown(link)} is a symbolic link; CodePlane does not write through links."
            )
        elif entry is None and edit.before is not None:
            problems.conflict(path, edit.before, None, f"{name} does not exist.")
        elif entry is not None and edit.before is None:
            problems.conflict(path, None, entry.digest, f"{name} already exists.")
        elif entry is not None and edit.before != entry.digest:
            problems.conflict(path, edit.before, entry.digest, f"{name} has changed.")
        elif entry is None and edit.after is not None:
            self._examine_place(edit, removals, problems)

    def _examine_place(self, edit: FileEdit, removals: set[RepoPath], problems: Problems) -> None:
        """A new file needs a path that is no directory and goes through no file."""
        name = shown(edit.path)
        inside = [one for one in self._memory.state() if one.startswith(f"{edit.path}/")]
        if any(one not in removals for one in inside):
            problems.refuse(edit.path, f"{name} is a directory.")
        for above in map(RepoPath, ancestors(edit.path)):
            if self._memory.entry(above) is not None and above not in removals:
                problems.refuse(edit.path, f"{shown(above)} is a file, not a directory.")

    def _plan_edit(self, edit: FileEdit) -> Planned:
        entry = self._memory.entry(edit.path)
        source = self._memory.entry(edit.moved_from) if edit.moved_from is not None else entry
        before = entry.mode & PERMISSIONS if entry is not None else None
        if edit.after is None:
            return Planned(edit, Kind.DELETE, before, None, is_change=edit.before is not None)
        mode = edit.mode if edit.mode is not None else (source.mode if source is not None else _FILE_MODE)
        mode &= PERMISSIONS
        is_change = digest_of(edit.after) != edit.before or mode != before
        kind = Kind.CREATE if edit.before is None else Kind.UPDATE
        return Planned(edit, kind, before, mode, is_change)


def _change(one: Planned) -> FileChange:
    after = digest_of(one.edit.after) if one.edit.after is not None else None
    return FileChange(
        one.edit.path, one.edit.before, after, one.mode_before, one.mode_after, one.edit.moved_from
    )


def _file(one: Planned) -> OverlaidFile:
    data = one.edit.after
    if data is None:
        return OverlaidFile(None, 0, 0)
    return OverlaidFile(digest_of(data), len(data), _FORMAT | (one.mode_after or 0))
