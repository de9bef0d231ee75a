"""Memories by anchor, in memory: what applies to a plan is looked up, never searched for."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from codeplane.config.settings import MemorySettings
from codeplane.memory.anchors import anchor_depth
from codeplane.memory.lifecycle import LIVE, due_transition
from codeplane.memory.records import (
    ENFORCED,
    ROOT_ANCHOR,
    Enforcement,
    MemoryRecord,
    MemoryState,
)


@dataclass(frozen=True)
class MemoryIndex:
    """All memories at one version of the store."""

    version: int
    records: dict[str, MemoryRecord]
    by_anchor: dict[tuple[Enforcement, str], tuple[MemoryRecord, ...]]
    next_due_ms: int | None  # when the clock changes the first of them

    @classmethod
    def build(cls, version: int, records: Sequence[MemoryRecord], settings: MemorySettings) -> "MemoryIndex":
        lists: dict[tuple[Enforcement, str], list[MemoryRecord]] = {}
        dues = []
        for record in records:
            if record.state not in LIVE:
                continue
            step = due_transition(record.enforcement, record.state, record.updated_ms, settings)
            if step is not None:
                dues.append(step.at_ms)
            if record.state in ENFORCED:
                for anchor in record.content.domain_anchor_ids or (ROOT_ANCHOR,):
                    lists.setdefault((record.enforcement, anchor), []).append(record)
        by_anchor = {key: tuple(sorted(members, key=_rank_record)) for key, members in lists.items()}
        return cls(version, {record.id: record for record in records}, by_anchor, min(dues, default=None))

    def active(self, kinds: Collection[Enforcement], anchors: Collection[str]) -> list[MemoryRecord]:
        """Enforced memories of some kinds that are tied to one of the anchors, the most specific first."""
        matches: dict[str, MemoryRecord] = {}
        for anchor in sorted({*anchors, ROOT_ANCHOR}, key=lambda name: (-anchor_depth(name), name)):
            members = (record for kind in kinds for record in self.by_anchor.get((kind, anchor), ()))
            for record in sorted(members, key=_rank_record) if len(kinds) > 1 else members:
                matches.setdefault(record.id, record)
        return list(matches.values())


def _rank_record(record: MemoryRecord) -> tuple[bool, bool, int, int, str]:
    """What people have said first, then what has been seen often, then what is new."""
    return (
        record.is_scaffold,
        record.state is not MemoryState.APPROVED,
        -record.count,
        -record.created_ms,
        record.id,
    )
