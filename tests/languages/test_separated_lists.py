"""Items get into a separated list and out of it with their separators and comments."""

from collections.abc import Sequence

import pytest
from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.lists import SeparatedList, list_of

PARAMS, FROM = "parameters", "import_from_statement"
_NAMES = frozenset(("dotted_name", "aliased_import"))


def separated_list(language: str, code: str, kind: str, *, trailing: bool = False) -> SeparatedList:
    source = Source(language, code.encode())
    waiting = [source.root]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            is_item = _is_imported_name if kind.startswith("import") else None
            return list_of(source, node, is_item=is_item, trailing=trailing)
        waiting += reversed(node.children)
    raise AssertionError(kind)


def _is_imported_name(node: Node) -> bool:
    parent = node.parent
    assert parent is not None
    return node.type in _NAMES and node != parent.child_by_field_name("module_name")


def after_insertion(items: SeparatedList, index: int, text: str = "X") -> str:
    return items.source.apply(items.insert(index, text)).decode()


def after_removal(items: SeparatedList, indexes: Sequence[int]) -> str:
    return items.source.apply(items.remove(indexes).edits).decode()


# Language, kind of the list, code, index, code afterwards.
INSERTIONS = [
    ("python", PARAMS, "def f(): pass", 0, "def f(X): pass"),
    ("python", PARAMS, "def f( ): pass", 0, "def f(X): pass"),
    ("python", PARAMS, "def f(\n): pass", 0, "def f(\n    X\n): pass"),
    ("python", PARAMS, "def f(\r\n): pass", 0, "def f(\r\n    X\r\n): pass"),
    ("python", PARAMS, "def f(\n    # c\n): pass", 0, "def f(\n    # c\n    X\n): pass"),
    ("python", PARAMS, "def f(  # c\n): pass", 0, "def f(  # c\n    X\n): pass"),
    ("python", PARAMS, "def f(a, b): pass", 0, "def f(X, a, b): pass"),
    ("python", PARAMS, "def f(a, b): pass", 1, "def f(a, X, b): pass"),
    ("python", PARAMS, "def f(a, b): pass", 2, "def f(a, b, X): pass"),
    ("python", PARAMS, "def f(a, b,\n      c): pass", 2, "def f(a, b, X,\n      c): pass"),
    ("python", PARAMS, "def f(a,): pass", 1, "def f(a, X,): pass"),
    ("python", PARAMS, "def f(\n    a, b\n): pass", 2, "def f(\n    a, b, X\n): pass"),
    ("python", PARAMS, "def f(\n\ta,\n\tb,\n): pass", 2, "def f(\n\ta,\n\tb,\n\tX,\n): pass"),
    ("python", PARAMS, "def f(\n    a,\n    b\n): pass", 1, "def f(\n    a,\n    X,\n    b\n): pass"),
    ("python", PARAMS, "def f(a,\n      b): pass", 0, "def f(X,\n      a,\n      b): pass"),
    ("python", PARAMS, "def f(a,\n      b): pass", 2, "def f(a,\n      b,\n      X): pass"),
    (
        "python", PARAMS, "def f(\n    a,  # 1\n    b  # 2\n): pass", 2,
        "def f(\n    a,  # 1\n    b,  # 2\n    X\n): pass",
    ),
    (
        "python", PARAMS, "def f(\n    a,  # 1\n    # 2\n    b,\n): pass", 1,
        "def f(\n    a,  # 1\n    X,\n    # 2\n    b,\n): pass",
    ),
    (
        "python", PARAMS, "def f(\n    a,\n    b,\n    # c,\n): pass", 2,
        "def f(\n    a,\n    b,\n    X,\n    # c,\n): pass",
    ),
    ("python", FROM, "from m import a, b", 1, "from m import a, X, b"),
    ("python", FROM, "from m import (a)", 1, "from m import (a, X)"),
    ("python", FROM, "from m import a  # c", 1, "from m import a, X  # c"),
    ("python", FROM, "from m import a, \\\n    b", 2, "from m import a, \\\n    b, \\\n    X"),
    ("python", FROM, "from m import a, \\\n    b", 1, "from m import a, \\\n    X, \\\n    b"),
    ("python", "import_statement", "import a.b", 0, "import X, a.b"),
    ("javascript", "arguments", "f(a, /* b= */ 1)", 1, "f(a, X, /* b= */ 1)"),
    ("javascript", "arguments", "f(a /* c */)", 1, "f(a /* c */, X)"),
    ("javascript", "arguments", "f(\n  a, // 1\n  b // 2\n)", 2, "f(\n  a, // 1\n  b, // 2\n  X\n)"),
    ("javascript", "named_imports", "import { a } from 'm'", 1, "import { a, X } from 'm'"),
    ("javascript", "formal_parameters", "f = (a // c\n) => a", 1, "f = (a, // c\n    X\n) => a"),
    ("rust", "parameters", "fn f(&self) {}", 1, "fn f(&self, X) {}"),
    ("rust", "parameters", "fn f(#[cfg(a)] x: i32) {}", 0, "fn f(X, #[cfg(a)] x: i32) {}"),
    ("rust", "use_list", "use a::{b, c::d};", 2, "use a::{b, c::d, X};"),
    ("rust", "closure_parameters", "fn f() { let g = |a| a; }", 1, "fn f() { let g = |a, X| a; }"),
    ("c", "parameter_list", "int f(int a, char *b);", 2, "int f(int a, char *b, X);"),
    ("c", "parameter_list", "int f(\n\tint a,\n\tint b)\n{}", 2, "int f(\n\tint a,\n\tint b,\n\tX)\n{}"),
    ("c", "argument_list", "int x = f(1 /* one */, 2);", 1, "int x = f(1 /* one */, X, 2);"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "kind", "code", "index", "result"), INSERTIONS)
