"""A patch stays inside of its node's symbols, whichever way it was made."""

import pytest

from codeplane.controller.execution.bounds import check_bounds, find_symbols, outline_of
from codeplane.core.errors import PatchOutOfBounds

BEFORE = '''"""App."""

import os
from typing import (
    Any,
)

LIMIT = 3


def load(url):
    return os.getcwd() + url


# Writes.
@cache
def dump(value):
    return str(value)


class Store:
    def fetch(self, key):
        return key

    def drop(self):
        return None
'''


def check(after: str, *symbols: str) -> None:
    check_bounds("app.py", BEFORE.encode(), after.encode(), symbols)


def test_a_change_inside_of_a_symbol_is_allowed() -> None:
    check(BEFORE.replace("+ url", "+ '/' + url"), "load")
    check(BEFORE.replace("return key", "return key or None"), "Store.fetch")
    check(BEFORE.replace("return key", "return key or None"), "app.Store.fetch")
    check(BEFORE.replace("return key", "return key or None"), "Store")
    check(BEFORE.replace("# Writes.\n@cache", "# Writes text.\n@lru_cache"), "dump")


@pytest.mark.parametrize(
    ("old", "new", "symbol"),
    [
        ("str(value)", "repr(value)", "load"),
        ("return None", "return 1", "Store.fetch"),
        ("LIMIT = 3", "LIMIT = 4", "load"),
        ("import os", "import os, sys", "load"),
    ],
)
def test_a_change_outside_is_refused_with_what_is_allowed(old: str, new: str, symbol: str) -> None:
    with pytest.raises(PatchOutOfBounds, match=r"outside of the node's symbols\. Allowed: ") as caught:
        check(BEFORE.replace(old, new), symbol)
    assert f"Allowed: {symbol} (lines " in caught.value.message


def test_imports_count_where_the_node_names_the_module_too() -> None:
    after = BEFORE.replace("import os", "import os\nimport re").replace("    Any,", "    Any,\n    Final,")
    after = after.replace("+ url", "+ re.escape(url)")
    with pytest.raises(PatchOutOfBounds):
        check(after, "load")
    check(after, "load", "<module>")
    check(after, "load", "<imports>")
    with pytest.raises(PatchOutOfBounds):
        check(after.replace("LIMIT = 3", "LIMIT = 4"), "load", "<imports>")


def test_a_symbol_that_the_node_adds_is_allowed_and_another_is_not() -> None:
    after = BEFORE.replace("class Store:", "def more(value):\n    return str(value)\n\n\nclass Store:")
    check(after, "more")
    with pytest.raises(PatchOutOfBounds, match="a new other"):
        check(after, "other")


def test_lines_outside_of_every_definition_are_the_modules() -> None:
    check(BEFORE.replace('"""App."""', '"""An app."""'), "<module>")
    with pytest.raises(PatchOutOfBounds):
        check(BEFORE.replace("str(value)", "repr(value)"), "<module>")
    check(BEFORE.replace("LIMIT = 3", "LIMIT = 4"), "LIMIT")


def test_a_symbol_that_goes_is_in_bounds() -> None:
    start = BEFORE.index("# Writes.")
    check(BEFORE[:start] + BEFORE[BEFORE.index("class Store") :], "dump")


def test_a_name_of_two_definitions_is_refused() -> None:
    text = "class A:\n    def run(self): ...\n\n\nclass B:\n    def run(self): ...\n"
    with pytest.raises(PatchOutOfBounds, match=r"several definitions of a\.py: A\.run"):
        check_bounds("a.py", text.encode(), text.replace("...", "pass").encode(), ["run"])


def test_a_file_without_definitions_is_one_symbol() -> None:
    check_bounds("notes.txt", b"a\nb\n", b"a\nc\n", ["notes"])


def test_a_file_that_no_longer_parses_is_refused_where_its_definitions_are_gone() -> None:
    with pytest.raises(PatchOutOfBounds):
        check("((((((\n" * 30, "load")


def test_symbols_are_found_by_several_spellings() -> None:
    outline = outline_of("src/app.ts", b"export class Store {\n  fetch() {\n    return 1;\n  }\n}\n")
    for name in ("Store.fetch", "Store#fetch", "Store::fetch()", "app.Store.fetch", "src/app.Store.fetch"):
        assert [one.name for one in find_symbols(outline, "src/app.ts", name)] == ["Store.fetch"], name
