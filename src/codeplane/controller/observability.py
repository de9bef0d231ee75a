"""What turns have come to: questions to the ledger's events about friction and reading."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from codeplane.controller.run_memory import memory_store
from codeplane.session import RepoSession

TURN: Final = "controller_turn"
_MOST_EVENTS: Final = 20_000
_HOUR_MS: Final = 3_600_000

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Signature:
    """One way in which turns were denied, and how often."""

    signature: str
    count: int
    verbs: tuple[str, ...]


class EventStore:
    """The turns of one run, or of all runs: rows of the ledger, as they were when first asked for."""

    def __init__(self, repo: RepoSession, work_id: str | None = None) -> None:
        self._repo, self._work_id = repo, work_id

    def list_recent(self, limit: int = 100) -> list[Event]:
        """Turns, newest first."""
        return self._turns[:limit]

    def list_errors(self, limit: int = 100) -> list[Event]:
        """Denied turns, newest first."""
        return [event for event in self._turns if event.get("codes")][:limit]

    def rejection_heatmap(self) -> dict[str, int]:
        """How often each rejection code was answered, the most frequent first."""
        return rejection_heatmap(self._turns)

    def rejection_trend(self, bucket_ms: int = _HOUR_MS) -> list[tuple[int, int]]:
        """Rejections by time: the beginning of each hour in which there was one, and how many."""
        return rejection_trend(self._turns, bucket_ms)

    def top_rejection_signatures(self, limit: int = 10) -> list[Signature]:
        return top_rejection_signatures(self._turns, limit)

    def retrieval_hotspots(self, limit: int = 10) -> list[tuple[str, int]]:
        """What was read most often."""
        return retrieval_hotspots(self._turns, limit)

    def list_pending_corrections(self) -> list[Event]:
        """Rejections that nothing has resolved yet, oldest first."""
        entries = memory_store(self._repo).friction.list_entries(self._work_id)
        return [entry.to_dict() for entry in entries if not entry.is_resolved]

    @cached_property
    def _turns(self) -> list[Event]:
        self._repo.tasks.flush()
        run = None if self._work_id is None else ("work_id", self._work_id)
        return list(self._repo.ledger.events_named(TURN, _MOST_EVENTS, run))


def rejection_heatmap(turns: Sequence[Event]) -> dict[str, int]:
    counts = Counter(code for turn in turns for code in turn.get("codes", ()))
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def rejection_trend(turns: Sequence[Event], bucket_ms: int) -> list[tuple[int, int]]:
    counts = Counter(turn["timestamp_ms"] // bucket_ms * bucket_ms for turn in turns if turn.get("codes"))
    return sorted(counts.items())


def top_rejection_signatures(turns: Sequence[Event], limit: int) -> list[Signature]:
    counts: Counter[str] = Counter()
    verbs: dict[str, set[str]] = {}
    for turn in turns:
        if turn.get("codes"):
            signature = str(turn.get("signature") or ",".join(turn["codes"]))
            counts[signature] += 1
            verbs.setdefault(signature, set()).add(str(turn.get("verb")))
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
    return [Signature(name, count, tuple(sorted(verbs[name]))) for name, count in ranked]


def retrieval_hotspots(turns: Sequence[Event], limit: int) -> list[tuple[str, int]]:
    counts = Counter(source for turn in turns for source in turn.get("sources", ()))
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:limit]
