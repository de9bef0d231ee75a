"""What a write says that it broke, in repositories where it did."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.tools.conftest import Made
from tests.tools.repo import Repo

CART = """\
import os
from shop.money import cents


class Cart:
    def __init__(self, owner):
        self.owner = owner

    def add(self, item, count=1):
        return item, count

    @staticmethod
    def of(owner):
        return Cart(owner)


def price(cart, rate=1):
    return cents(cart), os.name, rate


def wrapped(function):
    return function


@wrapped
def decorated(a):
    return a
"""
PAGE = """\
from shop import cart
from shop.cart import Cart, decorated, price


def show(price_of=None, cents=1):
    basket = Cart("me")
    basket.add(1)
    Cart.add(basket, 1, count=2)
    decorated(1)
    return price(basket), cart.price(basket, rate=2), cents


def star(*args):
    return price(*args)
"""
FILES = {
    "shop/__init__.py": "from shop.money import cents\n",
    "shop/cart.py": CART,
    "shop/money.py": "def cents(value):\n    return value\n",
    "shop/page.py": PAGE,
    "app.py": "from shop import cents\n\ncents(1)\n",
    "tests/test_cart.py": "from shop.cart import price\n\n\ndef test_price():\n    assert price(None)\n",
}


@pytest.fixture
def shop(made: Made) -> Iterator[Repo]:
    repo = made(FILES)
    repo.session.index.refresh()
    yield repo


def broke(repo: Repo, old: str, new: str, path: str = "shop/cart.py") -> list[str]:
    edit = {"path": path, "expected_content": old, "new_content": new}
    return list(repo.result("write_source", edits=[edit]).get("broke", []))


def test_names_that_meant_what_is_gone_are_listed(shop: Repo) -> None:
    gone = "def price(cart, rate=1):\n    return cents(cart), os.name, rate\n"
    assert broke(shop, gone, "") == [
        "price (removed from shop/cart.py): shop/page.py:2,10,14 tests/test_cart.py:1,5"
    ]


def test_a_renamed_definition_is_told_by_its_new_name(shop: Repo) -> None:
    assert broke(shop, "def add(", "def put(") == ["add (put now): shop/page.py:7,8"]


def test_an_edit_of_a_body_breaks_nothing(shop: Repo) -> None:
    assert broke(shop, "return item, count", "return count, item") == []


def test_an_import_that_is_dropped_is_missed_in_the_file_and_by_those_who_import_it(shop: Repo) -> None:
    assert broke(shop, "import os\n", "") == ["os (no longer imported): shop/cart.py:17"]
    assert broke(shop, "from shop.money import cents\n", "\n", "shop/__init__.py") == [
        "cents (no longer imported): app.py:1,3"
    ]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "def price(cart, rate=1)",
            "def price(cart, rate)",
            ["calls to price (missing rate): shop/page.py:10 tests/test_cart.py:5"],
        ),
        (
            "def price(cart, rate=1)",
            "def price(cart)",
            ["calls to price (no parameter rate): shop/page.py:10"],
        ),
        (
            "def price(cart, rate=1)",
            "def price()",
            [
                "calls to price (passes 1 positional, at most 0 fit): shop/page.py:10 tests/test_cart.py:5",
            ],
        ),
        ("def price(cart, rate=1)", "def price(cart, rate=1, *, more=None)", []),
        ("def price(cart, rate=1)", "def price(cart: int, rate: int = 1) -> int", []),
        (
            "def add(self, item, count=1)",
            "def add(self, item, count)",
            ["calls to add (missing count): shop/page.py:7"],
        ),
        (
            "def __init__(self, owner)",
            "def __init__(self, owner, store)",
            ["calls to Cart (missing store): shop/cart.py:14 shop/page.py:6"],
        ),
        ("def decorated(a)", "def decorated(a, b)", []),
    ],
)
def test_calls_that_no_longer_fit_are_listed(shop: Repo, old: str, new: str, expected: list[str]) -> None:
    found = [line for line in broke(shop, old, new) if "calls to" in line]
    assert found == expected


def test_a_syntax_error_has_its_line_and_comes_before_all_else(shop: Repo) -> None:
    answer = shop.ask(
        "write_source",
        edits=[
            {"path": "shop/cart.py", "expected_content": "def price(cart", "new_content": "def price((cart"}
        ],
    )
    assert answer.text.startswith("broke:\n  syntax error: shop/cart.py:")
    assert "def price((cart, rate=1):" in answer.text.split("\n")[1]


def test_what_a_syntax_error_hides_is_not_said_to_be_removed(shop: Repo) -> None:
    edit = {
        "path": "shop/cart.py",
        "expected_content": "def price(cart, rate=1):",
        "new_content": "def price(cart:",
    }
    answer = shop.ask("write_source", edits=[edit])
    assert "syntax error" in answer.text and "removed" not in answer.text


def test_an_undo_says_what_it_broke(shop: Repo) -> None:
    shop.result(
        "write_source",
        edits=[
            {
                "path": "shop/money.py",
                "expected_content": "def cents(",
                "new_content": "def more():\n    pass\n\n\ndef cents(",
            }
        ],
    )
    shop.write("use.py", "from shop.money import more\n\nmore()\n")
    assert shop.result("undo")["broke"] == ["more (removed from shop/money.py): use.py:1,3"]


def test_a_deleted_file_is_missed_by_those_who_import_it(shop: Repo) -> None:
    result: dict[str, Any] = shop.result(
        "write_source", edits=[{"action": "delete", "path": "shop/money.py"}]
    )
    assert any(line.startswith("cents (") and "app.py:1,3" in line for line in result["broke"])


def test_the_answer_of_a_small_write_is_short(shop: Repo) -> None:
    edit = {"path": "shop/cart.py", "expected_content": "return item, count", "new_content": "return count"}
    answer = shop.ask("write_source", edits=[edit])
    assert len(answer.text) <= 200 + len("tests affected: 1 (tests/test_cart.py)")
    assert "{" not in answer.text


def test_what_meant_nothing_before_is_not_broken(made: Made) -> None:
    text = (
        "class Client:\n    def stream(self): ...\n\n\ndef one():\n    response = Client()\n"
        "    response.stream()\n\n\ndef two(response):\n    return response.stream\n"
    )
    repo = made({"client.py": text})
    repo.session.index.refresh()
    assert broke(repo, "def stream(", "def flow(", "client.py") == ["stream (flow now): client.py:7"]


def test_an_edit_of_a_comment_with_line_numbers_pasted_back_is_placed(made: Made) -> None:
    repo = made({"a.py": "def f():\n    return 1\n\n\nx = f()\n"})
    repo.session.index.refresh()
    span = repo.ask("read_source", targets=["a.py:1-5"]).text.split("\n")[1:]
    edit = {"path": "a.py", "expected_content": "\n".join(span[:2]), "new_content": "def f():\n    return 2"}
    repo.result("write_source", edits=[edit])
    assert (repo.root / "a.py").read_text() == "def f():\n    return 2\n\n\nx = f()\n"


def test_new_text_with_line_numbers_in_some_lines_is_refused(made: Made) -> None:
    repo = made({"a.py": "def f():\n    return 1\n"})
    repo.session.index.refresh()
    edit = {
        "path": "a.py",
        "expected_content": "1: def f():\n2:     return 1",
        "new_content": "1: def f():\n    x = 2\n2:     return 1",
    }
    error = repo.error("write_source", edits=[edit])
    assert error["name"] == "INVALID_ARGUMENT" and "line numbers" in error["message"]


def test_calls_of_other_languages_are_checked_as_well(made: Made) -> None:
    repo = made(
        {
            "src/a.ts": "export function area(w: number, h?: number): number {\n  return w;\n}\n",
            "src/b.ts": "import { area } from './a';\nconsole.log(area(1), area(1, 2));\n",
            "go.mod": "module example.com/x\n",
            "pkg/p.go": "package pkg\n\nfunc Sum(a int, b int) int { return a }\n",
            "main.go": 'package main\n\nimport "example.com/x/pkg"\n\nfunc main() { pkg.Sum(1, 2) }\n',
        }
    )
    repo.session.index.refresh()
    assert broke(repo, "h?: number", "h: number", "src/a.ts") == ["calls to area (missing h): src/b.ts:2"]
    assert broke(repo, "a int, b int", "a int", "pkg/p.go") == [
        "calls to Sum (passes 2 positional, at most 1 fit): main.go:5"
    ]
    assert broke(repo, "func Sum(", "func Add(", "pkg/p.go") == ["Sum (Add now): main.go:5"]
