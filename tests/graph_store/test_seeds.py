import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.errors import SeedInvalid
from codeplane.graph_store import Edge, GraphSize, Node, export_delta, find_delta, read_seeds, sync_seeds
from codeplane.graph_store.sqlite_store import SqliteStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def graph(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "graph.db")


def seed_row(name: str, kind: str = "Table", **fields: Any) -> dict[str, Any]:
    stamp = {"version": 1, "updated_at": "2026-01-31T12:00:00Z", "updated_by": "ann"}
    return {"id": name, "type": kind, **stamp, **fields}


def write_seed(state: Path, name: str, *rows: dict[str, Any] | str) -> None:
    file = state / "graph" / "seed" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    file.write_text("\n".join(lines) + "\n")


def write_sample(state: Path) -> None:
    write_seed(
        state, "tables.jsonl", seed_row("t", properties={"name": "orders", "tags": ["a"]}), "", seed_row("u")
    )
    write_seed(state, "more/edges.jsonl", seed_row("t-u", "HAS", source="t", target="u"))


def test_a_sync_replaces_the_graph_by_what_the_files_say(tmp_path: Path, graph: SqliteStore) -> None:
    graph.upsert([Node("old", "Table")], [])
    write_sample(tmp_path)
    seeds = sync_seeds(graph, tmp_path)
    assert (seeds.files, seeds.rows) == (2, 3)
    stamp: Any = {"updated_at": "2026-01-31T12:00:00Z", "updated_by": "ann"}
    assert list(graph.all_nodes()) == [
        Node("t", "Table", {"name": "orders", "tags": ("a",)}, **stamp),
        Node("u", "Table", **stamp),
    ]
    assert list(graph.all_edges()) == [Edge("t-u", "HAS", "t", "u", **stamp)]


def test_no_files_are_an_empty_graph(tmp_path: Path, graph: SqliteStore) -> None:
    graph.upsert([Node("old", "Table")], [])
    sync_seeds(graph, tmp_path)
    assert graph.size() == GraphSize(0, 0)


BAD_ROWS: list[tuple[dict[str, Any] | str, str]] = [
    ("{", "not JSON"),
    ("[1]", "a row has to be an object"),
    ({"id": "x", "type": "Table"}, "has no `version`, `updated_at`, `updated_by`"),
    (seed_row("x", version=0), "`version`"),
    (seed_row("x", version="1"), "`version`"),
    (seed_row("x", version=True), "`version`"),
    (seed_row("x", updated_at="yesterday"), "`updated_at`"),
    (seed_row("x", updated_at="2026-01-31T12:00:00"), "with its zone"),
    (seed_row("x", updated_by=" "), "`updated_by`"),
    (seed_row("x", "two words"), "`type`"),
    (seed_row(""), "`id`"),
    (seed_row("x", propertys={}), "did you mean `properties`"),
    (seed_row("x", properties={"a": None}), "the property `a`"),
    (seed_row("x", properties={"a": {"b": 1}}), "the property `a`"),
    (seed_row("x", properties=[1]), "`properties`"),
    (seed_row("x", deleted="yes"), "`deleted`"),
    (seed_row("x", "HAS", source="t"), "`target`"),
    (seed_row("x", "HAS", source="t", target="nobody"), "`nobody`, which no row describes"),
    (seed_row("t"), "has version 1 twice: see tables.jsonl:1"),
    (seed_row("t", "HAS", source="t", target="u", version=2), "is a node and an edge: see tables.jsonl:1"),
    ("x" * 70_000, "more than 65536 bytes"),
]


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS, ids=[reason for _, reason in BAD_ROWS])
def test_a_bad_row_is_named_with_file_and_line_and_changes_nothing(
    tmp_path: Path, graph: SqliteStore, row: dict[str, Any] | str, reason: str
) -> None:
    write_sample(tmp_path)
    sync_seeds(graph, tmp_path)
    write_seed(tmp_path, "zz/bad.jsonl", seed_row("good"), row)
    with pytest.raises(SeedInvalid) as error:
        sync_seeds(graph, tmp_path)
    problems: Any = error.value.details["problems"]
    [problem] = problems
    assert problem.startswith("zz/bad.jsonl:2: ")
    assert reason in problem
    assert graph.size() == GraphSize(2, 1)


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    write_seed(tmp_path, "a.jsonl", "{", seed_row("x", version=0))
    write_seed(tmp_path, "b.jsonl", seed_row("y", updated_by=""))
    with pytest.raises(SeedInvalid, match="and 2 more") as error:
        read_seeds(tmp_path / "graph" / "seed")
    assert error.value.details["total"] == 3


def test_a_link_in_the_seed_folder_is_not_followed(tmp_path: Path) -> None:
    write_sample(tmp_path)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.jsonl").write_text("not a row\n")
    (tmp_path / "graph" / "seed" / "linked").symlink_to(outside)
    (tmp_path / "graph" / "seed" / "x.jsonl").symlink_to(outside / "x.jsonl")
    assert read_seeds(tmp_path / "graph" / "seed").files == 2


def test_the_highest_version_of_a_row_counts(tmp_path: Path) -> None:
    write_sample(tmp_path)
    write_seed(tmp_path, "a.jsonl", seed_row("t", "Route", version=3), seed_row("t", version=2))
    write_seed(tmp_path, "z.jsonl", seed_row("t-u", "HAS", source="t", target="u", version=2, deleted=True))
    seeds = read_seeds(tmp_path / "graph" / "seed")
    assert [(node.id, node.kind, node.version) for node in seeds.nodes] == [
        ("t", "Route", 3),
        ("u", "Table", 1),
    ]
    assert seeds.edges == ()


def test_a_delta_put_beside_the_seed_files_makes_the_same_graph(tmp_path: Path, graph: SqliteStore) -> None:
    write_sample(tmp_path)
    sync_seeds(graph, tmp_path)
    assert export_delta(graph, tmp_path, actor="ann") is None
    graph.upsert([Node("u", "Route", {"path": "/u"}), Node("v", "Table")], [Edge("u-v", "HAS", "u", "v")])
    graph.remove(["t"])
    file = export_delta(graph, tmp_path, actor="bob", now=NOW)
    assert file == tmp_path / "graph" / "out" / "delta-20260301T120000000000Z.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["id"], row["version"], row.get("deleted", False)) for row in rows] == [
        ("v", 1, False),
        ("u-v", 1, False),
        ("u", 2, False),
        ("t", 2, True),
        ("t-u", 2, True),
    ]
    assert {row["updated_by"] for row in rows} == {"bob"}
    shape = _shape_of(graph)
    file.rename(tmp_path / "graph" / "seed" / "delta.jsonl")
    sync_seeds(graph, tmp_path)
    assert _shape_of(graph) == shape
    assert find_delta(graph, read_seeds(tmp_path / "graph" / "seed")).is_empty


def _shape_of(graph: SqliteStore) -> list[tuple[Any, ...]]:
    nodes = [(node.id, node.kind, node.properties) for node in graph.all_nodes()]
    return [*nodes, *((edge.id, edge.kind, edge.source, edge.target) for edge in graph.all_edges())]
