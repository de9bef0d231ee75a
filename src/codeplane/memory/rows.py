"""The tables of memories and of their changelog in `state.db`."""

import json
from typing import Final

from pydantic import ValidationError

from codeplane.core.documents import decode_json
from codeplane.core.ids import MemoryId
from codeplane.memory.records import MemoryChange, MemoryContent, MemoryRecord, MemoryState
from codeplane.storage.database import Connection

MOST_MEMORIES: Final = 5_000
OVERRIDE_PREFIX: Final = "override:"
_MOST_CHANGES: Final = 50_000
_LONGEST_REASON: Final = 500
_COLUMNS: Final = "id, state, count, body, made_ms, changed_ms, trace, source"


def read_version(connection: Connection) -> int:
    """A number that grows with every change of a memory, whoever makes it."""
    [(version,)] = connection.execute("SELECT coalesce(max(number), 0) FROM memory_change").fetchall()
    return int(version)


def read_records(connection: Connection, where: str = "1", *values: object) -> list[MemoryRecord]:
    """Memories in the order in which they were made; one that cannot be read is passed over."""
    query = f"SELECT {_COLUMNS} FROM memory WHERE {where} ORDER BY made_ms, id"  # noqa: S608 - no outside text
    records = (_decode_row(*row) for row in connection.execute(query, values))
    return [record for record in records if record is not None]


def find_record(connection: Connection, memory_id: str) -> MemoryRecord | None:
    """The memory of an id."""
    return next(iter(read_records(connection, "id = ?", memory_id)), None)


def find_by_key(connection: Connection, key: str) -> MemoryRecord | None:
    """The memory that holds a key."""
    return next(iter(read_records(connection, "dedupe_key = ?", key)), None)


def override_sources(connection: Connection) -> dict[str, tuple[str, str]]:
    """Id and file of each memory that came from an override file, by its key."""
    cursor = connection.execute(
        "SELECT dedupe_key, id, source FROM memory WHERE dedupe_key >= ? AND dedupe_key < ?",
        (OVERRIDE_PREFIX, f"{OVERRIDE_PREFIX}g"),
    )
    return {key: (memory_id, source) for key, memory_id, source in cursor}


def insert_record(connection: Connection, record: MemoryRecord, key: str) -> None:
    """Adds a memory under a key that is free."""
    connection.execute(
        "INSERT INTO memory"
        " (id, state, enforcement, dedupe_key, count, body, made_ms, changed_ms, trace, source)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            record.id,
            record.state.value,
            record.enforcement.value,
            key,
            record.count,
            _encode_content(record.content),
            record.created_ms,
            record.updated_ms,
            record.trace_ref,
            record.source,
        ),
    )


def write_state(connection: Connection, memory_id: MemoryId, state: MemoryState, at_ms: int) -> None:
    """Brings a memory to a state."""
    connection.execute(
        "UPDATE memory SET state = ?, changed_ms = ? WHERE id = ?", (state.value, at_ms, memory_id)
    )


def write_content(connection: Connection, memory_id: MemoryId, content: MemoryContent) -> None:
    """Replaces what a memory says."""
    connection.execute("UPDATE memory SET body = ? WHERE id = ?", (_encode_content(content), memory_id))


def add_count(connection: Connection, memory_id: MemoryId, amount: int) -> None:
    """Counts further rejections that speak for a memory."""
    connection.execute("UPDATE memory SET count = count + ? WHERE id = ?", (amount, memory_id))


def release_key(connection: Connection, memory_id: MemoryId) -> None:
    """Lets another memory be made of what this one was made of."""
    connection.execute("UPDATE memory SET dedupe_key = id WHERE id = ?", (memory_id,))


def make_room(connection: Connection) -> bool:
    """Deletes the oldest memory that is over where the store is full; tells whether there is room for one."""
    [(number,)] = connection.execute("SELECT count(*) FROM memory").fetchall()
    if number < MOST_MEMORIES:
        return True
    deletion = connection.execute(
        "DELETE FROM memory WHERE id = (SELECT id FROM memory"
        " WHERE state IN ('expired', 'retired', 'rejected') ORDER BY changed_ms LIMIT 1)"
    )
    return deletion.rowcount > 0


def add_change(connection: Connection, change: MemoryChange) -> None:
    """Adds a line to the changelog; the oldest lines go when there are too many."""
    reason = change.reason[:_LONGEST_REASON].encode("utf-8", "backslashreplace").decode()
    cursor = connection.execute(
        "INSERT INTO memory_change (memory, event, old_state, new_state, actor, reason, at_ms)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (change.memory, change.event, change.old_state, change.new_state, change.actor, reason, change.at_ms),
    )
    connection.execute(
        "DELETE FROM memory_change WHERE number <= ?", ((cursor.lastrowid or 0) - _MOST_CHANGES,)
    )


def read_changes(connection: Connection, memory_id: str | None = None) -> list[MemoryChange]:
    """The changelog of one memory or of all, from its beginning."""
    cursor = connection.execute(
        "SELECT memory, event, old_state, new_state, actor, reason, at_ms FROM memory_change"
        " WHERE memory = ?1 OR ?1 IS NULL ORDER BY number",
        (memory_id,),
    )
    return [MemoryChange(*row) for row in cursor]


def _encode_content(content: MemoryContent) -> str:
    return json.dumps(content.to_dict())


def _decode_row(
    memory_id: str, state: str, count: int, body: str, made_ms: int, changed_ms: int, trace: str, source: str
) -> MemoryRecord | None:
    try:
        content = MemoryContent.model_validate(decode_json(body))
        return MemoryRecord(
            id=MemoryId(memory_id),
            state=MemoryState(state),
            content=content,
            count=count,
            created_ms=made_ms,
            updated_ms=changed_ms,
            trace_ref=trace,
            source=source,
        )
    except (ValueError, ValidationError):
        return None
