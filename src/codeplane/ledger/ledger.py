"""`Ledger`: the record of what was done, written by one server and only ever added to."""

import stat
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from codeplane.config.settings import LedgerSettings
from codeplane.core.errors import (
    IndexCorrupt,
    IndexFailure,
    InternalError,
    LedgerDamaged,
    ServerStopping,
    StateError,
)
from codeplane.ledger.chain import Entry, chained, insert, last_row
from codeplane.ledger.history import History, tasks_of
from codeplane.ledger.retention import drop_old
from codeplane.ledger.rows import Operation
from codeplane.ledger.segments import (
    Segment,
    ask,
    ends,
    faults,
    make,
    move_aside,
    open_to_append,
    publish_draft,
    segment,
    segments,
    set_aside,
)
from codeplane.ledger.verify import verify
from codeplane.storage.database import Connection, Database, delete_database
from codeplane.storage.files import private_dir, sync_dir, unusable

# All rows of the last segment are looked at when a server starts, so it is not large.
SEGMENT_BYTES: Final = 1_048_576
SEGMENT_SEC: Final = 86_400
# Numbers go on here, for each segment higher, where nobody knows how far the one before had got.
_AFTER_DAMAGE: Final = 1_000_000


class Ledger(History):
    """The open ledger. Everything that is recorded is on the disk when the call returns.

    Nothing is made before the first row: a repository that is only read has no ledger.
    """

    def __init__(
        self, directory: Path, settings: LedgerSettings, *, segment_bytes: int, segment_sec: float
    ) -> None:
        super().__init__(directory, self._found_damaged)
        self._settings = settings
        self._segment_bytes = segment_bytes
        self._segment_sec = segment_sec
        self._guard = threading.RLock()
        self._current: tuple[Segment, Database] | None = None
        self._began_ms = 0
        self._highest = 0
        self._is_closed = False
        self._ids: set[str] | None = None

    @classmethod
    def open(
        cls,
        directory: Path,
        settings: LedgerSettings,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        segment_sec: float = SEGMENT_SEC,
    ) -> "Ledger":
        """Takes the ledger up where it ends. The caller holds the server's lock."""
        ledger = cls(directory, settings, segment_bytes=segment_bytes, segment_sec=segment_sec)
        try:
            ledger._take_up()
        except OSError as error:
            raise unusable(directory, error) from error
        return ledger

    def close(self) -> None:
        with self._guard:
            self._is_closed = True
            self._let_go()

    def record(self, operation: Operation) -> int:
        """Adds an operation; returns its number. One that is on record already is refused."""
        return self.append([operation_entry(operation)])

    def append(self, entries: Sequence[Entry]) -> int:
        """Adds rows, all of them or none; returns the number of the last."""
        with self._guard:
            if self._is_closed:
                raise ServerStopping("The ledger has been closed.")
            self._refuse_known(entries)
            try:
                number = self._append_entries(entries)
            except (IndexCorrupt, LedgerDamaged) as error:
                if self._current is None:
                    raise LedgerDamaged(error.message) from error
                self._leave_aside(self._current[0], error.message)
                number = self._append_entries(entries)
            except OSError as error:
                raise unusable(self.directory, error) from error
            self._known_ids().update(entry.id for entry in entries if entry.id is not None)
            return number

    def tidy(self) -> None:
        """Drops what is too old or too much."""
        with self._guard:
            if not self._is_closed:
                self._drop_old()

    def verify(self) -> list[str]:
        """What is wrong with the chain of rows, each with its segment and row."""
        return verify(self.directory)

    def _append_entries(self, entries: Sequence[Entry]) -> int:
        return self._write_entries(self._current_segment(), entries)

    def _write_entries(self, database: Database, entries: Sequence[Entry]) -> int:
        with database.write() as connection:
            last = last_row(connection)
            if last is None:
                raise IndexCorrupt(f"{database.path.name} has no rows.")
            for entry in entries:
                last = chained(entry, last.number + 1, last.hash)
                insert(connection, last)
        return int(last.number)

    def _current_segment(self) -> Database:
        """The segment to write to: begun, or turned to, where there is none or it is full or old."""
        if self._current is None:
            self._go_on()
        elif self._is_full():
            self._turn_segment(self._current[1])
            self._drop_old()
        if self._current is None:
            self._begin_segment()
        assert self._current is not None, "BUG: there is no segment"
        return self._current[1]

    def _let_go(self) -> None:
        if self._current is not None:
            self._current[1].close()
            self._current = None

    def _is_full(self) -> bool:
        assert self._current is not None, "BUG: there is no segment"
        with self._current[1].read() as connection:
            [pages] = connection.execute("PRAGMA page_count").fetchone()
            [size] = connection.execute("PRAGMA page_size").fetchone()
        age = time.time() - self._began_ms / 1000
        return bool(pages * size >= self._segment_bytes or age >= self._segment_sec)

    def _begin_segment(self) -> None:
        """The first segment, or one after segments of which nobody knows how they end."""
        if not self.directory.exists():
            private_dir(self.directory)
            sync_dir(self.directory.parent)
        file = segment(self.directory, self._highest + 1)
        number = 1 if file.index == 1 else file.index * _AFTER_DAMAGE + 1
        make(file, number, None, {"created_ms": _now_ms()})
        self._open_segment(file)

    def _turn_segment(self, database: Database) -> None:
        """Ends a segment and begins the next. Killed in between, the draft of the next is there."""
        following = segment(self.directory, self._highest + 1)
        with database.read() as connection:
            last = last_row(connection)
            entries = [task.event("carried") for task in tasks_of(connection) if task.state == "OPEN"]
        assert last is not None, "BUG: a segment without rows was opened"
        seal = chained(
            Entry("seal", {"next": following.index, "sealed_ms": _now_ms()}), last.number + 1, last.hash
        )
        head = {"created_ms": _now_ms(), "previous_number": seal.number}
        make(following, seal.number + 1, seal.hash, head, entries)
        with database.write() as connection:
            insert(connection, seal)
        self._let_go()
        self._open_segment(following)

    def _open_segment(self, made: Segment) -> None:
        publish_draft(made)
        self._highest = made.index
        self._use_segment(made)

    def _use_segment(self, current: Segment) -> None:
        first, _ = ask(current, ends)
        start_ms = first.body().get("created_ms")
        self._began_ms = start_ms if isinstance(start_ms, int) else 0
        self._current = current, open_to_append(current)

    def _drop_old(self) -> None:
        if self._current is None:
            return
        _, database = self._current
        try:
            drop_old(self.directory, self._settings, lambda entries: self._write_entries(database, entries))
        except (StateError, IndexFailure) as error:
            self.note(f"Ledger: nothing old could be dropped. {error.message}")

    def _take_up(self) -> None:
        try:
            stat_result = self.directory.lstat()
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(stat_result.st_mode):
            self.note(f"Ledger: {self.directory} was not a directory and was set aside.")
            self.directory.rename(_free_name(self.directory))
            return
        private_dir(self.directory)
        indexes = {one.index for one in [*segments(self.directory), *set_aside(self.directory)]}
        self._highest = max(indexes, default=0)
        self._check_segments()
        self._go_on()
        for draft in self.directory.glob("*.new"):
            delete_database(draft)

    def _check_segments(self) -> None:
        """Sets the last segments aside while they are not sound, for more rows will be tied to the last.

        An older one is looked at when it is asked.
        """
        for one in reversed(segments(self.directory)):
            try:
                wrong = ask(one, _all_faults)
            except LedgerDamaged as error:
                self._leave_aside(one, error.message)
                continue
            if not wrong:
                return
            self._leave_aside(one, f"{one.name} of the ledger is damaged: {wrong[0]}.")

    def _go_on(self) -> None:
        """Takes up the last segment, or the draft of the next where a server ended while it turned."""
        entries = segments(self.directory)
        if not entries:
            return
        last = entries[-1]
        _, end = ask(last, ends)
        if end.kind != "seal":
            if last.index == self._highest:
                self._use_segment(last)
            return
        following = segment(self.directory, int(end.body().get("next", last.index + 1)))
        self._highest = max(self._highest, following.index)
        # Where there is no draft, the next was set aside or is gone; the check of the chain says which.
        if following.draft.exists() and self._is_next(following, end.hash):
            self._open_segment(following)

    def _is_next(self, following: Segment, last_hash: str) -> bool:
        try:
            first, _ = ask(Segment(following.index, following.draft), ends)
        except LedgerDamaged as error:
            self.note(f"Ledger: {error.message}")
            return False
        return bool(first.body().get("previous_hash") == last_hash)

    def _found_damaged(self, damaged: Segment, problem: str) -> None:
        """A question was not answered; whether the segment is to blame is looked at before it goes."""
        with self._guard:
            try:
                wrong = bool(ask(damaged, _all_faults))
            except FileNotFoundError:
                return
            except LedgerDamaged:
                wrong = True
            if wrong:
                self._leave_aside(damaged, problem)

    def _leave_aside(self, damaged: Segment, problem: str) -> None:
        if self._current is not None and self._current[0] == damaged:
            self._let_go()
        move_aside(damaged)
        self.note(f"Ledger: {problem}")

    def _refuse_known(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.id is not None and entry.id in self._known_ids():
                raise InternalError(f"Operation {entry.id} is in the ledger already.", operation_id=entry.id)

    def _known_ids(self) -> set[str]:
        if self._ids is None:
            matches = self._ask_segments(
                lambda c: c.execute("SELECT id FROM row WHERE id IS NOT NULL").fetchall()
            )
            self._ids = {str(identifier) for _, some in matches for (identifier,) in some}
        return self._ids


def operation_entry(operation: Operation) -> Entry:
    """The row of an operation."""
    return Entry("operation", operation.body(), task=operation.task_id, id=operation.operation_id)


def _all_faults(connection: Connection) -> list[str]:
    return list(faults(connection))


def _now_ms() -> int:
    return int(time.time() * 1000)


def _free_name(path: Path) -> Path:
    number = 1
    while (free := path.with_name(f"{path.name}.damaged-{number}")).is_symlink() or free.exists():
        number += 1
    return free
