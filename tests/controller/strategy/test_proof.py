"""Proof chains over seed rows, each fact checked against the code."""

from dataclasses import replace
from pathlib import Path

import pytest

from codeplane.controller.strategy import prove, shipped_book
from codeplane.controller.strategy.facts import Fact
from codeplane.core.errors import NotFound
from codeplane.graph_store import Edge, Node
from codeplane.graph_store.sqlite_store import SqliteStore
from codeplane.names import Snapshot

AGGRID = [
    Node(
        "orders", "Table", {"path": "src/orders.table.ts", "line": 3, "symbol": "ordersTable"}, 2, "", "ann"
    ),
    Node("orders.id", "ColumnDef", {"path": "src/orders.table.ts", "line": 4, "symbol": "idColumn"}),
    Node("link", "CellRenderer", {"path": "src/link.renderer.ts", "symbol": "LinkRenderer"}),
    Node(
        "link.open", "NavTrigger", {"path": "src/link.renderer.ts", "line": 2, "symbol": "LinkRenderer.open"}
    ),
    Node("orders/:id", "Route", {"path": "src/routes.ts", "line": 1}),
    Node("order-page", "Component", {"path": "src/order.component.ts", "symbol": "OrderComponent"}),
    Node("order-service", "Service", {"path": "src/order.service.ts", "symbol": "OrderService"}),
    Node("order", "Definition", {"path": "src/order.model.ts", "symbol": "Order"}),
]
FEDERATION = [
    Node("host/orders", "HostRoute", {"path": "src/routes.ts"}),
    Node("map/orders", "FederationMapping", {"path": "module-federation.config.js"}),
    Node("expose/orders", "RemoteExpose", {}),
    Node("module/orders", "RemoteModule", {"path": "src/remote.ts"}),
    Node("show/orders", "DestinationComponent", {"path": "src/order.component.ts"}),
]


def tie(chain_id: str, nodes: list[Node]) -> list[Edge]:
    hops = shipped_book().chains[chain_id].hops
    pairs = zip(nodes, nodes[1:], hops[1:], strict=False)
    return [Edge(f"{a.id}->{b.id}", hop.via[0], a.id, b.id) for a, b, hop in pairs]


@pytest.fixture
def graph(tmp_path: Path) -> SqliteStore:
    store = SqliteStore(tmp_path / "graph.db")
    store.upsert(
        [*AGGRID, *FEDERATION], [*tie("aggrid_origin", AGGRID), *tie("federation_proof", FEDERATION)]
    )
    return store


@pytest.mark.parametrize(("chain_id", "nodes"), [("aggrid_origin", AGGRID), ("federation_proof", FEDERATION)])
def test_a_whole_chain_gives_every_hop_with_its_evidence(
    graph: SqliteStore, grid: Snapshot, chain_id: str, nodes: list[Node]
) -> None:
    result = prove(chain_id, None, graph, grid)
    assert result.broken_at is None
    assert [hop.fact_id for hop in result.hops] == [node.id for node in nodes]
    assert "brokenAt" not in result.to_wire()
    if chain_id == "aggrid_origin":
        assert (
            result.hops[0].evidence
            == "src/orders.table.ts:3, ordersTable, graph row orders (version 2 by ann)"
        )


@pytest.mark.parametrize("number", range(1, 8))
def test_a_missing_hop_is_where_the_chain_breaks(graph: SqliteStore, grid: Snapshot, number: int) -> None:
    graph.remove([AGGRID[number].id])
    result = prove("aggrid_origin", "orders", graph, grid)
    hop = shipped_book().chains["aggrid_origin"].hops[number]
    assert result.broken_at == hop.fact == AGGRID[number].kind
    assert [one.fact_id for one in result.hops] == [node.id for node in AGGRID[:number]]
    assert result.reason == f"{AGGRID[number - 1].id} has no {hop.via[0]} to a {hop.fact}"
    assert f"a row of the type {hop.fact}" in result.mend and f"an edge {hop.via[0]}" in result.mend


def test_a_chain_without_a_first_fact_breaks_at_once(tmp_path: Path, grid: Snapshot) -> None:
    result = prove("federation_proof", None, SqliteStore(tmp_path / "empty.db"), grid)
    assert (result.broken_at, result.hops, result.reason) == ("HostRoute", (), "no HostRoute is known")
    assert result.mend.startswith("Put a row of the type HostRoute")


def test_a_start_that_nobody_knows_is_named(graph: SqliteStore, grid: Snapshot) -> None:
    assert prove("aggrid_origin", "invoices", graph, grid).reason == "no Table invoices is known"


@pytest.mark.parametrize(
    ("properties", "flaw"),
    [
        ({"path": "src/gone.ts"}, "src/gone.ts does not exist"),
        ({"path": "../etc/passwd"}, "../etc/passwd does not exist"),
        (
            {"path": "src/order.component.ts", "symbol": "Renamed"},
            "src/order.component.ts defines no Renamed",
        ),
        ({"path": "src/order.component.ts", "symbol": "OrderService"}, "defines no OrderService"),
        ({"path": "src/order.component.ts", "line": 99}, "src/order.component.ts has no line 99"),
    ],
)
def test_a_row_that_the_code_contradicts_breaks_the_chain(
    graph: SqliteStore, grid: Snapshot, properties: dict[str, str | int], flaw: str
) -> None:
    graph.upsert([replace(AGGRID[5], properties=properties)], [])
    result = prove("aggrid_origin", None, graph, grid)
    assert result.broken_at == "Component"
    assert result.reason.startswith("order-page is out of date: ") and flaw in result.reason


def test_another_way_is_found_where_one_is_out_of_date(graph: SqliteStore, grid: Snapshot) -> None:
    bad = Node("a-bad", "ColumnDef", {"path": "src/gone.ts"})
    graph.upsert([bad], [Edge("x", "HAS_COLUMN", "orders", "a-bad")])
    assert prove("aggrid_origin", None, graph, grid).broken_at is None


def test_an_edge_of_another_kind_ties_nothing(graph: SqliteStore, grid: Snapshot) -> None:
    graph.upsert([], [Edge("orders->orders.id", "MENTIONS", "orders", "orders.id")])
    assert prove("aggrid_origin", None, graph, grid).broken_at == "ColumnDef"


def test_a_proof_has_to_pass_the_files_in_question(graph: SqliteStore, grid: Snapshot) -> None:
    assert prove("aggrid_origin", None, graph, grid, touching=["src/routes.ts"]).broken_at is None
    elsewhere = prove("aggrid_origin", None, graph, grid, touching=["src/plain.ts"])
    assert elsewhere.broken_at == "Definition"
    assert "passes none of the files in question" in elsewhere.reason


def test_a_chain_that_nobody_wrote_is_not_found(graph: SqliteStore, grid: Snapshot) -> None:
    with pytest.raises(NotFound, match="there are aggrid_origin, federation_proof"):
        prove("angular_origin", None, graph, grid)


class Surfaces:
    """A second source of facts, which knows what the graph lacks."""

    def first_facts(self, kind: str) -> list[Fact]:
        return []

    def next_facts(self, fact: Fact, kind: str, via: object) -> list[Fact]:
        return [Fact("found", kind, "surfaces", "src/order.model.ts", 1)] if kind == "Definition" else []


def test_further_sources_supply_what_the_graph_lacks(graph: SqliteStore, grid: Snapshot) -> None:
    graph.remove(["order"])
    result = prove("aggrid_origin", None, graph, grid, sources=[Surfaces()])
    assert result.broken_at is None
    assert result.hops[-1].evidence == "src/order.model.ts:1, surfaces"