def test_an_item_is_inserted(language: str, kind: str, code: str, index: int, result: str) -> None:
    items = separated_list(language, code, kind)
    assert after_insertion(items, index) == result


# Language, kind of the list, code, indexes, code afterwards.
REMOVALS = [
    ("python", PARAMS, "def f(a, b): pass", [0], "def f(b): pass"),
    ("python", PARAMS, "def f(a, b): pass", [1], "def f(a): pass"),
    ("python", PARAMS, "def f(a, b): pass", [0, 1], "def f(): pass"),
    ("python", PARAMS, "def f(a, b, c): pass", [0, 2], "def f(b): pass"),
    ("python", PARAMS, "def f(a, b, c): pass", [1, 2], "def f(a): pass"),
    ("python", PARAMS, "def f(a, b,): pass", [1], "def f(a,): pass"),
    ("python", PARAMS, "def f(\n    a,\n    b,\n): pass", [0], "def f(\n    b,\n): pass"),
    ("python", PARAMS, "def f(\n    a,\n    b,\n): pass", [1], "def f(\n    a,\n): pass"),
    ("python", PARAMS, "def f(\r\n    a,\r\n    b\r\n): pass", [1], "def f(\r\n    a\r\n): pass"),
    ("python", PARAMS, "def f(\n    a,\n    b,\n): pass", [0, 1], "def f(): pass"),
    ("python", PARAMS, "def f(a,\n      b): pass", [0], "def f(b): pass"),
    ("python", PARAMS, "def f(a,\n      b): pass", [1], "def f(a): pass"),
    ("python", PARAMS, "def f(a,\n      b,\n      c): pass", [1], "def f(a,\n      c): pass"),
    ("python", PARAMS, "def f(a, b,\n      c, d): pass", [1], "def f(a,\n      c, d): pass"),
    ("python", PARAMS, "def f(a, b,\n      c, d): pass", [2], "def f(a, b,\n      d): pass"),
    ("python", PARAMS, "def f(a, b,\n      c, d): pass", [2, 3], "def f(a, b): pass"),
    ("python", PARAMS, "def g(\n  a,\n\n  b,\n\n  c,\n): pass", [1], "def g(\n  a,\n\n  c,\n): pass"),
    ("python", PARAMS, "def f(\n    a,\n    *,\n    b): pass", [1, 2], "def f(\n    a): pass"),
    ("python", PARAMS, "def f(a,  # 1\n      b): pass", [1], "def f(a  # 1\n      ): pass"),
    ("python", PARAMS, "def f(a, b,  # 1\n      c): pass", [1], "def f(a,  # 1\n      c): pass"),
    ("python", PARAMS, "def f(\n    # free\n\n    a,\n): pass", [0], "def f(\n    # free\n): pass"),
    ("python", PARAMS, "def f(  # head\n    a,\n    b,\n): pass", [0], "def f(  # head\n    b,\n): pass"),
    (
        "python", PARAMS, "def f(\n    # fmt: off\n    a,\n    b,\n): pass", [0],
        "def f(\n    # fmt: off\n    b,\n): pass",
    ),
    ("python", FROM, "from m import a, b  # noqa", [1], "from m import a  # noqa"),
    ("python", FROM, "from m import (\n    a,\n    b as c,\n)", [1], "from m import (\n    a,\n)"),
    ("python", FROM, "from m import a, \\\n    b", [1], "from m import a"),
    ("python", FROM, "from m import a, \\\n    b", [0], "from m import b"),
    ("python", "import_statement", "import a.b, a.c", [0], "import a.c"),
    ("javascript", "arguments", "f(a, /* b= */ 1)", [1], "f(a)"),
    ("javascript", "arguments", "f(a /* a */, b)", [0], "f(b)"),
    ("javascript", "arguments", "f(\n  a, // 1\n  b // 2\n)", [1], "f(\n  a // 1\n)"),
    ("javascript", "named_imports", "import { a, b } from 'm'", [0], "import { b } from 'm'"),
    ("rust", "parameters", "fn f(a: i32, #[cfg(a)] x: i32) {}", [1], "fn f(a: i32) {}"),
    ("rust", "parameters", "fn f(#[cfg(a)] x: i32, a: i32) {}", [0], "fn f(a: i32) {}"),
    ("rust", "use_list", "use a::{\n    b, // b\n    c,\n};", [0], "use a::{\n    c,\n};"),
    ("rust", "token_tree", "#[derive(Debug, a::B, Eq)]\nstruct S;", [1], "#[derive(Debug, Eq)]\nstruct S;"),
    ("c", "parameter_list", "int f(int a, ...);", [0], "int f(...);"),
    ("c", "parameter_list", "int f(int a, int b);", [0, 1], "int f();"),
    ("c", "parameter_list", "int f(int a, // 1\n      int b) // 2\n{}", [0], "int f(int b) // 2\n{}"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "kind", "code", "indexes", "result"), REMOVALS)
