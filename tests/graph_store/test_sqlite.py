import dataclasses
import shutil
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from codeplane.config.settings import GraphStoreSettings
from codeplane.core.errors import (
    GraphConstraintViolated,
    GraphStoreUnavailable,
    GraphTooLarge,
    InvalidArgument,
    InvalidSetting,
)
from codeplane.graph_store import (
    Edge,
    GraphSize,
    Node,
    find_neighbours,
    find_paths,
    find_reach,
    open_store,
    store,
)
from codeplane.graph_store.sqlite_store import SqliteStore
from tests.graph_store.questions import answer_questions, sample_graph


@pytest.fixture
def graph(tmp_path: Path) -> SqliteStore:
    return SqliteStore(tmp_path / "graph.db")


def chain(*ids: str, kind: str = "NEXT") -> tuple[list[Node], list[Edge]]:
    nodes = [Node(name, "Step") for name in ids]
    edges = [Edge(f"{a}{b}", kind, a, b) for a, b in pairwise(ids)]
    return nodes, edges


def test_rows_come_back_as_they_were_put_in(graph: SqliteStore) -> None:
    nodes, edges = sample_graph()
    graph.upsert(nodes, edges)
    assert list(graph.all_nodes()) == nodes
    assert list(graph.all_edges()) == edges


def test_a_second_upsert_replaces_a_row_with_its_properties(graph: SqliteStore) -> None:
    graph.upsert([Node("a", "Table", {"name": "x", "rank": 1})], [])
    graph.upsert([Node("a", "Route", {"name": "y"})], [])
    assert graph.find_nodes(properties={"name": "x"}) == graph.find_nodes(properties={"rank": 1}) == []
    assert graph.find_nodes("Route", {"name": "y"}) == [Node("a", "Route", {"name": "y"})]


def test_an_edge_that_moves_leaves_its_old_place(graph: SqliteStore) -> None:
    graph.upsert(*chain("a", "b", "c"))
    graph.upsert([], [Edge("ab", "SKIPS", "a", "c")])
    assert [(n.link.kind, n.node.id) for n in find_neighbours(graph, "a")] == [("SKIPS", "c")]


def test_an_edge_without_its_node_is_refused_and_nothing_is_written(graph: SqliteStore) -> None:
    graph.upsert(*chain("a", "b"))
    with pytest.raises(GraphConstraintViolated, match="e names missing"):
        graph.upsert([Node("c", "Step")], [Edge("e", "NEXT", "c", "missing")])
    assert graph.size() == GraphSize(2, 1)


def test_a_removed_node_takes_its_edges_along(graph: SqliteStore) -> None:
    graph.upsert(*chain("a", "b", "c"))
    graph.remove(["b", "nobody"])
    assert graph.size() == GraphSize(2, 0)


@pytest.mark.parametrize(
    "node",
    [
        Node("", "Step"),
        Node("a", "not a word"),
        Node("a", "Step`) DETACH DELETE n //"),
        Node("a", "Step", {"kind": "x"}),
        Node("a", "Step", {"a b": "x"}),
        Node("a", "Step", {"x": None}),  # type: ignore[dict-item]
        Node("a", "Step", {"x": 1 << 70}),
        Node("a", "Step", {"x": float("nan")}),
        Node("a", "Step", {"x": (1, 2)}),  # type: ignore[dict-item]
        Node("a", "Step", {"x": "\ud800"}),
        Node("a", "Step", version=0),
    ],
)
def test_rows_that_some_store_could_not_keep_are_refused(graph: SqliteStore, node: Node) -> None:
    with pytest.raises(InvalidArgument):
        graph.upsert([node], [])
    assert graph.size() == GraphSize(0, 0)


def test_paths_are_simple_short_ones_first_and_bounded(graph: SqliteStore) -> None:
    nodes, edges = chain("a", "b", "c", "d")
    graph.upsert(nodes, [*edges, Edge("ca", "NEXT", "c", "a"), Edge("ac", "JUMP", "a", "c")])
    answer = find_paths(graph, "a", 3, target="d")
    assert [path.nodes for path in answer.paths] == [("a", "c", "d"), ("a", "b", "c", "d")]
    assert [path.nodes for path in find_paths(graph, "a", 3, ("NEXT",), target="d").paths] == [
        ("a", "b", "c", "d")
    ]
    assert find_paths(graph, "a", 3, limit=2).is_cut
    assert find_paths(graph, "nobody", 3).paths == ()


