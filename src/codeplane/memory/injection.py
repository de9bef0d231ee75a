"""What of the memories a turn shows: few, enforced ones, whose files are as they were."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from codeplane.memory.records import Enforcement, MemoryRecord
from codeplane.memory.store import DigestOf, MemoryStore

MOST_INJECTED: Final = 2
"""Memories that one turn may show: more of them are read as noise."""

_MEMORY_ID: Final = re.compile(r"\bmem_[0-9a-f]{12}\b")
_DEEPEST: Final = 20
_PACK_KEYS: Final = (
    "id",
    "enforcementType",
    "trigger",
    "phase",
    "state",
    "domainAnchorIds",
    "rejectionCodes",
    "fewShot",
    "planRule",
    "strategySignal",
    "note",
)


def injectable(
    store: MemoryStore,
    kinds: Collection[Enforcement],
    anchors: Collection[str],
    digest_of: DigestOf,
    *,
    without: Collection[str] = (),
    most: int = MOST_INJECTED,
) -> list[MemoryRecord]:
    """Memories to show for some anchors, the most specific first; one whose files changed is retired."""
    shown_kinds = [
        kind for kind in kinds if kind is not Enforcement.FEW_SHOT or store.settings.enable_few_shot_injection
    ]
    selection: list[MemoryRecord] = []
    for record in store.active(shown_kinds, anchors):
        if len(selection) >= most:
            break
        if record.id not in without:
            selection += store.retire_changed([record], digest_of)
    return selection


def pack_entry(record: MemoryRecord) -> dict[str, Any]:
    """A memory as context packs and traces have it."""
    values = record.to_dict()
    return {key: values[key] for key in _PACK_KEYS if key in values}


def render_memory(record: MemoryRecord) -> str:
    """A memory as an agent reads it."""
    content = record.content
    head = f"{record.id} ({record.enforcement}, {record.state})"
    if content.few_shot is not None:
        shot = content.few_shot
        lines = [f"{head}: {shot.instruction}"]
        lines += [f"  refused: {shot.before}"] if shot.before else []
        lines += [f"  accepted: {shot.after}"]
        lines += [f"  why: {shot.why_wrong}"] if shot.why_wrong else []
        return "\n".join(lines)
    if content.plan_rule is not None:
        steps = ", ".join(content.plan_rule.required_steps) or f"denied with {content.plan_rule.deny_code}"
        return f"{head}: {content.note or 'plan rule'}: {steps}"
    if content.strategy_signal is not None:
        signal = content.strategy_signal
        return f"{head}: {signal.feature_flag} = {signal.value}: {signal.reason}"
    return f"{head}: {content.note}"


def cited_memories(document: object) -> list[str]:
    """The ids of memories that a plan's document names anywhere."""
    ids: dict[str, None] = {}
    waiting: list[tuple[object, int]] = [(document, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, str):
            ids.update(dict.fromkeys(_MEMORY_ID.findall(value)))
        elif depth < _DEEPEST and isinstance(value, Mapping):
            waiting += [(member, depth + 1) for member in value.values()]
        elif depth < _DEEPEST and isinstance(value, Sequence):
            waiting += [(member, depth + 1) for member in value]
    return sorted(ids)


def expired_citations(store: MemoryStore, document: object) -> list[MemoryRecord]:
    """Memories that a plan relies on although nobody approved them in time."""
    return store.expired_among(cited_memories(document))
