"""Facts of proof chains that are read from the code: routes, components, services, tables, remotes."""

from collections.abc import Sequence
from itertools import islice

from codeplane.controller.strategy.facts import MOST_FACTS, Fact
from codeplane.names import Snapshot
from codeplane.surfaces.fact_graph import SurfaceFact
from codeplane.surfaces.ui_facts import ui_facts


class SurfaceFacts:
    """The facts that surfaces know of one state of the code."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def first_facts(self, kind: str) -> Sequence[Fact]:
        """Facts of a kind that a chain may begin with, in a fixed order."""
        return [_fact_of(one) for one in ui_facts(self._snapshot).of_kind(kind)[:MOST_FACTS]]

    def next_facts(self, fact: Fact, kind: str, via: Sequence[str]) -> Sequence[Fact]:
        """Facts of a kind that a fact is tied to by one of these edges, in a fixed order."""
        graph = ui_facts(self._snapshot)
        ends = (one for edge in via for one in graph.beyond(fact.id, edge, kind))
        return [_fact_of(one) for one in islice(ends, MOST_FACTS)]


def _fact_of(one: SurfaceFact) -> Fact:
    return Fact(one.id, one.kind, "read from the code", one.path, one.line, one.symbol)
