"""The one store of plans. It knows rows, not meanings: whoever makes a kind of plan also reads it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.core.errors import PlanGone, StateUnusable
from codeplane.core.ids import PlanId
from codeplane.core.paths import Digest
from codeplane.storage.database import Connection, Database

MOST_PLANS: Final = 100
MOST_BYTES: Final = 64 << 20  # of all plans together


@dataclass(frozen=True)
class PlanRow:
    """One plan as it is kept."""

    id: PlanId
    kind: str  # who can read the body
    version: str  # of the program that wrote it
    body: str
    made_ms: int
    expires_ms: int
    parent: PlanId | None = None  # the plan whose open places this one has
    contents: Mapping[Digest, bytes] = field(default_factory=dict)  # that the body names

    @property
    def digest(self) -> str:
        """Of everything that is read back; the contents have digests of their own."""
        fields = "\0".join((self.id, self.kind, self.version, self.body, str(self.expires_ms)))
        return hashlib.sha256(fields.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def size(self) -> int:
        return len(self.body) + sum(map(len, self.contents.values()))


class PlanStore:
    """Rows by id. The oldest go when there are too many, or when all of them take too much room."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save(self, row: PlanRow) -> None:
        """Puts a plan in the place of the one with its id, and drops what is too old or too much."""
        if row.size > MOST_BYTES:
            raise StateUnusable(
                f"The plan takes {row.size >> 20} MB; at most {MOST_BYTES >> 20} MB of plans are kept.",
                path=str(self._database.path),
            )
        with self._database.write() as connection:
            _drop_plan(connection, row.id)
            connection.execute(
                "INSERT INTO plan (id, kind, version, parent, body, digest, size, made_ms, expires_ms)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    row.id, row.kind, row.version, row.parent, row.body, row.digest, row.size,
                    row.made_ms, row.expires_ms,
                ),
            )  # fmt: skip
            connection.executemany(
                "INSERT INTO plan_content (plan, digest, data) VALUES (?, ?, ?)",
                ((row.id, digest, data) for digest, data in row.contents.items()),
            )
            _collect_garbage(connection, row.made_ms)

    def find(self, plan_id: str) -> PlanRow | None:
        """The plan of an id, expired or not; an error where its row is not as it was written."""
        with self._database.read() as connection:
            record = connection.execute(
                "SELECT id, kind, version, body, made_ms, expires_ms, parent, digest FROM plan WHERE id = ?",
                (plan_id,),
            ).fetchone()
            if record is None:
                return None
            contents = dict(
                connection.execute("SELECT digest, data FROM plan_content WHERE plan = ?", (plan_id,))
            )
        *columns, digest = record
        row = replace(PlanRow(*columns), contents=contents)
        if not _is_sound(row, digest):
            raise PlanGone(
                f"The plan {plan_id[:40]} cannot be read back: its row in {self._database.path} is damaged.",
                hints=["Request the refactoring again."],
                plan=plan_id[:40],
            )
        return row

    def holds(self, plan_id: str, digest: str) -> bool:
        """Whether the row of a plan is still the one of that digest."""
        with self._database.read() as connection:
            record = connection.execute("SELECT digest FROM plan WHERE id = ?", (plan_id,)).fetchone()
        return bool(record == (digest,))

    def drop(self, plan_id: str) -> None:
        with self._database.write() as connection:
            _drop_plan(connection, plan_id)


def _is_sound(row: PlanRow, digest: object) -> bool:
    texts = (row.id, row.kind, row.version, row.body)
    return (
        all(isinstance(text, str) for text in texts)
        and isinstance(row.expires_ms, int)
        and row.digest == digest
        and all(_is_content(one, data) for one, data in row.contents.items())
    )


def _is_content(digest: object, data: object) -> bool:
    return isinstance(data, bytes) and hashlib.sha256(data).hexdigest() == digest


def _drop_plan(connection: Connection, plan_id: str) -> None:
    connection.execute("DELETE FROM plan WHERE id = ?", (plan_id,))
    connection.execute("DELETE FROM plan_content WHERE plan = ?", (plan_id,))


def _collect_garbage(connection: Connection, now_ms: int) -> None:
    connection.execute("DELETE FROM plan WHERE expires_ms < ?", (now_ms,))
    connection.execute(
        "DELETE FROM plan WHERE id IN (SELECT id FROM (SELECT id,"
        " SUM(size) OVER (ORDER BY made_ms DESC, rowid DESC) AS bytes,"
        " ROW_NUMBER() OVER (ORDER BY made_ms DESC, rowid DESC) AS place"
        " FROM plan) WHERE bytes > ? OR place > ?)",
        (MOST_BYTES, MOST_PLANS),
    )
    connection.execute("DELETE FROM plan_content WHERE plan NOT IN (SELECT id FROM plan)")
