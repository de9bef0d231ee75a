"""Rust's operations on whole files: what they leave alone, what takes them back, what a second run does."""

import random
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tree_sitter import Node

from codeplane.languages.operations import Match, OperationRefused, Source, operations_of
from codeplane.languages.operations.addresses import definitions_in
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.run import Result, run_operation
from codeplane.languages.operations.targets import Target, definition_match, resolve_target

FOLDER = Path(__file__).parent.parent / "semantic" / "rust"
INSTALLED = Path("/usr/share/cargo/registry")
FILES = sorted(FOLDER.rglob("*.rs")) + sorted(INSTALLED.rglob("*.rs"))[:40]
NAMES = [path.relative_to(path.parents[2]).as_posix() for path in FILES]
SHORT = re.compile(rb"\b(\w+): \1\b")
IMPORTS = (
    "use std::collections::BTreeSet;",
    "use zeta::Zq;",
    "use crate::zq::{self, Zq};",
    "pub use zq::zq;",
)


def _run(name: str, data: bytes, definition: int | None, values: dict[str, Any]) -> Result:
    source = Source("rust", data, "src/a.rs")
    operation = operations_of("rust")[name]
    arguments, errors = check_arguments(operation, "rust", "rust", values)
    assert not errors
    is_file = definition is None
    match = Match(source.root) if is_file else definition_match(definitions_in(source)[definition or 0])
    return run_operation(operation, source, [match], arguments)


def _is_same_code(first: bytes, second: bytes) -> bool:
    """Whether only lists are wrapped differently: crates are formatted to widths of their own."""
    one, other = (re.sub(rb"\s|,(?=\s*\))", b"", data) for data in (first, second))
    return one == other


def _nodes(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def _comments(data: bytes) -> Counter[bytes]:
    nodes = _nodes(Source("rust", data).root)
    return Counter((node.text or b"").strip() for node in nodes if node.type.endswith("_comment"))


def _assert_sound(name: str, before: bytes, definition: int | None, values: dict[str, Any]) -> bytes | None:
    try:
        result = _run(name, before, definition, values)
    except OperationRefused as refusal:
        assert refusal.reason.endswith(".")
        return None
    source = Source("rust", before, "src/a.rs")
    assert source.apply(result.outcome.edits) == result.data
    assert Source("rust", result.data).root.has_error <= source.root.has_error
    assert _comments(result.data) == _comments(before)
    assert _run(name, result.data, definition, values).is_already
    return result.data


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_an_import_is_taken_back_by_its_removal(path: Path) -> None:
    before = path.read_bytes()
    for text in IMPORTS:
        after = _assert_sound("add_import", before, None, {"import": text})
        if after is not None and after != before:
            assert _run("remove_import", after, None, {"import": text, "force": True}).data == before


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_parameter_is_taken_back_by_its_removal(path: Path) -> None:
    before = path.read_bytes()
    for number, one in enumerate(definitions_in(Source("rust", before))):
        if one.node.type == "function_item":
            place = random.Random(number).choice(("first", "last"))
            values = {"name": "zq", "type": "Option<&'static str>", "position": place}
            after = _assert_sound("add_parameter", before, number, values)
            if after is not None:
                back = _run("remove_parameter", after, number, {"name": "zq"}).data
                assert back == before or (INSTALLED in path.parents and _is_same_code(back, before))


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_an_attribute_is_one_more_line_or_trait(path: Path) -> None:
    before = path.read_bytes()
    for number, one in enumerate(definitions_in(Source("rust", before))):
        text = "derive(Zeta)" if one.kind in ("struct", "enum") else "allow(zeta)"
        after = _assert_sound("add_decorator", before, number, {"decorator": text})
        assert after is not None
        assert after.replace(b", Zeta", b"").replace(b"Zeta", b"").count(b"\n") - before.count(b"\n") in (
            0,
            1,
        )


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_a_rename_is_taken_back_by_a_rename(path: Path) -> None:
    before = path.read_bytes()
    source = Source("rust", before)
    for number, one in enumerate(definitions_in(source)):
        if one.name is None:
            continue
        old = source.text(one.name)
        new = "Zeta" if old[:1].isupper() else "zeta"
        try:
            after = _run("rename_symbol", before, number, {"to": new}).data
        except OperationRefused:
            continue
        assert after.count(new.encode()) > before.count(new.encode())
        back = _run("rename_symbol", after, number, {"to": old}).data
        # A field that got a name of its own keeps it: `S { a }` becomes `S { a: b }`, then `S { a: a }`.
        assert SHORT.sub(rb"\1", back) == SHORT.sub(rb"\1", before)


def test_attributes_go_on_match_arms_and_statements() -> None:
    data = b"fn f(e: E) -> u8 {\n    g();\n    match e {\n        A => 1,\n        _ => 2,\n    }\n}\n"
    source = Source("rust", data)
    operation = operations_of("rust")["add_decorator"]
    arguments, _ = check_arguments(operation, "rust", "rust", {"decorator": "#[cfg(unix)]"})
    for pattern, line in (("A => 1", b"        A => 1"), ("g();", b"    g();")):
        [match] = resolve_target(source, Target("pattern", pattern))
        result = run_operation(operation, source, [match], arguments)
        indent = line[: len(line) - len(line.lstrip())]
        assert result.data == data.replace(line, indent + b"#[cfg(unix)]\n" + line)


def test_a_file_that_the_grammar_reads_in_part_is_not_made_worse() -> None:
    data = b'unsafe extern "C" {\n    safe fn k();\n}\n\nfn f() {}\n'
    after = _run("add_import", data, None, {"import": "use std::fmt;"}).data
    assert after == b"use std::fmt;\n\n" + data
