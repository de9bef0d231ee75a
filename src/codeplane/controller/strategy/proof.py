"""Proof chains: facts tied one to the next, each checked against the code, or the hop where they break."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from codeplane.controller.strategy.book import StrategyBook, shipped_book
from codeplane.controller.strategy.documents import Chain
from codeplane.controller.strategy.facts import Fact, FactSource, GraphFacts, find_flaw
from codeplane.graph_store import GraphStore
from codeplane.names import Snapshot


@dataclass(frozen=True)
class ChainHop:
    """One hop that holds: the fact, where it is in the code, and who says so."""

    kind: str
    fact_id: str
    evidence: str
    path: str = ""
    line: int = 0

    def to_wire(self) -> dict[str, Any]:
        place = {"path": self.path, "line": self.line} if self.path else {}
        return {"kind": self.kind, "factId": self.fact_id, "evidence": self.evidence, **place}


@dataclass(frozen=True)
class ChainResult:
    """A chain as far as it holds; `broken_at` is the kind of the missing hop, None where it is whole."""

    chain_id: str
    hops: tuple[ChainHop, ...]
    broken_at: str | None = None
    reason: str = ""
    mend: str = ""

    def to_wire(self) -> dict[str, Any]:
        wire: dict[str, Any] = {"chainId": self.chain_id, "hops": [hop.to_wire() for hop in self.hops]}
        if self.broken_at is not None:
            wire |= {"brokenAt": self.broken_at, "reason": self.reason, "mend": self.mend}
        return wire


def prove(
    chain_id: str,
    start: str | None,
    store: GraphStore,
    snapshot: Snapshot,
    *,
    touching: Collection[str] = (),
    book: StrategyBook | None = None,
    sources: Sequence[FactSource] = (),
) -> ChainResult:
    """Follows a chain from a fact, or from every fact of its first kind, and says how far it holds.

    Where files are named in `touching`, only a chain counts that passes through one of them. The facts are
    those of the graph and of further sources; the first way in their order that is whole is the proof.
    """
    chain = (book or shipped_book()).chain(chain_id)
    search = _Search(chain, (GraphFacts(store), *sources), snapshot, frozenset(touching))
    return search.find_way(start)


@dataclass(frozen=True)
class _Break:
    """The furthest place that a search came to."""

    way: tuple[Fact, ...]
    reason: str


class _Search:
    def __init__(
        self, chain: Chain, sources: Sequence[FactSource], snapshot: Snapshot, touching: frozenset[str]
    ) -> None:
        self._chain, self._sources, self._snapshot = chain, sources, snapshot
        self._touching = touching
        self._dead_ends: set[tuple[int, str, bool]] = set()
        self._furthest: _Break | None = None

    def find_way(self, start: str | None) -> ChainResult:
        first = self._chain.hops[0].fact
        facts = [fact for source in self._sources for fact in source.first_facts(first)]
        if start is not None:
            facts = [fact for fact in facts if fact.id == start]
        if not facts:
            self._note_break((), f"no {first}{f' {start}' if start is not None else ''} is known")
        for fact in facts:
            way = self._follow((), fact)
            if way is not None:
                hops = tuple(_hop_of(fact) for fact in way)
                return ChainResult(self._chain.chain, hops)
        return self._broken_result()

    def _follow(self, way: tuple[Fact, ...], fact: Fact) -> tuple[Fact, ...] | None:
        """The whole way from here to the end of the chain; None where there is none."""
        is_touched = any(one.path in self._touching for one in (*way, fact))
        state = (len(way), fact.id, is_touched)
        if state in self._dead_ends:
            return None
        flaw = find_flaw(fact, self._snapshot)
        if flaw is not None:
            self._note_break(way, f"{fact.id} is out of date: {flaw}")
        elif (whole := self._continue_way((*way, fact), is_touched=is_touched)) is not None:
            return whole
        self._dead_ends.add(state)
        return None

    def _continue_way(self, way: tuple[Fact, ...], *, is_touched: bool) -> tuple[Fact, ...] | None:
        if len(way) == len(self._chain.hops):
            if is_touched or not self._touching:
                return way
            self._note_break(way[:-1], f"the way to {way[-1].id} passes none of the files in question")
            return None
        hop, last = self._chain.hops[len(way)], way[-1]
        facts = [fact for source in self._sources for fact in source.next_facts(last, hop.fact, hop.via)]
        if not facts:
            self._note_break(way, f"{last.id} has no {' or '.join(hop.via)} to a {hop.fact}")
        for fact in facts:
            if (whole := self._follow(way, fact)) is not None:
                return whole
        return None

    def _note_break(self, way: tuple[Fact, ...], reason: str) -> None:
        if self._furthest is None or len(way) > len(self._furthest.way):
            self._furthest = _Break(way, reason)

    def _broken_result(self) -> ChainResult:
        assert self._furthest is not None, "BUG: a chain broke nowhere"
        way, reason = self._furthest.way, self._furthest.reason
        hop = self._chain.hops[len(way)]
        hops = tuple(_hop_of(fact) for fact in way)
        return ChainResult(self._chain.chain, hops, hop.fact, reason, hop.mend or self._mend_text(way))

    def _mend_text(self, way: tuple[Fact, ...]) -> str:
        hop = self._chain.hops[len(way)]
        edge = f", and an edge {' or '.join(hop.via)} to it from {way[-1].id}" if way else ""
        row = f"a row of the type {hop.fact} with its path, line and symbol{edge}"
        return f"Put {row} into .codeplane/graph/seed/*.jsonl, then run `cpl graph sync`."


def _hop_of(fact: Fact) -> ChainHop:
    place = f"{fact.path}:{fact.line}" if fact.path and fact.line else fact.path
    parts = [part for part in (place, fact.symbol, fact.source) if part]
    return ChainHop(fact.kind, fact.id, ", ".join(parts), fact.path, fact.line)
