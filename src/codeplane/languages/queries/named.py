"""The named queries of a language: `all_functions`, `untyped_params`, narrowed by what they capture."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node, Query

from codeplane.core.errors import QueryInvalid
from codeplane.core.suggest import nearest
from codeplane.languages.operations.operation import Match
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.operations.source import Source
from codeplane.languages.query import LARGEST, compiled, is_too_broken, is_too_deep, query_matches
from codeplane.languages.spec import HERE, specs

TARGET: Final = "target"
_HEADING: Final = re.compile(r"^; ([a-z_]+)(?:\(([a-z_, ]*)\))?: (.+)$", re.MULTILINE)


class NamedQuery(NamedTuple):
    """One query that a language comes with."""

    name: str
    parameters: tuple[str, ...]  # captures whose text can be asked for
    summary: str
    text: str


@cache
def named_queries(language: str) -> Mapping[str, NamedQuery]:
    """The named queries of a language by name; none where it has no operations."""
    pack = pack_of(language)
    if pack is None:
        return {}
    folder = HERE / pack / "operations"
    relatives = [language, specs()[language].inherits]
    paths = [folder / f"queries.{name}.scm" for name in relatives if name] + [folder / "queries.scm"]
    path = next((path for path in paths if path.exists()), None)
    return {query.name: query for query in _read_queries(path.read_text())} if path else {}


def _read_queries(text: str) -> list[NamedQuery]:
    _, *parts = _HEADING.split(text)
    return [
        NamedQuery(name, tuple(re.findall(r"[a-z_]+", parameters or "")), summary, body.strip())
        for name, parameters, summary, body in zip(*(iter(parts),) * 4, strict=True)
    ]


def find_named(source: Source, name: str, parameters: Mapping[str, str]) -> list[Match]:
    """The matches of a named query whose captures have these texts, in the order of the file."""
    query = _query_named(source.language, name)
    for parameter in parameters:
        if parameter not in query.parameters:
            raise QueryInvalid(
                f"The query {name} has no parameter {parameter[:40]!r}.",
                hints=[f"It has {', '.join(query.parameters) or 'none'}."],
            )
    root = source.root
    if len(source.data) > LARGEST or is_too_deep(root, len(source.data)) or is_too_broken(root):
        raise QueryInvalid("The file is too large, too deep or too broken to run a query over it.")
    matches = [
        captures
        for _, captures in query_matches(_compiled_query(source.language, name), root)
        if all(_has_text(source, captures.get(key, ()), value) for key, value in parameters.items())
    ]
    distinct = {_places_of(captures): captures for captures in matches}
    return [
        Match(target_of(captures), captures)
        for _, captures in sorted(distinct.items(), key=lambda one: one[0])
    ]


def _has_text(source: Source, nodes: Sequence[Node], text: str) -> bool:
    return bool(nodes) and all(source.text(node) == text for node in nodes)


def _places_of(captures: Mapping[str, list[Node]]) -> tuple[tuple[int, int], ...]:
    node = target_of(captures)
    others = sorted((one.start_byte, -one.end_byte) for nodes in captures.values() for one in nodes)
    return ((node.start_byte, -node.end_byte), *others)


def target_of(captures: Mapping[str, list[Node]]) -> Node:
    """The node that a match is about: `@target`, or the outermost one that is captured."""
    if captures.get(TARGET):
        return captures[TARGET][0]
    nodes = [node for group in captures.values() for node in group]
    return min(nodes, key=lambda node: (node.start_byte, -node.end_byte))


def _query_named(language: str, name: str) -> NamedQuery:
    queries = named_queries(language)
    if name not in queries:
        close = nearest(name, queries) or sorted(queries)
        hints = [f"There are {', '.join(close)}."] if close else []
        raise QueryInvalid(f"There is no query {name[:40]!r} of {language}.", hints=hints)
    return queries[name]


@cache
def _compiled_query(language: str, name: str) -> Query:
    return compiled(language, named_queries(language)[name].text)
