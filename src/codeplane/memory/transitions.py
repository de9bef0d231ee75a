"""Changes of memories with their lines in the changelog, inside one transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from codeplane.core.ids import MemoryId, new_memory_id
from codeplane.core.redaction import redact_text
from codeplane.memory import rows
from codeplane.memory.friction import FrictionLedger
from codeplane.memory.learning import Pattern
from codeplane.memory.lifecycle import FILES, LIVE, OVERRIDES, Transition
from codeplane.memory.records import MemoryChange, MemoryContent, MemoryRecord, MemoryState
from codeplane.storage.database import Connection

CONTROLLER = "controller"


def new_record(
    content: MemoryContent,
    state: MemoryState,
    now_ms: int,
    *,
    trace_ref: str,
    source: str = "",
    count: int = 1,
) -> MemoryRecord:
    """A memory that is made now, without secrets."""
    return MemoryRecord(
        id=new_memory_id(),
        state=state,
        content=_redact_content(content),
        count=count,
        created_ms=now_ms,
        updated_ms=now_ms,
        trace_ref=trace_ref,
        source=source,
    )


def _redact_content(content: MemoryContent) -> MemoryContent:
    values = content.to_dict()
    return MemoryContent.model_validate(_redact_texts(values) | {"digests": values.get("digests", {})})


def _redact_texts(value: Any) -> Any:
    """Plain data with its texts redacted, none of them longer than it was: their lengths are bounded."""
    if isinstance(value, str):
        return redact_text(value)[: len(value)]
    if isinstance(value, dict):
        return {key: _redact_texts(member) for key, member in value.items()}
    return [_redact_texts(member) for member in value] if isinstance(value, list) else value


def add_record(connection: Connection, record: MemoryRecord, key: str, *, actor: str, reason: str) -> None:
    """Adds a memory, and the line that it was made."""
    rows.insert_record(connection, record, key)
    change = MemoryChange(record.id, "created", None, record.state.value, actor, reason, record.created_ms)
    rows.add_change(connection, change)


def carry_out(connection: Connection, record: MemoryRecord, steps: Sequence[Transition]) -> None:
    """Brings a memory through transitions, with a line for each."""
    for step in steps:
        rows.write_state(connection, record.id, step.new_state, step.at_ms)
        line = ("state", record.state.value, step.new_state.value, step.actor, step.reason, step.at_ms)
        rows.add_change(connection, MemoryChange(record.id, *line))
        record = replace(record, state=step.new_state, updated_ms=step.at_ms)
    if record.state is MemoryState.EXPIRED and steps and not record.source:
        # Nobody has said that it is wrong: where the friction goes on, it may be proposed again.
        rows.release_key(connection, record.id)


def retire_stale(connection: Connection, memory_id: str, path: str, now_ms: int) -> None:
    """Retires a memory one of whose files has changed; a new one may be made of the same friction."""
    record = rows.find_record(connection, memory_id)
    if record is not None and record.state in LIVE:
        carry_out(connection, record, [Transition(MemoryState.RETIRED, now_ms, FILES, f"{path} has changed")])
        if not record.source:
            rows.release_key(connection, record.id)


def retire_overrides(connection: Connection, memory_ids: Iterable[str], now_ms: int) -> tuple[MemoryId, ...]:
    """Retires memories whose file no longer says them; the file may say them again."""
    retired_ids = []
    for memory_id in memory_ids:
        record = rows.find_record(connection, memory_id)
        if record is not None and record.state in LIVE:
            reason = f"{record.source} no longer says it"
            carry_out(connection, record, [Transition(MemoryState.RETIRED, now_ms, OVERRIDES, reason)])
            retired_ids.append(record.id)
        rows.release_key(connection, MemoryId(memory_id))
    return tuple(retired_ids)


def count_again(connection: Connection, record: MemoryRecord, pattern: Pattern, now_ms: int) -> None:
    """Counts further rejections for a memory that there is already, whatever its state."""
    rows.add_count(connection, record.id, pattern.count)
    FrictionLedger.link_entries(connection, pattern.entries, record.id)
    reason = f"{pattern.count} more rejections with {pattern.code} in {pattern.anchor}"
    change = MemoryChange(record.id, "counted", None, None, CONTROLLER, reason, now_ms)
    rows.add_change(connection, change)
