"""The graph on a Bolt server, through the `neo4j` driver, in openCypher that Neo4j and ArcadeDB both speak.

The nodes of a checkout have a label of their own: what else is on the server is neither read nor dropped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from codeplane.core.errors import GraphStoreUnavailable, InvalidArgument
from codeplane.graph_store.model import RESERVED, Edge, Link, Node, RowRefused, Value, check_node
from codeplane.graph_store.sqlite_store import read_properties
from codeplane.graph_store.store import (
    Direction,
    GraphSize,
    check_limit,
    check_rows,
    refuse_dangling,
    refuse_size,
)

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction

_BATCH: Final = 2_000
_CONNECT_SEC: Final = 5.0
_RETRY_SEC: Final = 10.0


class BoltStore:
    """A graph under one label of a Bolt server."""

    def __init__(
        self, url: str, *, user: str = "", password: str = "", database: str = "", label: str
    ) -> None:
        self._url = url
        self._label = f"`{label}`"
        self._constraint = f"`{label}_id`"
        self._database = database or None
        with _explain_errors(url):
            self._driver = _open_driver(url, user, password)
            try:
                self._driver.verify_connectivity()
            except BaseException:
                self._driver.close()
                raise

    @property
    def name(self) -> str:
        return self._url

    def upsert(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        node_rows, edge_rows = check_rows(nodes, edges)
        self._make_constraint()

        def write(transaction: "ManagedTransaction") -> None:
            self._merge_nodes(transaction, node_rows)
            self._drop_edges(transaction, [edge.id for edge in edge_rows])
            self._create_edges(transaction, edge_rows)

        self._write_rows(write)
        refuse_size(self.size())

    def remove(self, ids: Iterable[str]) -> None:
        listing = list(ids)

        def write(transaction: "ManagedTransaction") -> None:
            self._drop_edges(transaction, listing)
            query = f"MATCH (n:{self._label}) WHERE n.id IN $ids DETACH DELETE n"
            transaction.run(query, ids=listing).consume()

        self._write_rows(write)

    def replace_all(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        node_rows, edge_rows = check_rows(nodes, edges)
        refuse_size(GraphSize(len(node_rows), len(edge_rows)))
        # A server makes constraints outside of transactions; dropping one loses no row.
        self._run(f"DROP CONSTRAINT {self._constraint} IF EXISTS")
        self._make_constraint()

        def write(transaction: "ManagedTransaction") -> None:
            transaction.run(f"MATCH (n:{self._label}) DETACH DELETE n").consume()
            self._merge_nodes(transaction, node_rows)
            self._create_edges(transaction, edge_rows)

        self._write_rows(write)

    def constraints(self) -> Sequence[str]:
        names = [str(row["name"]) for row in self._run("SHOW CONSTRAINTS")]
        is_there = self._constraint.strip("`") in names
        return ("node ids are unique",) if is_there else ()

    def find_nodes(
        self, kind: str | None = None, properties: Mapping[str, Value] | None = None, limit: int = 100
    ) -> list[Node]:
        filters = dict(properties or {})
        try:
            check_node(Node("n", kind or "Any", filters))
        except RowRefused as error:
            raise InvalidArgument(f"Nodes cannot be found by this: {error}.") from None
        conditions = ["n.kind = $kind"] if kind is not None else []
        conditions += [f"n.`{name}` = $p_{name}" for name in filters]
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        values = {f"p_{name}": _bolt_value(value) for name, value in filters.items()}
        query = f"MATCH (n:{self._label}) {where} RETURN properties(n) AS row ORDER BY n.id"
        # 1, 1.0 and true are equal for some servers; here they are not.
        texts = {name: json.dumps(value) for name, value in filters.items()}
        nodes = []
        for record in self._run(query, kind=kind, **values):
            node = _node_of(record["row"])
            if all(json.dumps(node.properties[name]) == text for name, text in texts.items()):
                nodes.append(node)
        return nodes[: check_limit(limit)]

    def get_nodes(self, ids: Iterable[str]) -> dict[str, Node]:
        query = f"MATCH (n:{self._label}) WHERE n.id IN $ids RETURN properties(n) AS row ORDER BY n.id"
        nodes = (_node_of(record["row"]) for record in self._run(query, ids=sorted(set(ids))))
        return {node.id: node for node in nodes}

    def expand(
        self, ids: Sequence[str], kinds: Sequence[str] = (), direction: Direction = "out", limit: int = 10_000
    ) -> list[Link]:
        links: set[Link] = set()
        for end, name in (("a", "out"), ("b", "in")):
            if direction not in (name, "both"):
                continue
            condition = f"{end}.id IN $ids" + (" AND type(r) IN $kinds" if kinds else "")
            query = (
                f"MATCH (a:{self._label})-[r]->(b:{self._label}) WHERE {condition}"
                " RETURN a.id AS source, type(r) AS kind, b.id AS target, r.id AS id"
                " ORDER BY source, kind, target, id LIMIT $most"
            )
            for record in self._run(query, ids=list(ids), kinds=list(kinds), most=limit):
                links.add(Link(record["source"], record["kind"], record["target"], record["id"]))
        return sorted(links)

    def adjacent_ids(
        self, ids: Sequence[str], kinds: Sequence[str] = (), direction: Direction = "out", limit: int = 10_000
    ) -> list[str]:
        ends: set[str] = set()
        for near, far, name in (("a", "b", "out"), ("b", "a", "in")):
            if direction not in (name, "both"):
                continue
            condition = f"{near}.id IN $ids" + (" AND type(r) IN $kinds" if kinds else "")
            query = (
                f"MATCH (a:{self._label})-[r]->(b:{self._label}) WHERE {condition}"
                f" RETURN DISTINCT {far}.id AS id ORDER BY id LIMIT $most"
            )
            records = self._run(query, ids=list(ids), kinds=list(kinds), most=limit)
            ends.update(record["id"] for record in records)
        return sorted(ends)

    def all_nodes(self) -> Iterator[Node]:
        query = f"MATCH (n:{self._label}) RETURN properties(n) AS row ORDER BY n.id"
        yield from (_node_of(record["row"]) for record in self._run(query))

    def all_edges(self) -> Iterator[Edge]:
        query = (
            f"MATCH (a:{self._label})-[r]->(b:{self._label})"
            " RETURN type(r) AS kind, a.id AS source, b.id AS target, properties(r) AS row ORDER BY r.id"
        )
        for record in self._run(query):
            row = record["row"]
            yield Edge(row["id"], record["kind"], record["source"], record["target"], *_stamp_of(row))

    def size(self) -> GraphSize:
        [nodes] = self._run(f"MATCH (n:{self._label}) RETURN count(n) AS total")
        [edges] = self._run(f"MATCH (:{self._label})-[r]->(:{self._label}) RETURN count(r) AS total")
        return GraphSize(nodes["total"], edges["total"])

    def close(self) -> None:
        self._driver.close()

    def _make_constraint(self) -> None:
        self._run(
            f"CREATE CONSTRAINT {self._constraint} IF NOT EXISTS FOR (n:{self._label}) REQUIRE n.id IS UNIQUE"
        )

    def _merge_nodes(self, transaction: "ManagedTransaction", nodes: Sequence[Node]) -> None:
        query = f"UNWIND $rows AS row MERGE (n:{self._label} {{id: row.id}}) SET n = row"
        for start in range(0, len(nodes), _BATCH):
            rows = [{**_row_of(node), "kind": node.kind} for node in nodes[start : start + _BATCH]]
            transaction.run(query, rows=rows).consume()

    def _drop_edges(self, transaction: "ManagedTransaction", ids: Sequence[str]) -> None:
        query = f"MATCH (:{self._label})-[r]->(:{self._label}) WHERE r.id IN $ids DELETE r"
        if ids:
            transaction.run(query, ids=list(ids)).consume()

    def _create_edges(self, transaction: "ManagedTransaction", edges: Sequence[Edge]) -> None:
        self._refuse_unknown_ends(transaction, edges)
        for kind, group in groupby(sorted(edges, key=lambda edge: edge.kind), lambda edge: edge.kind):
            rows = [{"a": edge.source, "b": edge.target, "row": _row_of(edge)} for edge in group]
            query = (
                f"UNWIND $rows AS item MATCH (a:{self._label} {{id: item.a}})"
                f" MATCH (b:{self._label} {{id: item.b}})"
                f" CREATE (a)-[r:`{kind}`]->(b) SET r = item.row"
            )
            for start in range(0, len(rows), _BATCH):
                transaction.run(query, rows=rows[start : start + _BATCH]).consume()

    def _refuse_unknown_ends(self, transaction: "ManagedTransaction", edges: Sequence[Edge]) -> None:
        ends = {end for edge in edges for end in (edge.source, edge.target)}
        query = f"MATCH (n:{self._label}) WHERE n.id IN $ids RETURN n.id AS id"
        present = {record["id"] for record in transaction.run(query, ids=sorted(ends))}
        refuse_dangling(
            (edge.id, end) for edge in edges for end in (edge.source, edge.target) if end not in present
        )

    def _write_rows(self, write: "Callable[[ManagedTransaction], None]") -> None:
        with _explain_errors(self._url), self._driver.session(database=self._database) as session:
            session.execute_write(write)

    def _run(self, query: str, **values: object) -> list[Any]:
        with _explain_errors(self._url), self._driver.session(database=self._database) as session:
            return list(session.run(query, values))


def _open_driver(url: str, user: str, password: str) -> "Driver":
    # Only those who have a server load its driver.
    try:
        from neo4j import GraphDatabase
    except ImportError as error:
        text = "The driver for Bolt servers is not installed."
        raise GraphStoreUnavailable(text, hints=["pip install 'codeplane[graph]'"]) from error
    return GraphDatabase.driver(
        url,
        auth=(user, password) if user else None,
        connection_timeout=_CONNECT_SEC,
        connection_acquisition_timeout=_CONNECT_SEC,
        max_transaction_retry_time=_RETRY_SEC,
    )


@contextmanager
def _explain_errors(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise _unavailable(url, error) from error
    except Exception as error:
        # The driver's errors have two roots, and are known only where it is installed.
        if type(error).__module__.split(".")[0] != "neo4j":
            raise
        raise _unavailable(url, error) from error


def _unavailable(url: str, error: Exception) -> GraphStoreUnavailable:
    reason = " ".join(str(error).split())[:300].rstrip(".")
    text = f"The graph server {url} does not answer: {type(error).__name__}: {reason}."
    return GraphStoreUnavailable(
        text, hints=["Check `graph_store.bolt_url` and the account in your own settings."]
    )


def _row_of(row: Node | Edge) -> dict[str, Any]:
    values = {name: _bolt_value(value) for name, value in row.properties.items()}
    stamp = {"version": row.version, "updated_at": row.updated_at, "updated_by": row.updated_by}
    return {"id": row.id, **stamp, **values}


def _bolt_value(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _stamp_of(row: Mapping[str, Any]) -> tuple[Any, int, str, str]:
    properties = {name: value for name, value in row.items() if name not in RESERVED}
    return read_properties(properties), row["version"], row["updated_at"], row["updated_by"]


def _node_of(row: Mapping[str, Any]) -> Node:
    return Node(row["id"], row["kind"], *_stamp_of(row))
