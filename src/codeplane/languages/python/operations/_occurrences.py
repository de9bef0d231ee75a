"""Where a file names something, by the lexical bindings that it has."""

import builtins
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from tree_sitter import Node

from codeplane.languages.extraction.extract import extract
from codeplane.languages.facts import Bind, Facts, Occurrence
from codeplane.languages.operations import OperationRefused, Source

_BUILTINS: Final = frozenset(dir(builtins))
# What reads local variables without naming them.
_DYNAMIC: Final = ("locals", "vars", "eval", "exec", "dir")


def facts_of(source: Source) -> Facts:
    """The facts of a file; refused where it is too large or too broken for them."""
    facts = _facts(source.data)
    if facts.state in ("failed", "skipped"):
        raise OperationRefused(f"The file can't be read for the names in it: {facts.reason}.")
    return facts


@lru_cache(maxsize=8)
def _facts(data: bytes) -> Facts:
    return extract("python", data)


def offset_of(source: Source, occurrence: Occurrence) -> int:
    """The byte that an occurrence begins with."""
    return source.line_offset(occurrence.line) + occurrence.column


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
    lines = list(dict.fromkeys(map(source.line_of, offsets)))
    numbers = [str(line) for line in lines[:5]]
    if len(lines) == 1:
        return f"line {numbers[0]}"
    if len(lines) > len(numbers):
        return f"lines {', '.join(numbers)} and {len(lines) - len(numbers)} more"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"


def outer_uses(source: Source, facts: Facts, name: str, body: Node) -> list[int]:
    """Where the body of a function means something outside of it by a name that exists there."""
    places = []
    for one in facts.named(name):
        offset = offset_of(source, one)
        if one.receiver or not body.start_byte <= offset < body.end_byte:
            continue
        is_outside = (
            name in _BUILTINS if not one.target else _is_outside(facts.binds[one.target - 1], source, body)
        )
        places += [offset] if is_outside else []
    return places


def _is_outside(bind: Bind, source: Source, body: Node) -> bool:
    return not body.start_byte <= source.line_offset(bind.line) + bind.column < body.end_byte


def dynamic_reads(source: Source, facts: Facts, body: Node) -> Iterator[int]:
    """Where code reads its local variables without naming them: `locals()`."""
    for name in _DYNAMIC:
        for one in facts.named(name):
            offset = offset_of(source, one)
            is_call = source.data[offset + len(name) : offset + len(name) + 1] == b"("
            if not one.target and not one.receiver and is_call and body.start_byte <= offset < body.end_byte:
                yield offset
