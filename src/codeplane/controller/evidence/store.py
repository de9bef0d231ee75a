"""The evidence of a run in `state.db`."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from codeplane.controller.evidence.record import Category, EvidenceRecord, make_handle
from codeplane.storage.database import Database

_COLUMNS = "handle, category, source, first_line, last_line, digest, quote"
_LONGEST_QUOTE = 2_000


@dataclass(frozen=True)
class EvidenceStore:
    """Evidence of one run; another run's handles mean nothing here."""

    database: Callable[[], Database]
    work_id: str
    clock: Callable[[], float] = time.time

    def add_record(
        self, category: Category, source: str, lines: tuple[int, int], digest: str, quote: str = ""
    ) -> EvidenceRecord:
        """Keeps a piece of evidence, and gives it its handle."""
        first, last = lines
        handle = make_handle(self.work_id, source, first, last, digest)
        record = EvidenceRecord(handle, category, source, first, last, digest, quote[:_LONGEST_QUOTE])
        with self.database().write() as connection:
            connection.execute(
                f"INSERT OR IGNORE INTO controller_evidence (work_id, made_ms, {_COLUMNS})"  # noqa: S608 - constant
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (self.work_id, int(self.clock() * 1000), *record),
            )
        return record

    def find_record(self, handle: str) -> EvidenceRecord | None:
        """The evidence with a handle of this run."""
        return next(iter(self._select("AND handle = ?", handle)), None)

    def list_records(self) -> Sequence[EvidenceRecord]:
        """All evidence of the run, oldest first."""
        return self._select("ORDER BY made_ms, rowid")

    def _select(self, condition: str, *values: str) -> list[EvidenceRecord]:
        with self.database().read() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM controller_evidence WHERE work_id = ? {condition}",  # noqa: S608 - constant
                (self.work_id, *values),
            ).fetchall()
        return [EvidenceRecord(row[0], Category(row[1]), *row[2:]) for row in rows]
