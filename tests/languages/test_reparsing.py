"""A tree that is made from the one before a change is that of the whole file."""

import random
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from tree_sitter import Node

from codeplane.languages.operations import Source
from codeplane.languages.operations.reparsing import common_ends
from tests.operation_cases import operation_cases

_LINES = (b"x = 1\n", b"@traced\n", b"import os\n", b"    pass\n", b'"""\n', b"", b"def f(:\n", b"else:\n")


def _nodes(node: Node) -> Iterator[tuple[str, int, int, bool]]:
    yield node.type, node.start_byte, node.end_byte, node.is_missing
    for child in node.children:
        yield from _nodes(child)


def _assert_same(language: str, before: bytes, after: bytes) -> None:
    earlier = Source(language, before)
    spans = list(_nodes(earlier.root))
    again, whole = Source(language, after, earlier=earlier), Source(language, after)
    assert list(_nodes(again.root)) == list(_nodes(whole.root))
    assert list(_nodes(earlier.root)) == spans


def test_the_trees_of_all_operation_cases_are_those_of_the_whole_file() -> None:
    pairs = [
        (case.language, case.parts["before"].encode(), case.parts["after"].encode())
        for case in operation_cases()
        if "after" in case.parts
    ]
    assert len(pairs) > 100
    for language, before, after in pairs:
        _assert_same(language, before, after)
        _assert_same(language, after, before)


def test_lines_that_come_and_go_in_real_files_leave_the_tree_of_the_whole_file() -> None:
    choose = random.Random(3)
    folder = Path(sysconfig.get_paths()["stdlib"])
    for path in choose.sample(sorted(folder.glob("*.py")), 12):
        lines = path.read_bytes().splitlines(keepends=True)[:400]
        for _ in range(8):
            at = choose.randrange(len(lines) + 1)
            after = [*lines[:at], choose.choice(_LINES), *lines[at + choose.randrange(3) :]]
            _assert_same("python", b"".join(lines), b"".join(after))


def test_common_ends_do_not_overlap() -> None:
    assert common_ends(b"aaa", b"aaaaa") == (3, 0)
    assert common_ends(b"abcd", b"abXcd") == (2, 2)
    assert common_ends(b"", b"ab") == (0, 0)
    assert common_ends(b"ab", b"cd") == (0, 0)
