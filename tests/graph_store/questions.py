"""A graph and questions about it, which every store answers alike."""

import random
from typing import Any

from codeplane.graph_store import Edge, GraphStore, Node, find_neighbours, find_paths, find_reach

STAMP: dict[str, Any] = {"version": 3, "updated_at": "2026-01-31T12:00:00Z", "updated_by": "ann"}


def sample_graph(size: int = 120) -> tuple[list[Node], list[Edge]]:
    """Nodes of three kinds with properties of every type, and edges of three kinds between them."""
    rng = random.Random(7)
    kinds = ("Table", "ColumnDef", "Route")
    tags = [{"tags": ("a", f"t{number % 3}")} if number % 4 else {} for number in range(size)]
    nodes = [
        Node(
            f"n{number:03}",
            kinds[number % 3],
            {
                "name": f"näme {number % 7}",
                "rank": number % 5,
                "share": number / 4,
                "live": number % 2 == 0,
                **tags[number],
            },
            **STAMP,
        )
        for number in range(size)
    ]
    edges = [
        Edge(
            f"e{number:04}",
            rng.choice(("HAS", "OPENS", "USES")),
            f"n{rng.randrange(size):03}",
            f"n{rng.randrange(size):03}",
            {"line": number} if number % 3 else {},
            **STAMP,
        )
        for number in range(size * 3)
    ]
    return nodes, edges


def answer_questions(store: GraphStore, size: int = 120) -> dict[str, Any]:
    """The answers of a store to every kind of question."""
    answers: dict[str, Any] = {
        "size": store.size(),
        "kind": store.find_nodes("Table", limit=1_000),
        "text": store.find_nodes(properties={"name": "näme 3"}, limit=1_000),
        "number": store.find_nodes("Route", {"rank": 1}),
        "no float": store.find_nodes(properties={"rank": 1.0}),
        "no boolean": store.find_nodes(properties={"rank": True}),
        "boolean": store.find_nodes("ColumnDef", {"live": True}, limit=7),
        "list": store.find_nodes(properties={"tags": ("a", "t1")}),
        "missing": store.find_nodes("Nothing"),
        "nodes": list(store.all_nodes()),
        "edges": list(store.all_edges()),
    }
    for number in range(0, size, 9):
        start = f"n{number:03}"
        answers[f"out {start}"] = find_neighbours(store, start)
        answers[f"in {start}"] = find_neighbours(store, start, ("HAS", "USES"), "in")
        answers[f"both {start}"] = find_neighbours(store, start, (), "both")
        answers[f"reach {start}"] = find_reach(store, start, 3)
        answers[f"reach both {start}"] = find_reach(store, start, 2, ("OPENS",), "both")
        answers[f"reach cut {start}"] = find_reach(store, start, 4, limit=10)
        answers[f"paths {start}"] = find_paths(store, start, 3, ("HAS", "OPENS"), limit=500)
        answers[f"paths to {start}"] = find_paths(store, "n001", 4, target=start)
    return answers
