"""What every graph store answers, whatever keeps the graph."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from codeplane.core.errors import GraphConstraintViolated, GraphTooLarge, InvalidArgument
from codeplane.graph_store.model import Edge, Link, Node, RowRefused, Value, check_edge, check_node

Direction = Literal["out", "in", "both"]

MOST_NODES: Final = 1_000_000
MOST_EDGES: Final = 4_000_000
MOST_ANSWERS: Final = 10_000


@dataclass(frozen=True)
class GraphSize:
    """How much a store holds."""

    nodes: int
    edges: int


@dataclass(frozen=True)
class Neighbour:
    """A node next to another, and the edge between them."""

    link: Link
    node: Node


class GraphStore(Protocol):
    """A directed graph of nodes and edges with kinds and properties."""

    @property
    def name(self) -> str:
        """Where the graph is, for people."""
        ...

    def upsert(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        """Adds or replaces rows by id, all of them or none; both ends of an edge have to be there."""
        ...

    def remove(self, ids: Iterable[str]) -> None:
        """Removes nodes with their edges, and edges, by id; ids that are not there are passed over."""
        ...

    def replace_all(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        """Drops the graph, makes its constraints anew and inserts the rows, all of it or nothing."""
        ...

    def constraints(self) -> Sequence[str]:
        """The constraints that the store enforces, in words."""
        ...

    def find_nodes(
        self, kind: str | None = None, properties: Mapping[str, Value] | None = None, limit: int = 100
    ) -> list[Node]:
        """Nodes of a kind with all of these properties, by id."""
        ...

    def get_nodes(self, ids: Iterable[str]) -> dict[str, Node]:
        """The nodes of these ids that are there."""
        ...

    def expand(
        self, ids: Sequence[str], kinds: Sequence[str] = (), direction: Direction = "out", limit: int = 10_000
    ) -> list[Link]:
        """Edges at any of the nodes, of some kinds or all, in order; at most `limit` of each direction."""
        ...

    def adjacent_ids(
        self, ids: Sequence[str], kinds: Sequence[str] = (), direction: Direction = "out", limit: int = 10_000
    ) -> list[str]:
        """The ids one hop away from any of the nodes, each once, in order; at most `limit` each way."""
        ...

    def all_nodes(self) -> Iterator[Node]:
        """Every node, by id."""
        ...

    def all_edges(self) -> Iterator[Edge]:
        """Every edge, by id."""
        ...

    def size(self) -> GraphSize:
        """How many nodes and edges there are."""
        ...

    def close(self) -> None:
        """Gives back what the store holds open."""
        ...


def check_rows(nodes: Iterable[Node], edges: Iterable[Edge]) -> tuple[list[Node], list[Edge]]:
    """The rows of an upsert; `InvalidArgument` for one that no store could keep."""
    checked_nodes, checked_edges = list(nodes), list(edges)
    try:
        for node in checked_nodes:
            check_node(node)
        for edge in checked_edges:
            check_edge(edge)
    except RowRefused as error:
        raise InvalidArgument(f"A row cannot be stored: {error}.") from None
    return checked_nodes, checked_edges


def check_limit(limit: int) -> int:
    """A limit of answers that a store may be asked for."""
    if not 1 <= limit <= MOST_ANSWERS:
        raise InvalidArgument(f"`limit` is {limit}; it is between 1 and {MOST_ANSWERS}.")
    return limit


def refuse_dangling(edges: Iterable[tuple[str, str]]) -> None:
    """Raises the error for edges that name nodes that are not there."""
    problems = [f"{edge} names {node}" for edge, node in edges]
    if problems:
        text = f"{len(problems)} edges name nodes that are not in the graph: {'; '.join(problems[:5])}."
        raise GraphConstraintViolated(text, problems=problems[:50])


def refuse_size(size: GraphSize) -> None:
    """Raises the error for a graph beyond the bounds."""
    if size.nodes > MOST_NODES or size.edges > MOST_EDGES:
        text = f"A graph has at most {MOST_NODES} nodes and {MOST_EDGES} edges."
        raise GraphTooLarge(text, nodes=size.nodes, edges=size.edges)
