"""Members, owners and bases as different languages write them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tools.repo import Repo

FILES = {
    "go.mod": "module example.com/app\n\ngo 1.21\n",
    "store/store.go": "package store\n\ntype Loader interface{ Load(key string) string }\n\n"
    "type Disk struct{ n int }\n\n// Load reads one.\n"
    "func (d *Disk) Load(key string) string { return d.twice(key) }\n\n"
    "func (d *Disk) twice(key string) string { return key }\n",
    "rs/Cargo.toml": '[package]\nname = "shapes"\nversion = "0.1.0"\n',
    "rs/src/lib.rs": "pub trait Shape { fn area(&self) -> f64; }\npub struct Square { side: f64 }\n"
    "impl Square { pub fn new(side: f64) -> Self { Square { side } } }\n"
    "impl Shape for Square {\n    fn area(&self) -> f64 { self.side }\n}\n",
    "java/app/Figure.java": "package app;\n/** One. */\npublic interface Figure {\n  double size();\n}\n",
    "java/app/Circle.java": "package app;\npublic class Circle implements Figure {\n  public Circle() {}\n"
    "  public double size() { return 1; }\n  static double sum(Figure f) { return f.size(); }\n"
    "  static Circle make() { return new Circle(); }\n}\n",
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    made = Repo(Path(tmp_path_factory.mktemp("languages")), FILES)
    yield made
    made.session.close()


def card(repo: Repo, symbol: str) -> dict[str, Any]:
    return repo.result("symbols_get_card", symbol=symbol)


def test_members_outside_of_a_type_are_on_its_card(repo: Repo) -> None:
    assert card(repo, "store.Disk")["members"] == ["5 field n", "8 method Load", "10 method twice"]
    assert card(repo, "shapes::Square")["members"] == ["2 field side", "3 method new", "5 method area"]


def test_a_member_outside_of_its_type_knows_it(repo: Repo) -> None:
    assert card(repo, "Disk.Load")["container"] == "example.com/app/store.Disk"
    assert card(repo, "Square.area")["container"] == "shapes.Square"
    assert card(repo, "Square.area")["overrides"] == ["proven shapes.Shape.area rs/src/lib.rs:1"]


def test_interfaces_and_what_implements_them(repo: Repo) -> None:
    circle = repo.result("types_hierarchy", symbol="Circle")
    assert circle["interfaces"] == [{"name": "Figure", "at": "java/app/Figure.java:3", "tier": "strong"}]
    square = {"name": "Square", "at": "rs/src/lib.rs:2", "tier": "proven"}
    assert repo.result("types_hierarchy", symbol="Shape")["derived"] == [square]
    assert repo.result("refs_find", symbol="Figure.size")["kinds"] == {"call": 1, "implement": 1}


def test_where_types_implement_silently_their_methods_tell(repo: Repo) -> None:
    loader = repo.result("types_hierarchy", symbol="Loader")
    assert [one["name"] for one in loader["implementations"]] == ["Disk"] and "absence" not in loader


def test_a_constructor_is_called_where_its_class_is(repo: Repo) -> None:
    [level] = repo.result("graph_callers", symbol="java/app/Circle.java:3")["levels"]
    assert [node["symbol"] for node in level["nodes"]] == ["app.Circle.make"]


def test_a_call_of_an_interface_may_mean_what_implements_it(repo: Repo) -> None:
    assert "app.Figure.size" in repo.result("graph_callers", symbol="Circle.size")["hint"]
    [level] = repo.result("graph_callers", symbol="Circle.size", follow_interface=True)["levels"]
    [node] = level["nodes"]
    edge = {"tier": "anchored", "lines": [5], "via": "Figure.size"}
    assert (node["symbol"], node["edges"]) == ("app.Circle.sum", [edge])
