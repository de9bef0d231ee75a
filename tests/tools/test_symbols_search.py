"""In which order symbols are found, and what of them is shown."""

from pathlib import Path
from typing import Any

from tests.tools.conftest import Ask


def _symbols(body: dict[str, Any]) -> list[str]:
    return [symbol for file in body["result"]["files"] for symbol in file["symbols"]]


def test_names_like_it_in_source_come_before_those_in_tests(ask: Ask, repo: Path) -> None:
    texts = {
        "tests/test_a.py": "class CartTest: ...\n",
        "tests/test_b.py": "class Cart: ...\n",
        "shop.py": "class ShoppingCart: ...\n\n\ncart = 1\n",
        "pkg/src/a.ts": "export class CartLine {}\n",
        "pkg/a.js": "export class CartLine {}\nexport class Cart {}\n",
    }
    for name, text in texts.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    names = [line.split(": ")[0] for line in _symbols(ask("symbols_search", query="Cart"))]
    assert names == [
        "1 class Cart", "1 class CartLine", "4 variable cart", "1 class ShoppingCart", "1 class CartTest",
        "2 class Cart", "1 class CartLine",
    ]  # fmt: skip


def test_overloads_are_one_line_with_their_number(ask: Ask, repo: Path) -> None:
    (repo / "a.ts").write_text(
        "/** Adds. */\nexport function add(a: 1): void;\nexport function add(a: 2): void;\n"
        "export function add(a: any) {}\nexport class Box {\n  put(a: 1): void;\n  put(a: any) {}\n}\n"
    )
    assert _symbols(ask("symbols_search", query="add")) == ["4 function add ×3: function add(a: any)"]
    assert ask("symbols_search", query="add", limit=1)["result"].get("more") is None
    assert ask("symbols_get_card", symbol="Box")["result"]["members"] == ["7 method put ×2"]
    assert ask("symbols_get_card", symbol="add")["result"]["documentation"] == "Adds."


def test_a_directory_shows_the_outer_definitions_of_its_files(ask: Ask, repo: Path) -> None:
    (repo / "lib").mkdir()
    (repo / "lib" / "a.py").write_text("class A:\n    def f(self): ...\n")
    (repo / "lib" / "b.py").write_text("def g():\n    def h(): ...\n")
    assert _symbols(ask("symbols_search", path="lib")) == ["1 class A", "1 function g: def g()"]


def test_documentation_may_be_long_and_a_word_to_a_linter_is_none(ask: Ask, repo: Path) -> None:
    (repo / "a.ts").write_text(
        "/**\n * Begins.\n" + " * more\n" * 90 + " */\nexport function long() {}\n\n"
        "/* tslint:disable:max-line-length */\nexport function short() {}\n"
    )
    assert ask("symbols_get_card", symbol="long")["result"]["documentation"].startswith("Begins.\nmore")
    assert "documentation" not in ask("symbols_get_card", symbol="short")["result"]
