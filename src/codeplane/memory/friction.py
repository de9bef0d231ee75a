"""The friction ledger: every rejection, whether it was resolved, and what was accepted in its place."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.config.settings import MemorySettings
from codeplane.core.documents import Malformed, decode_json
from codeplane.core.redaction import redact_value
from codeplane.memory.learning import Example, Pattern, node_file, node_id
from codeplane.memory.records import ROOT_ANCHOR, Phase, Trigger, format_moment
from codeplane.storage.database import Connection, Database

_LONGEST_TEXT: Final = 600
_MOST_MEMBERS: Final = 20
_DEEPEST: Final = 6
_COLUMNS: Final = "number, work_id, trigger, code, anchor, strategy, memory, is_resolved, body, at_ms"
# Patterns are made of this many entries at most: what counts is that something recurs.
_MOST_ENTRIES: Final = 500


@dataclass(frozen=True, kw_only=True)
class FrictionEvent:
    """One rejection: its codes, where it happened, and the node of the plan that was refused."""

    work_id: str
    codes: tuple[str, ...]
    session_id: str = ""
    strategy: str = ""
    anchors: tuple[str, ...] = ()  # the most specific first
    trigger: Trigger = Trigger.REJECTION_PATTERN
    phase: Phase = Phase.PLANNING
    node: Mapping[str, Any] | None = None
    field: str = ""
    message: str = ""
    verb: str = ""


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """What was accepted after rejections: the nodes of the plan, and the digests of their files.

    Only friction of the same verb is resolved by it, where a verb is named.
    """

    work_id: str
    verb: str = ""
    nodes: Sequence[Mapping[str, Any]] = ()
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class FrictionEntry:
    """One row of the ledger."""

    number: int
    work_id: str
    trigger: str
    code: str
    anchor: str
    strategy: str
    memory: str | None
    is_resolved: bool
    body: Mapping[str, Any]
    at_ms: int

    @property
    def signature(self) -> tuple[str, str, str]:
        """What equal rejections have in common."""
        return self.code, self.anchor, self.strategy

    def to_dict(self) -> dict[str, Any]:
        """The entry with camelCase keys, as it is exported."""
        return {
            "ts": format_moment(self.at_ms),
            "trigger": self.trigger,
            "rejectionCodes": [self.code],
            "domainAnchorIds": list(self.body.get("anchors") or [self.anchor]),
            **({"memoryId": self.memory} if self.memory else {}),
            "rejectionCount": self.body.get("count", 1),
            "resolved": self.is_resolved,
            "strategyId": self.strategy,
            "sessionId": self.body.get("session", ""),
            "workId": self.work_id,
        }


class FrictionLedger:
    """The last rejections in `state.db`; older ones go when there are more than the settings allow."""

    def __init__(
        self, database: Callable[[], Database], settings: MemorySettings, clock: Callable[[], int]
    ) -> None:
        self._database = database
        self._settings = settings
        self._clock = clock

    def record_event(self, event: FrictionEvent) -> int:
        """Adds an entry for each code; returns the largest number of equal rejections so far."""
        if not self._settings.enable_friction_ledger or not event.codes:
            return 0
        with self._database().write() as connection:
            counts = [self._add_entry(connection, event, code) for code in dict.fromkeys(event.codes)]
            [(newest,)] = connection.execute("SELECT max(number) FROM friction").fetchall()
            oldest = newest - self._settings.friction_ledger_max_entries
            connection.execute("DELETE FROM friction WHERE number <= ?", (oldest,))
        return max(counts)

    def _add_entry(self, connection: Connection, event: FrictionEvent, code: str) -> int:
        anchors = tuple(map(_plain_text, event.anchors)) or (ROOT_ANCHOR,)
        signature = (_plain_text(code), anchors[0], _plain_text(event.strategy))
        [(count,)] = connection.execute(
            "SELECT count(*) FROM friction WHERE code = ? AND anchor = ? AND strategy = ?", signature
        ).fetchall()
        body = {
            "anchors": anchors,
            "count": count + 1,
            "session": event.session_id,
            "phase": event.phase.value,
            "field": event.field,
            "message": event.message,
            "verb": event.verb,
            "before": event.node,
        }
        connection.execute(
            "INSERT INTO friction (work_id, trigger, code, anchor, strategy, is_resolved, body, at_ms)"
            " VALUES (?, ?, ?, ?, ?, 0, ?, ?)",
            (_plain_text(event.work_id), event.trigger.value, *signature, _encode_body(body), self._clock()),
        )
        return int(count) + 1

    def resolve_entries(self, resolution: Resolution) -> list[Pattern]:
        """Marks a run's open friction as resolved; returns the patterns that it belongs to."""
        with self._database().write() as connection:
            entries = [
                entry
                for entry in _read_entries(connection, "work_id = ? AND is_resolved = 0", resolution.work_id)
                if resolution.verb in ("", entry.body.get("verb"))
            ]
            for entry in entries:
                accepted_node = _match_node(entry.body.get("before"), resolution.nodes)
                body = {**entry.body, "after": accepted_node}
                connection.execute(
                    "UPDATE friction SET is_resolved = 1, body = ? WHERE number = ?",
                    (_encode_body(body), entry.number),
                )
            signatures = dict.fromkeys(entry.signature for entry in entries)
            return [_read_pattern(connection, signature) for signature in signatures]

    def resolved_patterns(self, work_id: str) -> list[Pattern]:
        """Resolved patterns without a memory, of every folder, whose code and strategy a run has met."""
        with self._database().read() as connection:
            pairs = connection.execute(
                "SELECT DISTINCT code, strategy FROM friction WHERE work_id = ? AND is_resolved = 1",
                (work_id,),
            ).fetchall()
            signatures = [
                (code, anchor, strategy)
                for code, strategy in pairs
                for (anchor,) in connection.execute(
                    "SELECT DISTINCT anchor FROM friction WHERE code = ? AND strategy = ?"
                    " AND is_resolved = 1 AND memory IS NULL",
                    (code, strategy),
                ).fetchall()
            ]
            return [_read_pattern(connection, signature) for signature in signatures]

    def list_entries(self, work_id: str | None = None) -> list[FrictionEntry]:
        """Entries of one run or of all, from the oldest."""
        with self._database().read() as connection:
            if work_id is None:
                return _read_entries(connection, "1")
            return _read_entries(connection, "work_id = ?", work_id)

    @staticmethod
    def link_entries(connection: Connection, numbers: Iterable[int], memory_id: str) -> None:
        """Says which memory entries have gone into, so that they count once."""
        connection.executemany(
            "UPDATE friction SET memory = ? WHERE number = ?", [(memory_id, number) for number in numbers]
        )


