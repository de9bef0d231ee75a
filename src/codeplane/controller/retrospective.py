"""The retrospective of a run: what caused friction, what memory did, and what people might settle."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.controller.contract import RunState
from codeplane.controller.observability import EventStore
from codeplane.controller.run_memory import BROKEN_RULES, MADE, PLANNED, SHOWN, digest_reader, memory_store
from codeplane.controller.runs import Run
from codeplane.memory import FrictionEntry, MemoryRecord, MemoryState, MemoryStore, cited_memories
from codeplane.memory.records import format_moment
from codeplane.session import Call

_MOST_SIGNATURES: Final = 10
_MOST_LISTED: Final = 20
_NOTED: Final = "outcomesNoted"


@dataclass(frozen=True)
class MemoryEffect:
    """What a memory did to a run (`prevented`, `repeated`, `enforced`, `steered`, `shown`), and the sign."""

    memory_id: str
    effect: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        return {"memoryId": self.memory_id, "effect": self.effect, "reason": self.reason}


@dataclass(frozen=True)
class Retrospective:
    """The parts of a retrospective, as its answer has them."""

    friction_digest: dict[str, Any]
    memory_status: dict[str, Any]
    session_statistics: dict[str, Any]
    suggestions: tuple[dict[str, Any], ...]
    observations: tuple[dict[str, Any], ...]
    summary: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Camel case, as it is answered."""
        return {
            "frictionDigest": self.friction_digest,
            "memoryStatus": self.memory_status,
            "sessionStatistics": self.session_statistics,
            "suggestions": list(self.suggestions),
            "observations": list(self.observations),
            **({"summary": self.summary} if self.summary else {}),
        }

    def render_text(self) -> str:
        """What an agent and a person read: figures, then what is left to settle."""
        statistics, digest = self.session_statistics, self.friction_digest
        figures = f"{statistics['totalTurns']} turns, {statistics['totalRejections']} rejections"
        lines = [f"{figures}, {digest['pendingCorrections']} unresolved"]
        lines += [f"  {code} {count}x" for code, count in digest["heatmap"].items()]
        status = self.memory_status
        lines.append(
            f"memories: {len(status['pending'])} pending, {len(status['provisional'])} provisional,"
            f" {status['approvedCount']} approved"
        )
        lines += [f"  {one['memoryId']} {one['effect']}: {one['reason']}" for one in status["effects"]]
        lines += [f"suggestion: {one['text']}" for one in self.suggestions]
        lines += [f"observed: {one['text']}" for one in self.observations]
        return "\n".join(lines)


def close_run(call: Call, run: Run, *, is_resolved: bool) -> list[MemoryRecord]:
    """What the end of a run does to memory: examples of wide patterns, and renewed digests.

    A run that was given up teaches nothing more. Closing a second time does nothing.
    """
    if run.body.extra.get(_NOTED):
        return []
    run.body.extra[_NOTED] = True
    store = memory_store(call.repo)
    additions: list[MemoryRecord] = []
    with digest_reader(call) as digest_of:
        if is_resolved:
            additions = store.scaffold_patterns(run.work_id, {})
            run.body.extra.setdefault(MADE, []).extend(record.id for record in additions)
        store.renew_digests(run.body.extra.get(MADE, ()), digest_of)
    for effect in memory_effects(run, store):
        store.note_outcome(effect.memory_id, run.work_id, f"{effect.effect}: {effect.reason}")
    return additions


def build_retrospective(call: Call, run: Run, summary: str = "") -> Retrospective:
    """The retrospective of a run as things stand."""
    store = memory_store(call.repo)
    entries = store.friction.list_entries(run.work_id)
    events = EventStore(call.repo, run.work_id)
    heatmap = events.rejection_heatmap()
    return Retrospective(
        friction_digest={
            "heatmap": heatmap,
            "topSignatures": [
                {"signature": one.signature, "count": one.count, "verbs": list(one.verbs)}
                for one in events.top_rejection_signatures(_MOST_SIGNATURES)
            ],
            "retrievalHotspots": [
                {"source": source, "count": count} for source, count in events.retrieval_hotspots()
            ],
            "trend": [
                {"ts": format_moment(at_ms), "count": count} for at_ms, count in events.rejection_trend()
            ],
            "pendingCorrections": len(events.list_pending_corrections()),
        },
        memory_status=_memory_status(run, store),
        session_statistics={
            "totalTurns": run.turns,
            "totalRejections": run.body.denials,
            "verbDistribution": dict(run.body.verb_counts),
            "rejectionDistribution": heatmap,
        },
        suggestions=tuple(suggest_memories(entries, store.list_all([MemoryState.PENDING]), store)),
        observations=tuple(one.model_dump(exclude_none=True) for one in run.body.observations),
        summary=summary,
    )


