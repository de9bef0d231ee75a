"""Definitions by name, whole or in part, and the references to one."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final

from codeplane.core.places import Place
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.names import DefFact, RefFact, Snapshot
from codeplane.search.ranking import PREFIX, Key, definition_order, name_likeness, reference_order
from codeplane.search.result_pages import Mark, Plan, Spot
from codeplane.search.scope import Scope

_BETWEEN: Final = re.compile(r"[^\w$]+")
_MOST: Final = 500
_SPARE: Final = 30  # looked at beyond what is wanted, since outer definitions come first
MOST_SYMBOLS: Final = 200
_MOST_NAMES: Final = 2_000


def find_symbols(snapshot: Snapshot, text: str, scope: Scope, files: Collection[str] | None) -> Plan:
    """Definitions whose names are, begin with or contain the last word; the others stand around them."""
    definitions = symbols_like(snapshot, text, scope, lambda path: files is None or path in files)
    spots = spots_of(snapshot, definitions, None)
    return Plan(snapshot.epoch, spots, total=_count(spots) if len(definitions) < MOST_SYMBOLS else 0)


def symbols_like(
    snapshot: Snapshot, text: str, scope: Scope, holds: Callable[[str], bool] = bool
) -> list[DefFact]:
    """Definitions whose names are like the last word, up to `MOST_SYMBOLS`, in files that `holds` accepts.

    First those with the name; then those with one like it, those in source before those in tests and so on,
    the likest first. What builds have made comes last.
    """
    parts = [part for part in _BETWEEN.split(text) if part]
    *around, name = parts or [""]
    likest = _names_like(snapshot, name) if name else []
    places: list[tuple[int, int, Place]] = []
    for rank, place in snapshot.lookup.defining(likest[:_MOST_NAMES], scope.kinds):
        if holds(place.path):
            purpose = snapshot.purpose(place.path)
            is_same = name_likeness(likest[rank], name, -1) < PREFIX and purpose is not Purpose.BUILT
            places.append((0 if is_same else 1 + purpose, rank, place))
    ranking: list[tuple[Key, DefFact]] = []
    order = definition_order(snapshot)
    for group, rank, place in sorted(places):
        one = snapshot.definition_at(place.path, place.definition)
        if one is not None and any(_filtered([one], around, scope)):
            ranking.append(((group, rank, *order(one)), one))
            if len(ranking) == MOST_SYMBOLS:
                break
    return [one for _, one in sorted(ranking, key=lambda pair: pair[0])]


def best_named(
    snapshot: Snapshot, name: str, most: int, holds: Callable[[str], bool] = bool
) -> list[DefFact]:
    """The definitions of a name in the paths that count: those that are most likely meant, first."""
    every = snapshot.definitions(name)
    if len(every) <= most + _SPARE:
        items = [one for one in snapshot.definitions_named(name, len(every)).items if holds(one.path)]
    else:
        # Which of very many to look at is decided by their paths alone.
        places = sorted((snapshot.purpose(place.path), place) for place in every if holds(place.path))
        nearest = [snapshot.definition_at(path, at) for _, (path, at) in places[: most + _SPARE]]
        items = [one for one in nearest if one is not None]
    return sorted(items, key=definition_order(snapshot))[:most]


def find_definitions(snapshot: Snapshot, text: str, scope: Scope, files: Collection[str] | None) -> Plan:
    """The definitions with this name, or whose qualified names end so."""
    definitions = sorted(_filtered(snapshot.symbols(text), (), scope), key=definition_order(snapshot))
    spots = spots_of(snapshot, definitions, files)
    return Plan(snapshot.epoch, spots, total=_count(spots))


def find_references(snapshot: Snapshot, text: str, files: Collection[str] | None) -> Plan:
    """The references to one symbol, best proven first."""
    symbol = snapshot.symbol(text)
    references = snapshot.references_to(symbol.path, symbol.position, _MOST)
    refs = [ref for ref in references.items if files is None or ref.path in files]
    refs.sort(key=reference_order(snapshot))
    blobs = snapshot.layout.blobs
    spots = [
        Spot(path, blobs.get(path), tuple(_of_reference(ref) for ref in group))
        for path, group in groupby(refs, key=lambda ref: ref.path)
    ]
    return Plan(snapshot.epoch, spots, total=len(refs))


def spots_of(snapshot: Snapshot, facts: Iterable[DefFact], files: Collection[str] | None) -> list[Spot]:
    """Definitions as they are ranked; those of one file that follow each other together."""
    blobs = snapshot.layout.blobs
    definitions = [one for one in facts if files is None or one.path in files]
    return [
        Spot(path, blobs.get(path), tuple(_of_definition(one) for one in group))
        for path, group in groupby(definitions, key=lambda one: one.path)
    ]


def _count(spots: Sequence[Spot]) -> int:
    return sum(len(spot.marks) for spot in spots)


def _of_definition(one: DefFact) -> Mark:
    return Mark(one.name_line, one.signature[:200], f"{one.kind} {shown(one.lexical_path)}", one.name_column)


def _of_reference(ref: RefFact) -> Mark:
    return Mark(ref.line, "", f"{ref.tier} {ref.role.name.lower()}", ref.column)


def _filtered(definitions: Iterable[DefFact], around: Sequence[str], scope: Scope) -> Iterator[DefFact]:
    words = [word.lower() for word in around]
    for one in definitions:
        if scope.kinds and one.kind not in scope.kinds:
            continue
        place = f"{one.path}/{one.lexical_path}".lower()
        if all(word in place for word in words):
            yield one


def _names_like(snapshot: Snapshot, name: str) -> list[str]:
    """Names, the likest first: the same, in other case, beginning so, with such a part, with such letters."""
    names, lower = snapshot.lookup.names()
    low = name if lower is names else name.lower()
    likeness: dict[str, tuple[int, int]] = {}
    at = lower.find(low)
    while at >= 0:
        start, end = names.rindex("\n", 0, at + 1) + 1, names.index("\n", at)
        one = names[start:end]
        likeness[one] = (name_likeness(one, name, at - start), len(one))
        at = lower.find(low, end)
    return sorted(likeness, key=lambda one: (likeness[one], one))
