"""Where a file names something, by the lexical bindings that it has."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from tree_sitter import Node

from codeplane.languages.extraction.extract import extract
from codeplane.languages.facts import Bind, Facts, Occurrence
from codeplane.languages.operations.operation import OperationRefused
from codeplane.languages.operations.source import Source


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


def refuse_collisions(source: Source, facts: Facts, bind: int, new: str) -> None:
    """Refuses a new name for a binding that its scope, one inside, or code there already uses."""
    old, scope = facts.binds[bind].name, facts.binds[bind].scope
    same = [one for one in facts.binds if one.scope == scope and one.name == new]
    if same:
        raise OperationRefused(f"`{new}` is bound at line {same[0].line} in the same scope.")
    for one in facts.named(old):
        if one.receiver or one.target != bind + 1:
            continue
        inner = {number for number in _scopes_up_to(facts, one.scope, scope) if number != scope}
        captures = [each for each in facts.binds if each.name == new and each.scope in inner]
        if captures:
            raise OperationRefused(
                f"`{old}` at line {one.line} would mean the `{new}` that is bound at line {captures[0].line}."
            )
    outer = set(_parents_of(facts, scope))
    places = [
        offset_of(source, one)
        for one in facts.named(new)
        if not one.receiver
        and scope in _scopes_up_to(facts, one.scope, scope)
        and (not one.target or facts.binds[one.target - 1].scope in outer)
    ]
    if places:
        raise OperationRefused(
            f"`{new}` means something else at {lines_of(source, places)}, and would mean this."
        )


def _scopes_up_to(facts: Facts, inner: int, outer: int) -> list[int]:
    """The scopes from one to another around it; none where that is not around it."""
    scopes = [inner]
    while scopes[-1] != outer and scopes[-1] >= 0:
        scopes.append(facts.scopes[scopes[-1]].parent)
    return scopes if scopes[-1] == outer else []


def _parents_of(facts: Facts, scope: int) -> Iterator[int]:
    parent = facts.scopes[scope].parent
    while parent >= 0:
        yield parent
        parent = facts.scopes[parent].parent
