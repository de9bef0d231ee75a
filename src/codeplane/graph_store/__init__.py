"""A graph of nodes and edges with properties, in SQLite or on a Bolt server."""

from codeplane.graph_store.model import Edge, Link, Node
from codeplane.graph_store.opening import open_store
from codeplane.graph_store.seeds import Seeds, read_seeds
from codeplane.graph_store.store import GraphSize, GraphStore, Neighbour
from codeplane.graph_store.sync import Delta, export_delta, find_delta, sync_seeds
from codeplane.graph_store.traversal import (
    GraphPath,
    PathAnswer,
    Reach,
    find_neighbours,
    find_paths,
    find_reach,
)

__all__ = [
    "Delta",
    "Edge",
    "GraphPath",
    "GraphSize",
    "GraphStore",
    "Link",
    "Neighbour",
    "Node",
    "PathAnswer",
    "Reach",
    "Seeds",
    "export_delta",
    "find_delta",
    "find_neighbours",
    "find_paths",
    "find_reach",
    "open_store",
    "read_seeds",
    "sync_seeds",
]