def test_reach_gives_the_shortest_distance_and_says_when_it_is_cut(graph: SqliteStore) -> None:
    graph.upsert(*chain("a", "b", "c", "d"))
    assert find_reach(graph, "a", 2).distances == {"b": 1, "c": 2}
    assert find_reach(graph, "c", 2, direction="both").distances == {"b": 1, "d": 1, "a": 2}
    assert find_reach(graph, "d", 3, direction="in").distances == {"c": 1, "b": 2, "a": 3}
    assert find_reach(graph, "a", 3, limit=2).is_cut


@pytest.mark.parametrize("hops", [0, 13])
def test_hops_are_bounded(graph: SqliteStore, hops: int) -> None:
    with pytest.raises(InvalidArgument):
        find_reach(graph, "a", hops)


def test_a_graph_beyond_its_bound_is_refused(graph: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "MOST_NODES", 2)
    with pytest.raises(GraphTooLarge):
        graph.upsert(*chain("a", "b", "c"))
    assert graph.size() == GraphSize(0, 0)


def test_replacing_everything_is_whole_or_not_at_all(graph: SqliteStore) -> None:
    graph.upsert(*chain("a", "b"))
    with pytest.raises(GraphConstraintViolated):
        graph.replace_all([Node("c", "Step")], [Edge("e", "NEXT", "c", "a")])
    assert sorted(node.id for node in graph.all_nodes()) == ["a", "b"]
    graph.replace_all(*chain("x", "y"))
    assert sorted(node.id for node in graph.all_nodes()) == ["x", "y"]


def test_what_is_stored_outlives_the_process_but_not_the_checkout(tmp_path: Path) -> None:
    file = tmp_path / "graph.db"
    first = SqliteStore(file)
    first.upsert(*chain("a", "b"))
    first.close()
    again = SqliteStore(file)
    assert again.size() == GraphSize(2, 1)
    again.close()
    (tmp_path / "clone").mkdir()
    shutil.copy(file, tmp_path / "clone" / "graph.db")
    assert SqliteStore(tmp_path / "clone" / "graph.db").size() == GraphSize(0, 0)


def test_a_damaged_file_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "graph.db").write_bytes(b"no database at all" * 500)
    assert SqliteStore(tmp_path / "graph.db").size() == GraphSize(0, 0)


def test_readers_see_a_whole_graph_while_it_is_replaced(graph: SqliteStore) -> None:
    small, large = chain("a", "b"), sample_graph()
    sizes = {GraphSize(2, 1), GraphSize(len(large[0]), len(large[1]))}
    graph.replace_all(*small)
    others: set[GraphSize] = set()
    is_over = threading.Event()

    def look() -> None:
        while not is_over.is_set():
            others.add(graph.size())

    thread = threading.Thread(target=look)
    thread.start()
    for rows in (large, small) * 10:
        graph.replace_all(*rows)
    is_over.set()
    thread.join()
    assert others <= sizes


def test_every_question_can_be_answered(graph: SqliteStore) -> None:
    graph.upsert(*sample_graph())
    answers = answer_questions(graph)
    assert len(answers["number"]) == 8
    assert answers["no float"] == answers["no boolean"] == answers["missing"] == []
    assert any(answer.is_cut for name, answer in answers.items() if name.startswith("reach cut"))
    assert all(answers[f"paths n{number:03}"].paths for number in (9, 18, 27))


def test_the_settings_choose_the_store(tmp_path: Path) -> None:
    settings = GraphStoreSettings()
    opened = open_store(tmp_path, settings)
    assert opened.name == str(tmp_path / "graph.db")
    opened.close()
    with pytest.raises(InvalidSetting, match="does not begin with"):
        open_store(tmp_path, settings.model_copy(update={"bolt_url": "http://127.0.0.1:1"}))
    with pytest.raises(InvalidSetting, match="is not set"):
        bolt = {"bolt_url": "bolt://127.0.0.1:1", "bolt_password_env": "CODEPLANE_NO_SUCH_VARIABLE"}
        open_store(tmp_path, settings.model_copy(update=bolt))


def test_a_server_that_is_not_there_is_a_typed_error(tmp_path: Path) -> None:
    settings = GraphStoreSettings().model_copy(update={"bolt_url": "bolt://127.0.0.1:9"})
    with pytest.raises(GraphStoreUnavailable, match=r"bolt://127.0.0.1:9 does not answer"):
        open_store(tmp_path, settings)


def test_nodes_are_values() -> None:
    node = Node("a", "Step", {"x": 1})
    assert dataclasses.replace(node, version=2) != node
