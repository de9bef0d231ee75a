"""Queries from outside: checked, then run within limits, by a process that can be killed."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from tree_sitter import Language, Node, Query, QueryError

from codeplane.core.errors import QueryInvalid
from codeplane.core.suggest import nearest
from codeplane.languages.patterns.compiling import has_grammar
from codeplane.languages.queries.predicates import Predicate, position_of, take_predicates
from codeplane.languages.query import compiled, grammar_of, parse_within_limits, query_matches

LONGEST: Final = 10_000  # bytes of a query
MOST_MATCHES: Final = 10_000
MOST_CAPTURES: Final = 100  # of a query, and of one match
_PLACE: Final = re.compile(r"at row (\d+), column (\d+)(?:: (.+))?")


class Span(NamedTuple):
    """A captured node: its bytes and its kind."""

    start: int
    end: int
    kind: str


class QueryMatch(NamedTuple):
    """One match of a query: the number of its pattern, and what is captured."""

    pattern: int
    captures: Mapping[str, Sequence[Span]]


class ForeignQuery:
    """A query that somebody wrote; making it checks it."""

    def __init__(self, language: str, text: str) -> None:
        if not has_grammar(language):
            raise QueryInvalid(f"There is no grammar for {language[:40]!r}.")
        data = _encoded_query(text)
        bare, predicates = take_predicates(data)
        if not bare.strip():
            raise QueryInvalid(
                "The query is empty.", hints=["(function_definition name: (identifier) @name)"]
            )
        self.language = language
        self._query = _compile_query(language, bare)
        names = [self._query.capture_name(number) for number in range(self._query.capture_count)]
        if not names:
            raise QueryInvalid(
                "The query captures nothing.", hints=["Write `@target` after the node you mean."]
            )
        if len(names) > MOST_CAPTURES:
            raise QueryInvalid(f"The query has {len(names)} captures; at most {MOST_CAPTURES} are allowed.")
        _check_captures(data, predicates, names)
        self._predicates = _by_pattern(self._query, predicates)

    def run(self, data: bytes) -> list[QueryMatch]:
        """The matches in a file; `QueryInvalid` where they are too many, or the file is beyond the limits."""
        root = parse_within_limits(self.language, data)
        if root is None:
            raise QueryInvalid("The file is too large, too deep or too broken to run a query over it.")
        matches = [QueryMatch(pattern, _spans_of(nodes)) for pattern, nodes in self._agreeing(root, data)]
        return sorted(matches, key=_first_place)

    def _agreeing(self, root: Node, data: bytes) -> Iterator[tuple[int, Mapping[str, Sequence[Node]]]]:
        count = 0
        for pattern, captures in query_matches(self._query, root):
            if all(one.holds(data, captures) for one in self._predicates.get(pattern, ())):
                count += 1
                if count > MOST_MATCHES:
                    raise QueryInvalid(f"The query has more than {MOST_MATCHES:,} matches in one file.")
                if sum(map(len, captures.values())) > MOST_CAPTURES:
                    raise QueryInvalid(f"A match of the query has more than {MOST_CAPTURES} captures.")
                yield pattern, captures


def _encoded_query(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise QueryInvalid("The query holds half a character.") from error
    if len(data) > LONGEST or b"\0" in data:
        raise QueryInvalid(f"A query has at most {LONGEST:,} bytes, none of them null.")
    return data


def _compile_query(language: str, text: bytes) -> Query:
    try:
        return compiled(language, text.decode())
    except QueryError as error:
        raise _explain(language, str(error)) from error


def _explain(language: str, message: str) -> QueryInvalid:
    """The error of the library with row and column from one, and with the nearest names."""
    place = _PLACE.search(message)
    if place is None:
        return QueryInvalid(f"The query cannot be compiled: {message}.")
    row, column, word = int(place[1]) + 1, int(place[2]) + 1, (place[3] or "").strip()
    what = message[: place.start()].strip().lower()
    names = _field_names(grammar_of(language)) if "field" in what else kind_names(grammar_of(language))
    close = nearest(word, names) if word else []
    text = f"{what.capitalize()}{f' {word!r}' if word else ''} (row {row}, column {column})."
    hints = [f"Did you mean {', '.join(close)}?"] if close else []
    if "impossible" in what:
        hints = ["The grammar has no such child there; `cpl delta tree FILE:LINE` shows the nodes."]
    return QueryInvalid(text, hints=hints, row=row, column=column)


def kind_names(grammar: Language) -> list[str]:
    """The kinds of named nodes of a grammar."""
    numbers = [number for number in range(grammar.node_kind_count) if grammar.node_kind_is_named(number)]
    return sorted({grammar.node_kind_for_id(number) or "" for number in numbers} - {""})


def _field_names(grammar: Language) -> list[str]:
    names = {grammar.field_name_for_id(number) or "" for number in range(1, grammar.field_count + 1)}
    return sorted(names - {""})


def _check_captures(data: bytes, predicates: Sequence[Predicate], names: Sequence[str]) -> None:
    for predicate in predicates:
        for operand in predicate.operands:
            if operand.capture and operand.capture not in names:
                row, column = position_of(data, predicate.offset)
                close = nearest(operand.capture, names) or list(names)
                raise QueryInvalid(
                    f"#{predicate.name} asks for @{operand.capture}, which the query does not capture "
                    f"(row {row}, column {column}).",
                    hints=[f"It captures {', '.join(f'@{name}' for name in close)}."],
                    row=row,
                    column=column,
                )


def _by_pattern(query: Query, predicates: Sequence[Predicate]) -> dict[int, list[Predicate]]:
    """The predicates of each pattern: those that stand in it, or after it and before the next."""
    starts = [query.start_byte_for_pattern(number) for number in range(query.pattern_count)]
    result: dict[int, list[Predicate]] = {}
    for predicate in predicates:
        before = [number for number, start in enumerate(starts) if start <= predicate.offset]
        if not before:
            raise QueryInvalid(f"#{predicate.name} stands before the first pattern.")
        result.setdefault(before[-1], []).append(predicate)
    return result


def _spans_of(captures: Mapping[str, Sequence[Node]]) -> dict[str, list[Span]]:
    return {
        name: [Span(node.start_byte, node.end_byte, node.type) for node in nodes]
        for name, nodes in sorted(captures.items())
    }


def _first_place(match: QueryMatch) -> tuple[int, int, int]:
    spans = [span for group in match.captures.values() for span in group]
    first = min(spans, default=Span(0, 0, ""))
    return first.start, -first.end, match.pattern