def _read_entries(connection: Connection, where: str, *values: object) -> list[FrictionEntry]:
    query = f"SELECT {_COLUMNS} FROM friction WHERE {where} ORDER BY number"  # noqa: S608 - no outside text
    return [_decode_entry(*row) for row in connection.execute(query, values)]


def _decode_entry(
    number: int,
    work_id: str,
    trigger: str,
    code: str,
    anchor: str,
    strategy: str,
    memory: str | None,
    is_resolved: int,
    body: str,
    at_ms: int,
) -> FrictionEntry:
    values = _decode_body(body)
    return FrictionEntry(
        number, work_id, trigger, code, anchor, strategy, memory, bool(is_resolved), values, at_ms
    )


def _read_pattern(connection: Connection, signature: tuple[str, str, str]) -> Pattern:
    entries = _read_entries(
        connection,
        "number IN (SELECT number FROM friction WHERE code = ? AND anchor = ? AND strategy = ?"
        " AND is_resolved = 1 AND memory IS NULL ORDER BY number DESC LIMIT ?)",
        *signature,
        _MOST_ENTRIES,
    )
    examples = [example for entry in entries if (example := _read_example(entry)) is not None]
    last = entries[-1] if entries else None
    return Pattern(
        *signature,
        entries=tuple(entry.number for entry in entries),
        example=examples[-1] if examples else None,
        phase=Phase(last.body.get("phase", Phase.PLANNING)) if last is not None else Phase.PLANNING,
        trace_ref=last.work_id if last is not None else "",
    )


def _read_example(entry: FrictionEntry) -> Example | None:
    """The pair of a refused and an accepted node; None where there is no pair, or nothing differs."""
    before, after = entry.body.get("before"), entry.body.get("after")
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return None
    example = Example.of_nodes(before, after, str(entry.body.get("message") or ""))
    return example if example.before != example.after else None


def _match_node(before: object, nodes: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The accepted node that stands for a refused one: of the same id, else of the same file."""
    if not isinstance(before, Mapping):
        return None
    for identity in (node_id, node_file):
        name = identity(before)
        for node in nodes:
            if name and identity(node) == name and _kinds_agree(before, node):
                return node
    return None


def _kinds_agree(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return bool(before.get("kind", after.get("kind")) == after.get("kind", before.get("kind")))


def _plain_text(text: str) -> str:
    """A text of a bounded length that can be encoded."""
    return text[:_LONGEST_TEXT].encode("utf-8", "backslashreplace").decode()


def _encode_body(body: Mapping[str, Any]) -> str:
    return json.dumps(redact_value(trim_value(body)), default=str)


def _decode_body(text: str) -> Mapping[str, Any]:
    try:
        body = decode_json(text)
    except Malformed:
        return {}
    return body if isinstance(body, dict) else {}


def trim_value(value: Any, depth: int = 0) -> Any:
    """Plain data of a bounded size: long texts are cut, long lists end early, deep ones are left out."""
    if isinstance(value, str):
        return _plain_text(value) + ("…" if len(value) > _LONGEST_TEXT else "")
    if isinstance(value, bool | int | float) or value is None:
        return value
    if depth >= _DEEPEST:
        return "…"
    if isinstance(value, Mapping):
        members = list(value.items())[:_MOST_MEMBERS]
        return {_plain_text(str(key)[:100]): trim_value(member, depth + 1) for key, member in members}
    if isinstance(value, Sequence):
        return [trim_value(member, depth + 1) for member in value[:_MOST_MEMBERS]]
    return _plain_text(str(value))
