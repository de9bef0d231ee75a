"""Parts of what is known around a definition: its variables, the imports it uses, and who depends on it."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.places import around, place_of
from codeplane.graph.references import Kind, kind_of
from codeplane.languages.facts import Bind, Import, Occurrence, Reason, Role
from codeplane.names import DefFact, Snapshot
from codeplane.names.meaning import Target, known

_LOCALS: Final = (Reason.PARAM, Reason.LOCAL_ASSIGN)
_SURE: Final = (Tier.PROVEN, Tier.STRONG)


class Variable(NamedTuple):
    """A parameter or local variable: where it is given a value, where it is used, and what may reach a use.

    `flow` pairs each line of use with the nearest line before it that gives a value, by position alone.
    """

    name: str
    is_parameter: bool
    definition_lines: tuple[int, ...]
    use_lines: tuple[int, ...]
    flow: tuple[tuple[int, int], ...]


class UsedImport(NamedTuple):
    """An import of the file that the definition uses, and what it brings."""

    item: Import
    target: Target


class Dependent(NamedTuple):
    """One definition depends on another."""

    source: Place
    target: Place
    kind: Kind
    tier: Tier
    depth: int


def variables(snapshot: Snapshot, definition: DefFact) -> list[Variable]:
    """The parameters and local variables of a definition, in order of where they are bound."""
    occurrences: dict[int, list[Occurrence]] = {}
    binds: dict[int, Bind] = {}
    for at, bind, occurrence in _bound_inside(snapshot, definition):
        if bind.reason in _LOCALS:
            occurrences.setdefault(at, []).append(occurrence)
            binds[at] = bind
    by_position = sorted(binds.items(), key=lambda pair: (pair[1].line, pair[1].column))
    return [_make_variable(bind, occurrences[at]) for at, bind in by_position]


def used_imports(snapshot: Snapshot, definition: DefFact) -> list[UsedImport]:
    """The imports of its file whose names a definition uses, in order of line."""
    facts = snapshot.require_facts(definition.path)
    numbers = {
        bind.target
        for _, bind, _ in _bound_inside(snapshot, definition)
        if bind.reason == Reason.IMPORT_ALIAS
    }
    items = facts.imports
    return [
        UsedImport(items[at], known(snapshot.imported(definition.path, at)))
        for at in sorted(numbers, key=lambda at: (items[at].line, items[at].column))
    ]


def dependents(snapshot: Snapshot, definition: DefFact, depth: int, limit: int) -> list[Dependent]:
    """The definitions that surely refer to one, those that refer to these, and so on; each once."""
    level, places = [place_of(definition)], {place_of(definition)}
    links: list[Dependent] = []
    for distance in range(1, depth + 1):
        below: list[Place] = []
        for place in level:
            for link in _referring(snapshot, place, distance):
                if link.source not in places and len(links) < limit:
                    places.add(link.source)
                    links.append(link)
                    if link.source.definition >= 0:
                        below.append(link.source)
        level = below
    return links


def _referring(snapshot: Snapshot, place: Place, distance: int) -> Iterator[Dependent]:
    kind = snapshot.definition(place).kind
    for ref in snapshot.references.to(place):
        if ref.tier in _SURE and ref.role is not Role.IMPORT:
            yield Dependent(around(snapshot, ref), place, kind_of(ref, kind), ref.tier, distance)


def _bound_inside(snapshot: Snapshot, definition: DefFact) -> Iterator[tuple[int, Bind, Occurrence]]:
    """The occurrences in the body of a definition that mean a name bound in the file, with that bind."""
    facts = snapshot.require_facts(definition.path)
    for occurrence in _inside(snapshot, definition.path, definition):
        if occurrence.target and not occurrence.receiver:
            yield occurrence.target - 1, facts.binds[occurrence.target - 1], occurrence


def _inside(snapshot: Snapshot, path: RepoPath, definition: DefFact) -> Iterator[Occurrence]:
    span = definition.span
    first, last = (span.start_line, span.start_column), (span.end_line, span.end_column)
    for _, occurrence in snapshot.occurrences_inside(path):
        if first <= (occurrence.line, occurrence.column) < last:
            yield occurrence


def _make_variable(bind: Bind, occurrences: list[Occurrence]) -> Variable:
    gives = sorted({(bind.line, bind.column)} | {(o.line, o.column) for o in occurrences if _gives(o)})
    uses = sorted(
        (o.line, o.column) for o in occurrences if not _gives(o) and (o.line, o.column) not in gives
    )
    before = [(bisect_left(gives, use), use) for use in uses]
    flow = [(gives[at - 1][0], use[0]) for at, use in before if at]
    return Variable(
        bind.name,
        bind.reason == Reason.PARAM,
        _lines(gives),
        _lines(uses),
        tuple(dict.fromkeys(flow)),
    )


def _gives(occurrence: Occurrence) -> bool:
    return occurrence.role in (Role.WRITE, Role.DEFINE)


def _lines(positions: list[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(line for line, _ in positions))