def test_items_are_removed(language: str, kind: str, code: str, indexes: list[int], result: str) -> None:
    items = separated_list(language, code, kind)
    assert after_removal(items, indexes) == result


def test_a_list_on_lines_of_its_own_gets_a_last_separator_where_the_language_has_one() -> None:
    items = separated_list("python", "def f(\n): pass", "parameters", trailing=True)
    assert after_insertion(items, 0) == "def f(\n    X,\n): pass"


def test_several_items_are_inserted_as_the_list_is_written() -> None:
    for code, result in (
        ("def f(a): pass", "def f(a, *, X): pass"),
        ("def f(\n    a,\n): pass", "def f(\n    a,\n    *,\n    X,\n): pass"),
        ("def f(): pass", "def f(*, X): pass"),
    ):
        items = separated_list("python", code, "parameters")
        assert items.source.apply(items.insert(len(items.items), "*", "X")).decode() == result


def test_a_comment_that_goes_with_an_item_is_noted() -> None:
    code = "def f(\n    # about a\n    a,  # first\n    b,\n): pass"
    notes = separated_list("python", code, "parameters").remove([0]).notes
    assert notes == [
        "The comment `# about a` belongs to `a` and goes with it.",
        "The comment `# first` belongs to `a` and goes with it.",
    ]


def test_an_item_is_replaced_without_its_comment() -> None:
    items = separated_list("python", "def f(a,  # first\n      b): pass", "parameters")
    assert items.source.apply([items.replace(0, "X")]) == b"def f(X,  # first\n      b): pass"


def test_a_list_with_a_hole_is_refused() -> None:
    with pytest.raises(OperationRefused, match="empty place"):
        separated_list("javascript", "x = [a, , b]", "array")


@pytest.mark.parametrize(("language", "kind", "code", "index", "result"), INSERTIONS)
def test_an_item_that_was_inserted_is_removed_without_a_trace(
    language: str, kind: str, code: str, index: int, result: str
) -> None:
    items = separated_list(language, result.replace("X", _ITEM[language]), kind)
    if len(items.items) > 1:
        assert after_removal(items, [index]) == code


_ITEM = {"python": "X", "javascript": "X", "rust": "X: u8", "c": "int X"}
