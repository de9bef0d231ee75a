"""Empty lines around definitions that are inserted, replaced or taken away by name."""

from pathlib import Path

import pytest

from tests.tools.repo import Repo

CLASS = """\
import os

LIMIT = 1
OTHER = 2


class Store:
    def get(self):
        return 1

    def put(self):
        return 2


def load():
    return 3
"""
NEW = "def new():\n    return 0\n"
METHOD = "def new(self):\n    return 0\n"
IN_CLASS = "    def new(self):\n        return 0\n"
GET = "    def get(self):\n        return 1\n"
THREE = "func Three() int {\n\treturn 3\n}\n"
GO = "package a\n\nfunc One() int {\n\treturn 1\n}\n\nfunc Two() int {\n\treturn 2\n}\n"
TYPES = "interface A {\n  one(): void\n  two(): void\n}\n"


def _after(text: str, what: str, new: str) -> str:
    return text.replace(what, what + new)


CASES = [
    ("insert_after_symbol", "Store.put", METHOD, _after(CLASS, "return 2\n", f"\n{IN_CLASS}")),
    ("insert_after_symbol", "Store.put", f"\n\n{METHOD}\n\n", _after(CLASS, "return 2\n", f"\n{IN_CLASS}")),
    ("insert_before_symbol", "Store.get", METHOD, _after(CLASS, "class Store:\n", f"{IN_CLASS}\n")),
    ("insert_before_symbol", "load", f"\n{NEW}\n", CLASS.replace("def load", f"{NEW}\n\ndef load")),
    ("insert_after_symbol", "load", f"\n{NEW}", CLASS + f"\n\n{NEW}"),
    ("insert_after_symbol", "Store", NEW, CLASS.replace("\n\ndef load", f"\n\n{NEW}\n\ndef load")),
    ("insert_after_symbol", "LIMIT", "MORE = 3\n", _after(CLASS, "LIMIT = 1\n", "MORE = 3\n")),
    ("insert_after_symbol", "LIMIT", NEW, _after(CLASS, "LIMIT = 1\n", f"\n\n{NEW}\n\n")),
    ("insert_after_symbol", "OTHER", NEW, _after(CLASS, "OTHER = 2\n", f"\n\n{NEW}")),
    ("replace_symbol", "Store.get", f"\n\n{METHOD}\n\n", CLASS.replace(GET, IN_CLASS)),
    ("replace_symbol", "load", "", CLASS.replace("\n\ndef load():\n    return 3\n", "")),
    ("replace_symbol", "Store.put", "", CLASS.replace("\n    def put(self):\n        return 2\n", "")),
    ("replace_symbol", "Store.get", "", CLASS.replace("    def get(self):\n        return 1\n\n", "")),
    ("replace_symbol", "LIMIT", "", CLASS.replace("LIMIT = 1\n", "")),
    ("insert_after_symbol", "Two", f"\n{THREE}\n", f"{GO}\n{THREE}"),
    ("insert_before_symbol", "Two", THREE, GO.replace("func Two", f"{THREE}\nfunc Two")),
    ("insert_after_symbol", "A.one", "new(): void", TYPES.replace("  two", "  new(): void\n  two")),
]
PATHS = {"Two": "a.go", "A.one": "a.ts"}
FILES = {"store.py": CLASS, "a.go": GO, "a.ts": TYPES}


@pytest.mark.parametrize(("action", "symbol", "new", "expected"), CASES)
def test_neighbours_stand_apart_as_others_do(
    tmp_path: Path, action: str, symbol: str, new: str, expected: str
) -> None:
    path = PATHS.get(symbol, "store.py")
    repo = Repo(tmp_path, {path: FILES[path]})
    repo.result("write_source", edits=[{"action": action, "symbol": symbol, "new_content": new}])
    repo.session.close()
    assert (repo.root / path).read_text() == expected
