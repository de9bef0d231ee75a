"""Finds the matches of a pattern in a file: a query without quantifiers, then an exact comparison."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from tree_sitter import Node, Query, QueryError

from codeplane.languages.operations.operation import Match
from codeplane.languages.operations.source import Source
from codeplane.languages.patterns.compiling import compile_pattern
from codeplane.languages.patterns.matching import Binding, Matcher, literal_texts
from codeplane.languages.patterns.pattern import Part, Pattern
from codeplane.languages.query import (
    LARGEST,
    captures,
    compiled,
    is_too_broken,
    is_too_deep,
    windowed_captures,
)

_QUERY_DEPTH: Final = 3
_CHECKED_EVERY: Final = 500


class Captures(Mapping[str, Sequence[Node]]):
    """What the holes of a match stand for, read when somebody asks."""

    def __init__(self, bindings: Mapping[str, Binding], matcher: Matcher) -> None:
        self.bindings = bindings
        self._matcher = matcher

    def __getitem__(self, name: str) -> Sequence[Node]:
        return self._matcher.bound_items(self.bindings[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.bindings)

    def __len__(self) -> int:
        return len(self.bindings)


def find_pattern(
    source: Source, pattern: Pattern | str, check: Callable[[], None] | None = None
) -> list[Match]:
    """The matches of a pattern in a file, in order, outer ones first; `check` is called now and then."""
    wanted = compile_pattern(source.language, pattern) if isinstance(pattern, str) else pattern
    if not may_match(wanted, source.data):
        return []
    contexts = _contexts_of(source, wanted, check)
    if contexts is not None and not contexts:
        return []
    matcher = Matcher(wanted, source.data)
    matches = []
    for number, node in enumerate(candidates_in(source, wanted)):
        if check is not None and number % _CHECKED_EVERY == 0:
            check()
        bindings = _match_inside(matcher, node, contexts)
        if bindings is not None:
            matches.append(Match(node, Captures(bindings, matcher)))
    return matches


def may_match(pattern: Pattern, data: bytes) -> bool:
    """Whether a file has everything that a match is known to contain."""
    return all(text in data for text in literal_texts(pattern))


_Context = tuple[int, int, Mapping[str, Binding]]


def _contexts_of(source: Source, pattern: Pattern, check: Callable[[], None] | None) -> list[_Context] | None:
    if pattern.inside is None:
        return None
    matches = find_pattern(source, pattern.inside, check)
    return [
        (match.node.start_byte, match.node.end_byte, match.captures.bindings)
        for match in matches
        if isinstance(match.captures, Captures)
    ]


def _match_inside(
    matcher: Matcher, node: Node, contexts: Sequence[_Context] | None
) -> Mapping[str, Binding] | None:
    """What the holes of a node stand for; those of the innermost context that agrees are among them."""
    if contexts is None:
        return matcher.match_node(node)
    start, end = node.start_byte, node.end_byte
    for first, last, bindings in reversed(contexts):
        if first <= start and end <= last and (first, last) != (start, end):
            match = matcher.match_node(node, bindings)
            if match is not None:
                return match
    return None


def candidates_in(source: Source, pattern: Pattern) -> list[Node]:
    """The nodes that the pattern may be, in order."""
    nodes = kind_nodes(source, pattern.root, structure_of(pattern.root))
    literals, data = literal_texts(pattern), source.data
    # Sorted by place, outer ones first; a node that the query has found in two ways counts once.
    places = [(node.start_byte, -node.end_byte, node.id, node) for node in nodes]
    if literals:
        places = [
            place for place in places if all(data.find(text, place[0], -place[1]) >= 0 for text in literals)
        ]
    return [place[3] for place in sorted({place[:3]: place for place in places}.values(), key=_place_of)]


def _place_of(place: tuple[int, int, int, Node]) -> tuple[int, int]:
    return place[0], place[1]


def kind_nodes(source: Source, part: Part, structure: str = "") -> Iterable[Node]:
    """The nodes of the kind of a part; a query for more than the kind is used where the tree allows it."""
    root = source.root
    if is_too_deep(root, len(source.data)) or is_too_broken(root):
        return _walk_kind(root, part.kind)
    fallback = f"({part.kind_name}) @root"
    query = _query_of(source.language, structure or fallback, fallback)
    if len(source.data) <= LARGEST:
        return captures(query, root).get("root", ())
    return (node for window in windowed_captures(query, root) for node in window.get("root", ()))


def _walk_kind(root: Node, kind: int) -> Iterator[Node]:
    """The nodes of a kind, by a cursor: it needs no stack and no query."""
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.kind_id == kind:
            yield node
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return


@lru_cache(512)
def _query_of(language: str, structure: str, fallback: str) -> Query:
    try:
        return compiled(language, structure)
    except QueryError:
        return compiled(language, fallback)


def structure_of(root: Part) -> str:
    """A query for the fields of a pattern's nodes; it finds every match, and other nodes."""
    return f"{_fields_of(root, _QUERY_DEPTH)} @root"


def _fields_of(part: Part, depth: int) -> str:
    names = [child.field_name for child in part.children]
    fields = [
        f"{child.field_name}: {_child_query(child, depth - 1)}"
        for child in part.children
        if depth and child.field_name and not child.is_many and names.count(child.field_name) == 1
        and (child.is_named or child.hole is not None)
    ]  # fmt: skip
    return f"({' '.join([part.kind_name, *fields])})"


def _child_query(part: Part, depth: int) -> str:
    return _fields_of(part, depth) if part.children else "(_)"
