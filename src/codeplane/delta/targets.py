"""From the target of a transform to the places it names in one file, and what came close to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tree_sitter import Node

from codeplane.core.suggest import nearest
from codeplane.delta.model import Target
from codeplane.languages.operations import Match, Operation, Source
from codeplane.languages.operations.addresses import Addressed, definitions_in, find_definitions
from codeplane.languages.operations.targets import definition_match
from codeplane.languages.patterns import compile_pattern, find_pattern, near_misses
from codeplane.languages.queries.foreign import QueryMatch
from codeplane.languages.queries.foreign import Span as QuerySpan
from codeplane.languages.queries.named import find_named, target_of
from codeplane.languages.spec import part_of

_MOST_CANDIDATES: Final = 10
_TARGET_CAPTURE: Final = "target"


@dataclass(frozen=True)
class Places:
    """The matches of a target, and what to say where they are too few."""

    matches: Sequence[Match]
    candidates: Sequence[str] = ()  # a line each: what came close, and which part differed


class Finder(Protocol):
    """Finds the places of one kind of target."""

    def __call__(self, source: Source, target: Target, /) -> Places: ...


class QueryRunner(Protocol):
    """Runs foreign queries, in a process that may be killed."""

    def run(self, language: str, query: str, data: bytes, /) -> Sequence[QueryMatch]: ...


@dataclass(frozen=True)
class Finders:
    """How each kind of target is found."""

    queries: QueryRunner
    by_kind: Mapping[str, Finder] = field(init=False)

    def __post_init__(self) -> None:
        finders: dict[str, Finder] = {
            "file": lambda source, _: Places([Match(source.root)]),
            "symbol": find_symbol,
            "selector": find_selector,
            "pattern": find_by_pattern,
            "query": self._find_by_query,
        }
        object.__setattr__(self, "by_kind", finders)

    def find(self, source: Source, target: Target) -> Places:
        """The places of a target in the order of the file."""
        return self.by_kind[target.kind](source, target)

    def _find_by_query(self, source: Source, target: Target) -> Places:
        """The matches of a named query of the grammar pack, or of a query that somebody wrote."""
        if is_query_name(target.text):
            return Places(find_named(source, target.text, target.parameters))
        matches = self.queries.run(source.language, target.text, source.data)
        return Places([_match_of(source, match) for match in matches])


def is_query_name(text: str) -> bool:
    """Whether a text is the name of a query of a grammar pack: others begin with a bracket."""
    return text.strip().isidentifier()


def _match_of(source: Source, match: QueryMatch) -> Match:
    """What a query has captured, as nodes of the tree."""
    captures = {
        name: [node for span in spans if (node := _node_at(source, span)) is not None]
        for name, spans in match.captures.items()
    }
    return Match(target_of(captures), captures)


def _node_at(source: Source, span: QuerySpan) -> Node | None:
    """The node of a span: of several with the same bytes, the one of its kind."""
    node = source.root.descendant_for_byte_range(span.start, span.end)
    while node is not None and node.type != span.kind:
        around = node.parent
        is_same = around is not None and (around.start_byte, around.end_byte) == (span.start, span.end)
        node = around if is_same else None
    return node


def find_symbol(source: Source, target: Target) -> Places:
    """The definitions of a symbol address."""
    definitions = find_definitions(source, target.text)
    if definitions:
        return Places([definition_match(one) for one in definitions])
    addresses = {one.address: one for one in definitions_in(source)}
    close = nearest(target.text, addresses)
    return Places([], [_line_of(source, addresses[name]) for name in close])


def find_by_pattern(source: Source, target: Target) -> Places:
    """The matches of a code pattern; where there are none, what comes nearest and which part differs."""
    pattern = compile_pattern(source.language, target.text, inside=target.inside or "")
    matches = find_pattern(source, pattern)
    misses = near_misses(source, pattern) if not matches else ()
    return Places(matches, [f"line {miss.line}: {miss.text} ({miss.reason})" for miss in misses])


def find_selector(source: Source, target: Target) -> Places:
    """The elements of a CSS selector."""
    selectors = part_of(source.language, "selectors")
    matches: Sequence[Match] = selectors.select(source, target.text) if selectors else ()
    return Places(matches)


def places_for(operation: Operation, source: Source, places: Places, target: Target) -> Places:
    """The places as an operation wants them: a definition where a query has captured its name."""
    if operation.target != "definition" or target.kind in ("file", "symbol"):
        return places
    definitions = definitions_in(source)
    matches = [_definition_at(definitions, match) or match for match in places.matches]
    return Places(matches, places.candidates)


def _definition_at(definitions: Sequence[Addressed], match: Match) -> Match | None:
    """The definition that a match is, is the name of, or is directly in."""
    node = matched_node(match)
    span = (node.start_byte, node.end_byte)
    for one in definitions:
        names = [(one.name.start_byte, one.name.end_byte)] if one.name is not None else []
        if span in ((one.node.start_byte, one.node.end_byte), *names):
            return Match(one.node, {**definition_match(one).captures, **match.captures})
    around = [one for one in definitions if one.node.start_byte <= span[0] and span[1] <= one.node.end_byte]
    if not around:
        return None
    innermost = min(around, key=lambda one: one.node.end_byte - one.node.start_byte)
    return Match(innermost.node, {**definition_match(innermost).captures, **match.captures})


def matched_node(match: Match) -> Node:
    """What a match is about: its capture `@target` where there is one, else its node."""
    return next(iter(match.captures.get(_TARGET_CAPTURE, ())), match.node)


def captured_arguments(operation: Operation, source: Source, match: Match) -> dict[str, Any]:
    """Arguments that captures of the same name give: `@parameter` is the parameter to annotate."""
    names = {argument.name for argument in operation.arguments if argument.kind not in ("flag", "names")}
    aliases = {"param": "parameter"}
    captures = {aliases.get(name, name): nodes for name, nodes in match.captures.items()}
    return {name: source.text(captures[name][0]) for name in names if captures.get(name)}


def describe_places(source: Source, matches: Sequence[Match]) -> list[str]:
    """The first places of a target, a line each."""
    return [
        f"line {source.line_of(match.node.start_byte)}: {_first_line(source, match.node)}"
        for match in matches[:_MOST_CANDIDATES]
    ]


def _line_of(source: Source, one: Addressed) -> str:
    return f"{one.address} ({one.kind.split('.')[0]}, line {source.line_of(one.node.start_byte)})"


def _first_line(source: Source, node: Node) -> str:
    text = source.slice(node.start_byte, min(node.end_byte, source.line_end(node.start_byte)))
    return text if len(text) <= 100 else f"{text[:100]}…"
