"""The graph in a SQLite file of the state directory."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import IndexCorrupt
from codeplane.graph_store.model import Edge, Link, Node, Properties, Value
from codeplane.graph_store.store import (
    Direction,
    GraphSize,
    check_limit,
    check_rows,
    refuse_dangling,
    refuse_size,
)
from codeplane.storage.database import Connection, Database, delete_database, is_made_by, open_exact

_SCRIPT: Final = """
CREATE TABLE origin (inode INTEGER NOT NULL);
CREATE TABLE node (id TEXT PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX node_kind ON node (kind, id);
CREATE TABLE property (
    name TEXT NOT NULL, value TEXT NOT NULL, node TEXT NOT NULL, PRIMARY KEY (name, value, node)
) WITHOUT ROWID;
CREATE INDEX property_node ON property (node);
CREATE TABLE edge (
    id TEXT PRIMARY KEY, source TEXT NOT NULL, kind TEXT NOT NULL, target TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX edge_out ON edge (source, kind, target, id);
CREATE INDEX edge_in ON edge (target, kind, source, id);
"""
_IDS: Final = "(SELECT value FROM json_each(?))"
_DANGLING: Final = """
SELECT edge.id, edge.source FROM edge WHERE edge.id IN (SELECT value FROM json_each(:ids))
    AND edge.source NOT IN (SELECT id FROM node)
UNION ALL SELECT edge.id, edge.target FROM edge WHERE edge.id IN (SELECT value FROM json_each(:ids))
    AND edge.target NOT IN (SELECT id FROM node)
LIMIT 50
"""


class SqliteStore:
    """A graph in one file, with indexes for edges in both directions and for properties."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._database = _open_own(path)

    @property
    def name(self) -> str:
        return str(self._path)

    def upsert(self, nodes: Iterable[Node], edges: Iterable[Edge]) -> None:
        node_rows, edge_rows = check_rows(nodes, edges)
        with self._database.write() as connection:
            _write_nodes(connection, node_rows)
            _write_edges(connection, edge_rows)
            refuse_size(_count_rows(connection))

    def remove(self, ids: Iterable[str]) -> None:
        listing = json.dumps(list(ids))
        with self._database.write() as connection:
            for condition in (f"source IN {_IDS}", f"target IN {_IDS}", f"id IN {_IDS}"):
                connection.execute(f"DELETE FROM edge WHERE {condition}", (listing,))
            connection.execute(f"DELETE FROM property WHERE node IN {_IDS}", (listing,))
            connection.execute(f"DELETE FROM node WHERE id IN {_IDS}", (listing,))

    def replace_all(self, nodes: Sequence[Node], edges: Sequence[Edge]) -> None:
        node_rows, edge_rows = check_rows(nodes, edges)
        refuse_size(GraphSize(len(node_rows), len(edge_rows)))
        with self._database.write() as connection:
            for table in ("property", "edge", "node"):
                connection.execute(f"DELETE FROM {table}")
            _write_nodes(connection, node_rows)
            _write_edges(connection, edge_rows)

    def constraints(self) -> Sequence[str]:
        return ("node ids are unique", "edge ids are unique", "both ends of an edge exist")

    def find_nodes(
        self, kind: str | None = None, properties: Mapping[str, Value] | None = None, limit: int = 100
    ) -> list[Node]:
        conditions, values = [], list[object]()
        if kind is not None:
            conditions.append("kind = ?")
            values.append(kind)
        for name, value in (properties or {}).items():
            conditions.append("id IN (SELECT node FROM property WHERE name = ? AND value = ?)")
            values += [name, json.dumps(value)]
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        query = f"SELECT id, kind, body FROM node {where} ORDER BY id LIMIT ?"
        with self._database.read() as connection:
            rows = connection.execute(query, (*values, check_limit(limit))).fetchall()
        return [_node_of(row) for row in rows]

    def get_nodes(self, ids: Iterable[str]) -> dict[str, Node]:
        query = f"SELECT id, kind, body FROM node WHERE id IN {_IDS} ORDER BY id"
        with self._database.read() as connection:
            rows = connection.execute(query, (json.dumps(list(ids)),)).fetchall()
        return {row[0]: _node_of(row) for row in rows}

    def expand(
        self, ids: Sequence[str], kinds: Sequence[str] = (), direction: Direction = "out", limit: int = 10_000
    ) -> list[Link]:
        links: set[Link] = set()
        with self._database.read() as connection:
            for column, name in (("source", "out"), ("target", "in")):
                if direction in (name, "both"):
                    links.update(_read_links(connection, column, ids, kinds, limit))
        return sorted(links)

    def adjacent_ids(
        self, ids: Sequence[str], kinds: Sequence[str] = (), direction: Direction = "out", limit: int = 10_000
    ) -> list[str]:
        ends: set[str] = set()
        with self._database.read() as connection:
            for column, other, name in (("source", "target", "out"), ("target", "source", "in")):
                if direction in (name, "both"):
                    condition, values = _edge_condition(column, ids, kinds)
                    query = f"SELECT DISTINCT {other} FROM edge WHERE {condition} ORDER BY 1 LIMIT ?"
                    ends.update(end for (end,) in connection.execute(query, (*values, limit)))
        return sorted(ends)

    def all_nodes(self) -> Iterator[Node]:
        with self._database.read() as connection:
            for row in connection.execute("SELECT id, kind, body FROM node ORDER BY id"):
                yield _node_of(row)

    def all_edges(self) -> Iterator[Edge]:
        with self._database.read() as connection:
            for row in connection.execute("SELECT id, kind, source, target, body FROM edge ORDER BY id"):
                yield Edge(*row[:4], **_read_body(row[4]))

    def size(self) -> GraphSize:
        with self._database.read() as connection:
            return _count_rows(connection)

    def close(self) -> None:
        self._database.close()


def _open_own(path: Path) -> Database:
    """The database of this checkout; one that is damaged, of another version, or shipped with a clone is
    dropped, since all of it can be made again."""
    for _ in range(2):
        with suppress(IndexCorrupt):
            database = open_exact(path, _SCRIPT.lstrip("\n"))
            if database is not None and _is_own(database, path):
                return database
            if database is not None:
                database.close()
        delete_database(path)
    database = open_exact(path, _SCRIPT.lstrip("\n"))
    assert database is not None, "BUG: a new database has another schema"
    assert _is_own(database, path), "BUG: a new database has another origin"
    return database


def _is_own(database: Database, path: Path) -> bool:
    inode = path.stat().st_ino
    with database.write() as connection:
        if not is_made_by(connection, _SCRIPT.lstrip("\n")):
            return False
        rows = connection.execute("SELECT inode FROM origin").fetchall()
        is_new = not rows and _count_rows(connection) == GraphSize(0, 0)
        if is_new:
            connection.execute("INSERT INTO origin (inode) VALUES (?)", (inode,))
    return is_new or rows == [(inode,)]


def _write_nodes(connection: Connection, nodes: Sequence[Node]) -> None:
    listing = json.dumps([node.id for node in nodes])
    connection.execute(f"DELETE FROM property WHERE node IN {_IDS}", (listing,))
    connection.executemany(
        "INSERT OR REPLACE INTO node (id, kind, body) VALUES (?, ?, ?)",
        ((node.id, node.kind, _write_body(node)) for node in nodes),
    )
    connection.executemany(
        "INSERT OR REPLACE INTO property (name, value, node) VALUES (?, ?, ?)",
        ((name, json.dumps(value), node.id) for node in nodes for name, value in node.properties.items()),
    )


def _write_edges(connection: Connection, edges: Sequence[Edge]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO edge (id, source, kind, target, body) VALUES (?, ?, ?, ?, ?)",
        ((edge.id, edge.source, edge.kind, edge.target, _write_body(edge)) for edge in edges),
    )
    ids = json.dumps([edge.id for edge in edges])
    refuse_dangling(connection.execute(_DANGLING, {"ids": ids}).fetchall())


def _read_links(
    connection: Connection, column: str, ids: Sequence[str], kinds: Sequence[str], limit: int
) -> list[Link]:
    condition, values = _edge_condition(column, ids, kinds)
    query = f"SELECT source, kind, target, id FROM edge WHERE {condition} ORDER BY 1, 2, 3, 4 LIMIT ?"
    return [Link._make(row) for row in connection.execute(query, (*values, limit))]


def _edge_condition(column: str, ids: Sequence[str], kinds: Sequence[str]) -> tuple[str, list[object]]:
    if not kinds:
        return f"{column} IN {_IDS}", [json.dumps(list(ids))]
    return f"{column} IN {_IDS} AND kind IN {_IDS}", [json.dumps(list(ids)), json.dumps(list(kinds))]


def _count_rows(connection: Connection) -> GraphSize:
    [(nodes, edges)] = connection.execute(
        "SELECT (SELECT count(*) FROM node), (SELECT count(*) FROM edge)"
    ).fetchall()
    return GraphSize(nodes, edges)


def _write_body(row: Node | Edge) -> str:
    return json.dumps([row.version, row.updated_at, row.updated_by, dict(row.properties)])


def _read_body(body: str) -> dict[str, Any]:
    version, updated_at, updated_by, properties = decode_json(body)
    return {
        "properties": read_properties(properties),
        "version": version,
        "updated_at": updated_at,
        "updated_by": updated_by,
    }


def read_properties(values: Mapping[str, Any]) -> Properties:
    """Properties as a store gives them back: lists are tuples in a node."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def _node_of(row: tuple[str, str, str]) -> Node:
    return Node(row[0], row[1], **_read_body(row[2]))
