"""The engine: edits become files, all of them or none, whatever ends the process meanwhile."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from codeplane.core.edits import EditSet, FileChange
from codeplane.core.errors import CodePlaneError, EditConflict, EditFailed, EditInDoubt, StateError
from codeplane.core.ids import OperationId
from codeplane.git import Repository
from codeplane.jail import shown
from codeplane.jail.names import temporary_name
from codeplane.mutation import checks
from codeplane.mutation.apply import Carrier, Foreign, Stray
from codeplane.mutation.batch import Batch, IndexMoves, Kind
from codeplane.mutation.directories import Directories
from codeplane.mutation.git_index import GitIndex
from codeplane.mutation.journal import FOLDER, Journal
from codeplane.mutation.locks import PathLocks
from codeplane.mutation.prepared import Applied, Prepared, Recovered, Scope, changes_of
from codeplane.mutation.problems import failed
from codeplane.mutation.recovery import Recovery
from codeplane.mutation.staging import stage
from codeplane.mutation.steps import plan
from codeplane.storage.disk import Disk
from codeplane.storage.files import unusable
from codeplane.storage.objects import ObjectStore
from codeplane.working_tree import WorkingTree

# How many batches may wait for their names in the store to be on the disk.
_MOST_UNSETTLED = 256
_LARGEST_JOURNAL = 1 << 20
_TRIES = 3
# A key that every batch shares; no path is empty.
_EVERYTHING = ""
_REFUSALS = (OSError, StateError)


class Engine:
    """The one writer of a working tree. The caller holds the server lock and has called `recover` first."""

    def __init__(
        self, tree: WorkingTree, repository: Repository, state: Path, *, disk: Disk | None = None
    ) -> None:
        self._tree = tree
        self._repository = repository
        self._disk = disk or Disk()
        self._root = os.fspath(tree.jail.root)
        self.objects = ObjectStore(state / "objects", self._disk)
        self._journal = Journal(state / FOLDER, tree.jail, self._disk)
        self._index = GitIndex(repository.git_dir, self._disk)
        self._locks = PathLocks()
        self._under_way: dict[OperationId, tuple[FileChange, ...]] = {}
        self._recovery = Recovery(tree, self._journal, self.objects, self._index, self._disk)

    @property
    def has_doubts(self) -> bool:
        """Whether only the next start can tell how a batch has ended."""
        return self._recovery.has_doubts

    def prepare(self, edits: EditSet, scope: Scope) -> Prepared:
        """Checks the edits against names, rules and the files that are there. Writes nothing."""
        preparation = checks.prepare(edits, scope, self._tree)
        batch = self._plan_batch(preparation, OperationId(""), {}, examined=True)
        return replace(preparation, exclusive=batch.exclusive(), shared=batch.shared())

    @contextmanager
    def committed(
        self, prepared: Prepared, operation: OperationId, note: Mapping[str, Any], check: Callable[[], None]
    ) -> Iterator[Applied]:
        """Makes the edits; inside the block they are on the disk, and the caller writes down that they are.

        An exception in the block takes everything back. `check` ends the call by raising, until the first
        file of the tree is touched.
        """
        with self._lock_paths(prepared, operation, note, check) as batch:
            if not batch.steps:
                yield Applied((), 0)
                return
            with self._note_batch(batch), Directories(self._root) as directories:
                carrier = Carrier(batch, directories, self._disk, self._tree.largest)
                application = self._apply_batch(prepared, batch, carrier, directories, check)
                try:
                    yield application
                except BaseException as error:
                    self._take_back(batch, carrier, error)
                    raise
                self._finish_batch(batch, carrier)
        self._settle_when_due()

    def under_way(self) -> list[FileChange]:
        """What batches change that have begun and have no row yet, whether or not it is in place."""
        return [one for changes in self._under_way.copy().values() for one in changes]

    def recorded(self, operation: OperationId) -> None:
        """The row of a batch is written, in the block of `committed`."""
        self._under_way.pop(operation, None)

    @contextmanager
    def _note_batch(self, batch: Batch) -> Iterator[None]:
        self._under_way[batch.operation] = changes_of(batch, {}, is_renamed=False)
        try:
            yield
        finally:
            self._under_way.pop(batch.operation, None)

    def announce(self, operation: OperationId, note: Mapping[str, Any]) -> None:
        """Has the journal say that an operation begins which git carries out, not this engine. A start that
        finds it neither concluded nor recorded tells of it."""
        try:
            self._recovery.begin(Batch(operation, note, (), (), ()))
        except OSError as error:
            raise unusable(self._journal.directory, error) from error

    def conclude(self, operation: OperationId) -> None:
        """The row of an announced operation is written. What fails here is left to the next start."""
        with suppress(*_REFUSALS):
            self._journal.mark(operation, "recorded", durable=False)
            self._recovery.finished(Batch(operation, {}, (), (), ()))
        self._settle_when_due()

    @contextmanager
    def alone(self, check: Callable[[], None]) -> Iterator[None]:
        """No edit is made while the block runs: git is about to change files of the tree."""
        with self._locks.held(frozenset({_EVERYTHING}), frozenset(), check):
            yield

    def recover(self, recorded: Callable[[OperationId], bool]) -> list[Recovered]:
        """Finishes or takes back what a crash has cut off; may itself be cut off at any point.

        `recorded` tells whether the row of an operation is written. Of those that come back, each has to be
        written down and then forgotten.
        """
        return self._recovery.run(recorded)

    def forget(self, operation: OperationId) -> None:
        """The row of a recovered operation is written."""
        self._recovery.forget(operation)

    def settle(self) -> None:
        """Empties the journal if nothing goes on and the disk allows it; worth a call when there is time."""
        with suppress(*_REFUSALS):
            self._recovery.settle()

    def _settle_when_due(self) -> None:
        if self._recovery.unsettled >= _MOST_UNSETTLED or self._journal.size > _LARGEST_JOURNAL:
            self.settle()

    def close(self) -> None:
        self.settle()
        self._journal.close()

    @contextmanager
    def _lock_paths(
        self, prepared: Prepared, operation: OperationId, note: Mapping[str, Any], check: Callable[[], None]
    ) -> Iterator[Batch]:
        """The steps, with every path locked and every file looked at under the locks."""
        exclusive, common = (
            self._lock_keys(prepared.exclusive),
            self._lock_keys(prepared.shared | {_EVERYTHING}),
        )
        while True:
            with self._locks.held(exclusive, common, check):
                batch = self._plan_batch(prepared, operation, note, examined=False)
                # Directories may have come and gone while this waited; then other locks are needed.
                if (
                    self._lock_keys(batch.exclusive()) <= exclusive
                    and self._lock_keys(batch.shared()) <= common
                ):
                    self._recovery.check_doubt(batch)
                    yield replace(batch, index=self._index_moves(batch))
                    return
            exclusive, common = (
                self._lock_keys(batch.exclusive()),
                self._lock_keys(batch.shared() | {_EVERYTHING}),
            )
            check()

    def _plan_batch(
        self, prepared: Prepared, operation: OperationId, note: Mapping[str, Any], *, examined: bool
    ) -> Batch:
        """The steps; unless the files have just been examined, they are looked at again."""
        for attempt in range(_TRIES):
            try:
                with Directories(self._root) as directories:
                    if not examined:
                        prepared = checks.examine(prepared, self._tree, directories)
                    return plan(prepared, operation, note, directories)
            except OSError as error:
                # A directory has gone between two looks; the next look tells what that means for the edits.
                examined = False
                if attempt == _TRIES - 1:
                    raise failed(error) from error
        raise AssertionError("BUG: the last try returns or raises")

    def _index_moves(self, batch: Batch) -> IndexMoves | None:
        """The entries of git's index that go along with files which are moved."""
        steps = [step for step in batch.steps if step.kind is Kind.CREATE and step.moved_from is not None]
        names = [
            (step.moved_from, step.path, blob)
            for step in steps
            if step.moved_from is not None
            and (blob := self._repository.movable(step.moved_from, step.path)) is not None
        ]
        return IndexMoves(temporary_name(), tuple(names)) if names else None

    def _lock_keys(self, paths: frozenset[str]) -> frozenset[str]:
        return frozenset(path.casefold() for path in paths) if self._tree.folds_case else paths

    def _apply_batch(
        self,
        prepared: Prepared,
        batch: Batch,
        carrier: Carrier,
        directories: Directories,
        check: Callable[[], None],
    ) -> Applied:
        contents = {one.edit.path: one.edit.after for one in prepared.planned if one.edit.after is not None}
        syncs = self._disk.syncs
        check()
        try:
            self._recovery.begin(batch)
        except OSError as error:
            raise failed(error) from error
        try:
            modes = stage(batch, contents, directories, self._disk)
            check()
            self._journal.mark(batch.operation, "staged", durable=False)
            carrier.forward()
            is_renamed = batch.index is not None and self._index.forward(batch.index)
        except BaseException as error:
            self._take_back(batch, carrier, error)
            if (failure := _explain_error(error)) is not error:
                raise failure from error
            raise
        return Applied(changes_of(batch, modes, is_renamed=is_renamed), self._disk.syncs - syncs)

    def _finish_batch(self, batch: Batch, carrier: Carrier) -> None:
        """The row is written. What fails from here on is left to the next start."""
        with suppress(*_REFUSALS):
            self._journal.mark(batch.operation, "recorded", durable=False)
            carrier.discard(self.objects)
            self._recovery.finished(batch)

    def _take_back(self, batch: Batch, carrier: Carrier, error: BaseException) -> None:
        """Leaves every file as it was before; says so when it cannot."""
        try:
            if batch.index is not None:
                self._index.back(batch.index)
            left = carrier.back()
            carrier.sync()
            is_marked = self._mark_aborted(batch)
            try:
                carrier.discard(self.objects)
                self._recovery.finished(batch)
            except _REFUSALS:
                # Without the new contents nothing can be finished, whether or not the journal says so.
                if not is_marked:
                    raise
        except _REFUSALS as refusal:
            self._recovery.doubt(batch)
            raise EditInDoubt(
                f"The edit failed ({error}) and could not be rolled back: {refusal}.",
                hints=["Restart the server: it completes or rolls back the edit."],
                files=[shown(step.path) for step in batch.steps],
            ) from error
        except BaseException:
            self._recovery.doubt(batch)
            raise
        if isinstance(error, Foreign):
            left = [path for path in left if path != error.path]
        if left:
            raise EditFailed(
                "The edit was rolled back, except where someone else has changed a file since.",
                files=[shown(path) for path in left],
            ) from error

    def _mark_aborted(self, batch: Batch) -> bool:
        try:
            self._journal.mark(batch.operation, "aborted", durable=True)
        except OSError:
            return False
        return True


def _explain_error(error: BaseException) -> BaseException:
    """The error of the catalogue for what stopped the batch; one that is of it already stays."""
    match error:
        case CodePlaneError():
            return error
        case Foreign():
            name = shown(error.path)
            digest = error.seen.digest if error.seen else None
            return EditConflict(
                f"{name} was just changed by someone else.",
                hints=["Read it again and resend the edit."],
                files=[{"path": name, "reason": f"{name} has changed.", "found": digest}],
            )
        case Stray():
            name = ", ".join(shown(path) or "." for path in error.paths)
            return EditConflict(
                f"Directories moved while files in them were being edited: {name}.",
                hints=["Find where the files are now (list_files) and resend the edits."],
            )
        case OSError():
            return failed(error)
        case _:
            return error
