"""Where a file names something, by the lexical bindings that it has."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tree_sitter import Node

from codeplane.languages.extraction.extract import extract
from codeplane.languages.facts import Bind, Facts, Occurrence
from codeplane.languages.operations import OperationRefused, Source


def facts_of(source: Source) -> Facts:
    """The facts of a file; refused where it is too large or too broken for them."""
    facts = _facts(source.language, source.data)
    if facts.state in ("failed", "skipped"):
        raise OperationRefused(f"The file can't be read for the names in it: {facts.reason}.")
    return facts


@lru_cache(maxsize=8)
def _facts(language: str, data: bytes) -> Facts:
    return extract(language, data)


def offset_of(source: Source, place: Occurrence | Bind) -> int:
    """The byte that an occurrence or a binding begins with."""
    return source.line_offset(place.line) + place.column


def bind_at(source: Source, facts: Facts, node: Node) -> int | None:
    """The number of the binding that a name at a node means."""
    number = facts.occurrences.number_at(
        source.line_of(node.start_byte), node.start_byte - source.line_start(node.start_byte)
    )
    occurrence = facts.occurrences.at(number) if number is not None else None
    return occurrence.target - 1 if occurrence is not None and occurrence.target else None


def uses_of(source: Source, facts: Facts, name: str, bind: int) -> list[int]:
    """The bytes at which a binding is named, where it is bound included."""
    return [
        offset_of(source, one) for one in facts.named(name) if one.receiver == 0 and one.target == bind + 1
    ]


def lines_of(source: Source, offsets: Sequence[int]) -> str:
    """The lines of some bytes as a text: `line 3`, `lines 3, 5 and 9`."""
    lines = list(dict.fromkeys(map(source.line_of, sorted(offsets))))
    numbers = [str(line) for line in lines[:5]]
    if len(lines) == 1:
        return f"line {numbers[0]}"
    if len(lines) > len(numbers):
        return f"lines {', '.join(numbers)} and {len(lines) - len(numbers)} more"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"


def nodes_in(node: Node, *kinds: str, stops: Sequence[str] = ()) -> Iterator[Node]:
    """The nodes of some kinds inside of a node, in order, but not inside of those where the walk stops."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        if current.type in kinds:
            yield current
        if current == node or current.type not in stops:
            waiting += reversed(current.children)


def dynamic_code(source: Source, node: Node) -> list[int]:
    """Where code names variables by text, or by what an object has: `eval`, `with`."""
    places = [one.start_byte for one in nodes_in(node, "with_statement")]
    for call in nodes_in(node, "call_expression") if b"eval" in source.data else ():
        function = call.child_by_field_name("function")
        if function is not None and source.text(function) == "eval":
            places.append(call.start_byte)
    return sorted(places)
