"""What is left of batches: those that a crash has cut off, and those whose traces have to be cleared away."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress

from codeplane.core.errors import EditInDoubt, StateError, StateUnusable
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.mutation.apply import Carrier, Foreign, State, Stray
from codeplane.mutation.batch import Batch
from codeplane.mutation.directories import Directories, name_of
from codeplane.mutation.git_index import GitIndex
from codeplane.mutation.inspect import look
from codeplane.mutation.journal import Entry, Journal
from codeplane.mutation.prepared import Recovered, changes_of
from codeplane.storage.disk import Disk
from codeplane.storage.objects import ObjectStore
from codeplane.working_tree import WorkingTree


class Recovery:
    """The journal and what is known of its entries."""

    def __init__(
        self, tree: WorkingTree, journal: Journal, store: ObjectStore, index: GitIndex, disk: Disk
    ) -> None:
        self._tree = tree
        self._journal = journal
        self._store = store
        self._index = index
        self._disk = disk
        self._lock = threading.Lock()
        self._open: dict[OperationId, Batch] = {}  # entries that the journal has to keep
        self._done: list[Batch] = []  # cleared away, but perhaps not on the disk
        self._doubtful: dict[OperationId, frozenset[str]] = {}  # and the paths that are closed meanwhile
        self._has_run = False
        self._problem: str | None = None  # why what was cut off is not known

    @property
    def unsettled(self) -> int:
        return len(self._done)

    def begin(self, batch: Batch) -> None:
        assert self._has_run, "BUG: nothing is written before what was cut off is settled"
        if self._problem is not None:
            raise StateUnusable(f"Edits are disabled until the next start: {self._problem}")
        with self._lock:
            self._open[batch.operation] = batch
        try:
            self._journal.begin(batch)
        except BaseException:
            # A line that got to the disk all the same names no file that is there.
            self.finished(batch)
            raise

    def finished(self, batch: Batch) -> None:
        """The batch has ended, one way or the other, and has left no temporary file."""
        with self._lock:
            del self._open[batch.operation]
            self._done.append(batch)

    @property
    def has_doubts(self) -> bool:
        """Whether some batch is closed until the next start."""
        with self._lock:
            return bool(self._doubtful)

    def doubt(self, batch: Batch) -> None:
        with self._lock:
            self._doubtful[batch.operation] = batch.exclusive()

    def check_doubt(self, batch: Batch) -> None:
        """Files of a batch that could not be taken back, or has no row yet, wait for the next start."""
        with self._lock:
            paths = sorted(batch.exclusive() & frozenset().union(*self._doubtful.values()))
        if paths:
            raise EditInDoubt(
                f"{shown(paths[0])} is in an unknown state after a failed or interrupted edit.",
                hints=["Restart the server: it completes or rolls back the edit."],
                files=[shown(path) for path in paths],
            )

    def run(self, recorded: Callable[[OperationId], bool]) -> list[Recovered]:
        """Goes through the journal as a start finds it."""
        self._has_run = True
        try:
            entries = self._journal.entries()
        except StateError as error:
            self._problem = error.message
            raise
        outcomes: list[Recovered] = []
        for entry in entries:
            with self._lock:
                self._open[entry.batch.operation] = entry.batch
            result = self._settle_entry(entry, recorded)
            if result is not None:
                # Until it is written down, an edit of the same files would make it look like another one.
                self.doubt(entry.batch)
                outcomes.append(result)
        with suppress(OSError, StateError):
            self._store.sweep()
            self.settle()
        return outcomes

    def forget(self, operation: OperationId) -> None:
        """The row is written: the old contents belong to the store now."""
        batch = self._open.get(operation)
        if batch is None:
            return
        self._journal.mark(operation, "recorded", durable=False)
        self._clear_batch(batch)
        with self._lock:
            self._doubtful.pop(operation, None)
        with suppress(OSError, StateError):
            self.settle()

    def settle(self) -> None:
        """Empties the journal, once all that it tells of is on the disk."""
        with self._lock:
            batches, self._done = self._done, []
            if self._open or self._problem or not (batches or self._journal.has_content()):
                self._done = batches
                return
            try:
                self._store.sync()
                with Directories(os.fspath(self._tree.jail.root)) as directories:
                    self._sync_batches(batches, directories)
                if any(batch.index is not None for batch in batches):
                    self._index.sync()
                self._journal.clear()
            except OSError:
                self._done = batches
                raise

    def _sync_batches(self, done: list[Batch], directories: Directories) -> None:
        for path in sorted(
            {path for batch in done for path in self._make_carrier(batch, directories).touched()}
        ):
            try:
                fd = directories.at(path)
            except OSError:
                continue  # it has been removed since, and its names with it
            self._disk.sync(fd)

    def _settle_entry(self, entry: Entry, recorded: Callable[[OperationId], bool]) -> Recovered | None:
        batch = entry.batch
        try:
            if not {"recorded", "aborted"}.isdisjoint(entry.marks) or recorded(batch.operation):
                # Done, or taken back for good: other batches may have followed, so only the traces go.
                self._clear_batch(batch)
                return None
            if batch.is_announcement:
                return Recovered(batch.operation, batch.note, "cut_off", ())
            with Directories(os.fspath(self._tree.jail.root)) as directories:
                carrier = self._make_carrier(batch, directories)
                if "undone" in entry.marks:
                    carrier.discard(self._store)
                    return Recovered(batch.operation, batch.note, "undone", ())
                return self._resume_entry(entry, carrier, directories)
        except (OSError, StateError):
            self.doubt(batch)
            return Recovered(batch.operation, batch.note, "doubtful", ())

    def _resume_entry(self, entry: Entry, carrier: Carrier, directories: Directories) -> Recovered:
        batch, states = entry.batch, carrier.states()
        is_made = all(state is State.AFTER for state in states.values())
        if not is_made and entry.is_of_this_boot and "staged" not in entry.marks:
            # The tree had not been touched: a new file with our very bytes is somebody else's.
            return self._report_rollback(batch, carrier, untouched=True)
        if State.FOREIGN in states.values() or State.UNREADY in states.values():
            return self._report_rollback(batch, carrier)
        try:
            carrier.resume(states)
        except (Foreign, Stray):
            return self._report_rollback(batch, carrier)
        return self._finish_batch(batch, directories)

    def _finish_batch(self, batch: Batch, directories: Directories) -> Recovered:
        is_renamed = batch.index is not None and self._index.forward(batch.index)
        modes = {}
        for step in batch.steps:
            if step.after is not None:
                stat = look(directories.at(step.parent), name_of(step.path), self._tree.largest)
                modes[step.path] = stat.mode if stat else 0
        changes = changes_of(batch, modes, is_renamed=is_renamed)
        return Recovered(batch.operation, batch.note, "finished", changes)

    def _roll_back(self, batch: Batch, carrier: Carrier) -> list[RepoPath]:
        if batch.index is not None:
            self._index.back(batch.index)
        return carrier.back()

    def _report_rollback(self, batch: Batch, carrier: Carrier, *, untouched: bool = False) -> Recovered:
        left = [] if untouched else self._roll_back(batch, carrier)
        carrier.sync()
        self._journal.mark(batch.operation, "undone", durable=True)
        carrier.discard(self._store)
        return Recovered(batch.operation, batch.note, "undone", (), tuple(left))

    def _clear_batch(self, batch: Batch) -> None:
        with Directories(os.fspath(self._tree.jail.root)) as directories:
            carrier = self._make_carrier(batch, directories)
            carrier.discard(self._store)
            carrier.leave_no_empty_homes()
        if batch.index is not None:
            self._index.clear(batch.index)
        self.finished(batch)

    def _make_carrier(self, batch: Batch, directories: Directories) -> Carrier:
        return Carrier(batch, directories, self._disk, self._tree.largest)
