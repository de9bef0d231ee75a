"""Walks over a graph, one question to the store for each hop, so that every store gives the same answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from codeplane.core.errors import InvalidArgument
from codeplane.graph_store.model import Link
from codeplane.graph_store.store import MOST_ANSWERS, Direction, GraphStore, Neighbour, check_limit

MOST_HOPS: Final = 12
_MOST_PARTIAL: Final = 20_000


@dataclass(frozen=True)
class Reach:
    """The nodes within some hops of another, with their distance; `is_cut` where there are more."""

    distances: dict[str, int]
    is_cut: bool


@dataclass(frozen=True)
class GraphPath:
    """A way from one node to another that passes no node twice."""

    nodes: tuple[str, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class PathAnswer:
    """Ways through a graph, short ones first; `is_cut` where there are more."""

    paths: tuple[GraphPath, ...]
    is_cut: bool


def find_neighbours(
    store: GraphStore,
    node: str,
    kinds: Sequence[str] = (),
    direction: Direction = "out",
    limit: int = 1_000,
) -> list[Neighbour]:
    """The nodes one hop away, in the order of their edges."""
    links = store.expand([node], kinds, direction, check_limit(limit))[:limit]
    nodes = store.get_nodes({_other_end(link, node) for link in links})
    return [
        Neighbour(link, nodes[_other_end(link, node)]) for link in links if _other_end(link, node) in nodes
    ]


def find_reach(
    store: GraphStore,
    start: str,
    hops: int,
    kinds: Sequence[str] = (),
    direction: Direction = "out",
    limit: int = MOST_ANSWERS,
) -> Reach:
    """The nodes that can be reached within some hops, breadth first."""
    _check_hops(hops)
    check_limit(limit)
    distances = {start: 0}
    frontier = [start]
    for distance in range(1, hops + 1):
        # Those of earlier hops are among the ends again.
        most = limit + len(distances)
        ends = store.adjacent_ids(frontier, kinds, direction, most + 1)
        is_cut = len(ends) > most
        frontier = [end for end in ends if end not in distances]
        room = limit - (len(distances) - 1)
        distances.update(dict.fromkeys(frontier[:room], distance))
        if is_cut or len(frontier) > room:
            return Reach(_without_start(distances, start), is_cut=True)
        if not frontier:
            break
    return Reach(_without_start(distances, start), is_cut=False)


def find_paths(
    store: GraphStore,
    start: str,
    hops: int,
    kinds: Sequence[str] = (),
    *,
    target: str | None = None,
    limit: int = 100,
) -> PathAnswer:
    """Ways along the edges to a node, or to every node, of at most some hops; short ones first."""
    _check_hops(hops)
    check_limit(limit)
    paths: list[GraphPath] = []
    partial = [GraphPath((start,), ())]
    for hop in range(1, hops + 1):
        ends = sorted({path.nodes[-1] for path in partial})
        links = store.expand(ends, kinds, "out", MOST_ANSWERS)
        is_cut = len(links) >= MOST_ANSWERS
        if hop == hops and target is not None:
            links = [link for link in links if link.target == target]
        longer = islice(_extend_paths(partial, links), _MOST_PARTIAL + 1)
        partial = []
        for path in longer:
            partial.append(path)
            if target is None or path.nodes[-1] == target:
                paths.append(path)
            if len(paths) > limit:
                return PathAnswer(tuple(paths[:limit]), is_cut=True)
        if is_cut or len(partial) > _MOST_PARTIAL:
            return PathAnswer(tuple(paths), is_cut=True)
        if not partial:
            break
    return PathAnswer(tuple(paths), is_cut=False)


def _extend_paths(paths: Sequence[GraphPath], links: Sequence[Link]) -> Iterator[GraphPath]:
    by_source: dict[str, list[Link]] = {}
    for link in links:
        by_source.setdefault(link.source, []).append(link)
    for path in paths:
        for link in by_source.get(path.nodes[-1], ()):
            if link.target not in path.nodes:
                yield GraphPath((*path.nodes, link.target), (*path.links, link))


def _other_end(link: Link, node: str) -> str:
    return link.target if link.source == node else link.source


def _without_start(distances: dict[str, int], start: str) -> dict[str, int]:
    return {node: distance for node, distance in distances.items() if node != start}


def _check_hops(hops: int) -> None:
    if not 1 <= hops <= MOST_HOPS:
        raise InvalidArgument(f"`hops` is {hops}; it is between 1 and {MOST_HOPS}.")
