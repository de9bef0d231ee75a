"""The tools that read code, through a real client of `cpl mcp`."""

from pathlib import Path

import pytest

from tests.drive import Cpl, new_repo, user_env

CART = """\
class Cart:
    def add(self, item):
        return check(item)


def check(item):
    return item
"""
TEST = """\
from shop.cart import Cart


def test_add():
    cart = Cart()
    cart.add(1)
"""
FILES = {"shop/__init__.py": "", "shop/cart.py": CART, "tests/test_cart.py": TEST}


@pytest.fixture
def shop(tmp_path: Path) -> Cpl:
    return Cpl(new_repo(tmp_path / "shop", FILES), user_env(tmp_path / "home"))


def test_a_symbol_is_known_by_its_card_and_its_references(shop: Cpl) -> None:
    with shop.mcp() as process:
        client = process.open()
        card = client.call("symbols_get_card", {"symbol": "Cart.add"})["result"]
        assert (card["at"], card["calls"]) == ("shop/cart.py:2-3", ["proven check shop/cart.py:6"])
        found = client.call("refs_find", {"symbolId": card["uid"]})["result"]
        [file] = found["files"]
        [ref] = file["refs"]
        assert file["path"] == "tests/test_cart.py" and ref["text"] == "cart.add(1)"
        assert (ref["line"], ref["kind"], ref["tier"], ref["within"]) == (6, "call", "strong", "test_add")


def test_an_edit_is_seen_by_the_next_call(shop: Cpl) -> None:
    with shop.mcp() as process:
        client = process.open()
        assert client.call("refs_find", {"symbol": "check"})["result"]["tiers"] == {"proven": 1}
        (shop.repo / "shop/more.py").write_text("from shop.cart import check\n\ncheck(1)\n")
        assert client.call("refs_find", {"symbol": "check"})["result"]["tiers"] == {"proven": 1, "strong": 2}


def test_calls_and_types_are_walked(shop: Cpl) -> None:
    with shop.mcp("--profile", "full") as process:
        client = process.open()
        up = client.call("graph_callers", {"symbol": "check", "depth": 2})["result"]
        assert [[node["symbol"] for node in level["nodes"]] for level in up["levels"]] == [
            ["shop.cart.Cart.add"],
            ["tests.test_cart.test_add"],
        ]
        down = client.call("graph_callees", {"symbol": "test_add"})["result"]
        assert {node["symbol"] for node in down["levels"][0]["nodes"]} == {
            "shop.cart.Cart",
            "shop.cart.Cart.add",
        }
        assert client.call("types_hierarchy", {"symbol": "Cart"})["result"]["absence"] == "proven_none"
        span = client.call("symbols_get_definition_span", {"symbol": "check"})["result"]
        assert span["text"] == "6: def check(item):\n7:     return item"
