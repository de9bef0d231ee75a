"""The rows of a segment: what one holds, and the hash that ties it to all rows before it."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from codeplane.core.documents import decode_json
from codeplane.storage.database import Connection

Kind = Literal["head", "task", "operation", "event", "dropped", "seal"]

BEGINNING: Final = "0" * 64
"""What stands for the hash of the row before the first."""

_COLUMNS: Final = "number, kind, task, id, body, hash"


@dataclass(frozen=True)
class Entry:
    """What is to become a row."""

    kind: Kind
    body: Mapping[str, Any]
    task: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Row:
    """One row as it is on the disk. Values come from a file, so a hostile one may hold anything."""

    number: Any
    kind: Any
    task: Any
    id: Any
    text: Any
    hash: Any

    def follows(self, previous_hash: str) -> bool:
        return bool(
            self.hash == _hash_values(previous_hash, [self.number, self.kind, self.task, self.id, self.text])
        )

    def body(self) -> dict[str, Any]:
        """What the row says; nothing where it is not an object."""
        try:
            body = decode_json(self.text)
        except (TypeError, ValueError, RecursionError):
            return {}
        return body if isinstance(body, dict) else {}


def chained(entry: Entry, number: int, previous_hash: str) -> Row:
    """The row that an entry becomes behind another row."""
    # ASCII alone: a name that is not UTF-8 is escaped, and SQLite keeps what it is given.
    text = json.dumps(entry.body, sort_keys=True, separators=(",", ":"), allow_nan=False)
    row_hash = _hash_values(previous_hash, [number, entry.kind, entry.task, entry.id, text])
    return Row(number, entry.kind, entry.task, entry.id, text, row_hash)


def insert(connection: Connection, row: Row) -> None:
    connection.execute(
        f"INSERT INTO row ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        (row.number, row.kind, row.task, row.id, row.text, row.hash),
    )


def rows(
    connection: Connection, rest: str = "ORDER BY number", values: tuple[object, ...] = ()
) -> Iterator[Row]:
    """Rows of a segment; `rest` is what follows the name of the table."""
    # A hostile text may not be UTF-8; it is a wrong row then, not a failure to read.
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    for columns in connection.execute(f"SELECT {_COLUMNS} FROM row {rest}", values):
        yield Row(*columns)


def last_row(connection: Connection) -> Row | None:
    return next(rows(connection, "ORDER BY number DESC LIMIT 1"), None)


def _hash_values(previous_hash: str, values: list[Any]) -> str:
    text = json.dumps(values, separators=(",", ":"), default=repr)
    return hashlib.sha256(f"{previous_hash}\n{text}".encode()).hexdigest()
