"""The evidence of a run in `state.db`; turns write it when they are saved."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.controller.evidence.record import Category, EvidenceRecord
from codeplane.storage.database import Database

_SELECT: Final = (
    "SELECT handle, category, source, first_line, last_line, digest, quote FROM controller_evidence"
    " WHERE work_id = ?"
)


@dataclass(frozen=True)
class EvidenceStore:
    """Evidence of one run; another run's handles mean nothing here."""

    database: Callable[[], Database]
    work_id: str

    def find_record(self, handle: str) -> EvidenceRecord | None:
        """The evidence with a handle of this run."""
        return next(iter(self._select(f"{_SELECT} AND handle = ?", handle)), None)

    def list_records(self) -> Sequence[EvidenceRecord]:
        """All evidence of the run, oldest first."""
        return self._select(f"{_SELECT} ORDER BY made_ms, rowid")

    def _select(self, query: str, *values: str) -> list[EvidenceRecord]:
        with self.database().read() as connection:
            rows = connection.execute(query, (self.work_id, *values)).fetchall()
        return [EvidenceRecord(row[0], Category(row[1]), *row[2:]) for row in rows]
