"""Where the facts of proof chains come from. The graph is one source; others can stand beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from codeplane.core.paths import RepoPath
from codeplane.graph_store import GraphStore, Node, find_neighbours
from codeplane.names import Snapshot

MOST_FACTS: Final = 1_000


@dataclass(frozen=True)
class Fact:
    """Something of a kind that a source knows; the place in the code is what can be checked of it."""

    id: str
    kind: str
    source: str  # who says so
    path: str = ""
    line: int = 0
    symbol: str = ""


class FactSource(Protocol):
    """Someone who knows facts and how they are tied together."""

    def first_facts(self, kind: str) -> Sequence[Fact]:
        """Facts of a kind that a chain may begin with, in a fixed order."""
        ...

    def next_facts(self, fact: Fact, kind: str, via: Sequence[str]) -> Sequence[Fact]:
        """Facts of a kind that a fact is tied to by one of these edges, in a fixed order."""
        ...


class GraphFacts:
    """Facts that are nodes of the graph store, with the properties `path`, `line` and `symbol`."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store

    def first_facts(self, kind: str) -> Sequence[Fact]:
        return [_fact_of(node) for node in self._store.find_nodes(kind, limit=MOST_FACTS)]

    def next_facts(self, fact: Fact, kind: str, via: Sequence[str]) -> Sequence[Fact]:
        neighbours = find_neighbours(self._store, fact.id, via, limit=MOST_FACTS)
        nodes = {one.node.id: one.node for one in neighbours if one.node.kind == kind}
        return [_fact_of(nodes[name]) for name in sorted(nodes)]


def find_flaw(fact: Fact, snapshot: Snapshot) -> str | None:
    """What of a fact is not so in the code, in one clause; None where nothing speaks against it."""
    if not fact.path:
        return None
    if not snapshot.exists(fact.path):
        return f"{fact.path} does not exist"
    path = RepoPath(fact.path)
    if fact.symbol:
        name = fact.symbol.rsplit(".", 1)[-1]
        definitions = snapshot.definitions_named(name, MOST_FACTS).items
        if not any(definition.path == path for definition in definitions):
            return f"{fact.path} defines no {fact.symbol}"
    if fact.line and fact.line > snapshot.source(path).count(b"\n") + 1:
        return f"{fact.path} has no line {fact.line}"
    return None


def _fact_of(node: Node) -> Fact:
    path, line, symbol = (node.properties.get(name) for name in ("path", "line", "symbol"))
    writer = f" by {node.updated_by}" if node.updated_by else ""
    return Fact(
        node.id,
        node.kind,
        f"graph row {node.id} (version {node.version}{writer})",
        path if isinstance(path, str) else "",
        line if isinstance(line, int) else 0,
        symbol if isinstance(symbol, str) else "",
    )
