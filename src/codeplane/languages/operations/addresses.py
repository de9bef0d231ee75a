"""Finds what a symbol address names in a file: `Class.method`, `outer.<locals>.inner`, `f#2`."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node, Query

from codeplane.languages.extraction.extract import extract
from codeplane.languages.extraction.grammar import query_files
from codeplane.languages.facts import Reason, ScopeKind
from codeplane.languages.operations.source import Source
from codeplane.languages.query import captures, compiled, in_order

_SEPARATOR: Final = re.compile(r"\.<locals>\.|::|\.|/")
_NUMBER: Final = re.compile(r"#([1-9]\d{0,4})\Z")
_FORWARD: Final = "forward"


class Addressed(NamedTuple):
    """A definition with its address in the file."""

    address: str  # qualified by what it stands in; `#2` for the second of an address
    kind: str
    node: Node
    name: Node | None  # None for what goes by the type that it belongs to: `impl T`


def find_definitions(source: Source, address: str) -> list[Addressed]:
    """The definitions of an address, which is whole: the end of a longer one is a candidate, not a match.

    Parameters, variables and imports have addresses where no definition has the same one: `x`, `f.x`.
    """
    number = _NUMBER.search(address)
    path = _SEPARATOR.split(address[: number.start()] if number else address)
    everything = definitions_in(source)
    matches = [one for one in everything if _path_of(one) == path]
    matches = matches or [one for one in variables_in(source, everything, path[-1]) if _path_of(one) == path]
    if number:
        return [
            one
            for one in matches
            if one.address.endswith(number[0]) or (number[1] == "1" and one == matches[0])
        ]
    return matches


def longer_addresses(source: Source, address: str) -> list[Addressed]:
    """The definitions whose addresses end with one that is not whole."""
    path = _SEPARATOR.split(_NUMBER.sub("", address))
    return [one for one in definitions_in(source) if _path_of(one)[-len(path) :] == path]


def _path_of(one: Addressed) -> list[str]:
    return _SEPARATOR.split(_NUMBER.sub("", one.address))


def definitions_in(source: Source) -> list[Addressed]:
    """All definitions of a file that have an address, in order."""
    nodes = captures(_query_of(source.language), source.root)
    kinds = {
        (node.start_byte, node.end_byte, node.id): (capture.removeprefix("definition."), node)
        for capture, group in nodes.items()
        if capture.startswith("definition.")
        for node in group
    }
    items = sorted(kinds.values(), key=lambda item: (item[1].start_byte, -item[1].end_byte))
    names = in_order(nodes.get("name", ()))
    owners = in_order(nodes.get("extended", ()))
    return list(_numbered(_without_echoes(list(_qualified(source, items, names, owners)))))


def variables_in(source: Source, definitions: Sequence[Addressed], name: str) -> list[Addressed]:
    """The parameters, variables and imports of a name, with the definitions whose scopes they are of."""
    facts = extract(source.language, source.data)
    variables = []
    for bind in facts.binds:
        scope = facts.scopes[bind.scope]
        if bind.name != name or scope.kind is ScopeKind.COMPREHENSION:
            continue
        start = source.line_offset(bind.line) + bind.column
        node = source.root.descendant_for_byte_range(start, start + len(name.encode()))
        if node is None or source.text(node) != name:
            continue
        opening = source.line_offset(scope.span.start_line) + scope.span.start_column
        around = [
            one for one in definitions if bind.scope and one.node.start_byte <= opening < one.node.end_byte
        ]
        kind = {Reason.PARAM: "parameter", Reason.IMPORT_ALIAS: "import"}.get(bind.reason, "variable")
        address = ".".join([_NUMBER.sub("", around[-1].address), name] if around else [name])
        variables.append(Addressed(address, kind, node, node))
    return variables


def _qualified(
    source: Source, items: Sequence[tuple[str, Node]], names: Sequence[Node], owners: Sequence[Node]
) -> Iterator[Addressed]:
    """Definitions with the names of those around them. Each name belongs to the innermost one around it."""
    name_of = _innermost(items, names)
    owner_of = _innermost(items, owners)
    around: list[tuple[int, str]] = []
    for kind, node in items:
        while around and around[-1][0] <= node.start_byte:
            around.pop()
        own = name_of.get(node.id, [])
        owner = owner_of.get(node.id, [])
        prefix = [text for _, text in around]
        labels = own or owner[:1]
        for label in labels:
            parts = [*prefix, *(source.text(one) for one in owner[:1] if own), source.text(label)]
            yield Addressed(".".join(parts), kind, node, label if own else None)
        if labels:
            around.append((node.end_byte, source.text(labels[0])))


def _innermost(items: Sequence[tuple[str, Node]], tokens: Sequence[Node]) -> dict[int, list[Node]]:
    """The tokens of each definition, by the id of its node: those that are in no definition inside of it."""
    belongs: dict[int, list[Node]] = {}
    open_nodes: list[Node] = []
    position = 0
    for token in tokens:
        while position < len(items) and items[position][1].start_byte <= token.start_byte:
            open_nodes.append(items[position][1])
            position += 1
        while open_nodes and open_nodes[-1].end_byte <= token.start_byte:
            open_nodes.pop()
        if open_nodes:
            belongs.setdefault(open_nodes[-1].id, []).append(token)
    return belongs


def _without_echoes(definitions: Sequence[Addressed]) -> list[Addressed]:
    """The definitions without forward declarations and `impl` blocks of what the file defines itself."""
    main = {one.address for one in definitions if not _is_echo(one)}
    return [one for one in definitions if not _is_echo(one) or one.address not in main]


def _is_echo(one: Addressed) -> bool:
    return one.name is None or one.kind.endswith(_FORWARD)


def _numbered(definitions: Sequence[Addressed]) -> Iterator[Addressed]:
    counts: dict[str, int] = {}
    for one in definitions:
        counts[one.address] = number = counts.get(one.address, 0) + 1
        yield one if number == 1 else one._replace(address=f"{one.address}#{number}")


@cache
def _query_of(language: str) -> Query:
    """The patterns of definitions alone: the whole query of a language takes long to compile."""
    texts = [path.read_text() for path in query_files(language)]
    return compiled(language, "\n".join(text for text in texts if "@definition." in text))