def memory_effects(run: Run, store: MemoryStore) -> list[MemoryEffect]:
    """What each memory that a run was shown has come to in it, and which rules changed its plans."""
    entries = store.friction.list_entries(run.work_id)
    effects = [
        MemoryEffect(memory_id, "enforced", "it denied a plan, and a later one kept to it")
        for memory_id in run.body.extra.get(BROKEN_RULES, ())
        if run.body.extra.get(PLANNED)
    ]
    reasons = " ".join(run.body.strategy_reasons)
    effects += [
        MemoryEffect(memory_id, "steered", "it set a feature that the strategy was chosen by")
        for memory_id in cited_memories(reasons)
    ]
    records = {record.id: record for record in store.list_all()}
    for memory_id, entry in run.body.extra.get(SHOWN, {}).items():
        record = records.get(memory_id)
        if record is not None and memory_id not in run.body.extra.get(BROKEN_RULES, ()):
            effects.append(_shown_effect(run, record, entry["atMs"], entries))
    return effects


def _shown_effect(
    run: Run, record: MemoryRecord, shown_ms: int, entries: Sequence[FrictionEntry]
) -> MemoryEffect:
    codes = record.content.rejection_codes
    repetitions = [entry for entry in entries if entry.code in codes and entry.at_ms >= shown_ms]
    if repetitions:
        reason = f"{repetitions[0].code} was answered {len(repetitions)}x after it was shown"
        return MemoryEffect(record.id, "repeated", reason)
    if codes and run.body.extra.get(PLANNED):
        reason = f"no {', '.join(codes)} after it was shown; {record.count}x before it was made"
        return MemoryEffect(record.id, "prevented", reason)
    return MemoryEffect(record.id, "shown", "the run says nothing about what it did")


def _memory_status(run: Run, store: MemoryStore) -> dict[str, Any]:
    def describe(state: MemoryState) -> list[dict[str, Any]]:
        return [
            {
                "id": record.id,
                "enforcementType": record.enforcement.value,
                "rejectionCodes": list(record.content.rejection_codes),
                "domainAnchorIds": list(record.content.domain_anchor_ids),
                "count": record.count,
                "scaffolded": record.is_scaffold,
            }
            for record in store.list_all([state])[-_MOST_LISTED:]
        ]

    return {
        "pending": describe(MemoryState.PENDING),
        "provisional": describe(MemoryState.PROVISIONAL),
        "approvedCount": len(store.list_all([MemoryState.APPROVED])),
        "made": list(run.body.extra.get(MADE, ())),
        "effects": [effect.to_dict() for effect in memory_effects(run, store)],
    }


def suggest_memories(
    entries: Sequence[FrictionEntry], pending: Iterable[MemoryRecord], store: MemoryStore
) -> Iterable[dict[str, Any]]:
    """What people might make of the friction: rules of frequent codes, examples, and reviews."""
    least = store.settings.rejection_threshold
    for code, count in Counter(entry.code for entry in entries).most_common():
        if count >= least:
            yield {
                "kind": "plan_rule",
                "code": code,
                "text": f"{code} was answered {count}x: a plan rule in .codeplane/memory/overrides/"
                " could ask for what was missing.",
            }
    resolved = [entry for entry in entries if entry.is_resolved and entry.memory is None]
    for (code, anchor, _), count in Counter(entry.signature for entry in resolved).most_common(3):
        yield {
            "kind": "few_shot",
            "code": code,
            "anchor": anchor,
            "text": f"{code} in {anchor} was resolved {count}x; {least} make an example.",
        }
    for record in list(pending)[:_MOST_LISTED]:
        yield {
            "kind": "review",
            "memoryId": record.id,
            "text": f"{record.id} waits for a person: cpl memory show {record.id}",
        }


def final_state(run: Run) -> RunState:
    """The state in which a run ends: one that has failed stays so, since a person may release it."""
    return RunState.FAILED if run.state is RunState.FAILED else RunState.COMPLETED
