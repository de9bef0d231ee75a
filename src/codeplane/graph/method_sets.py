"""Types that implement an interface without naming it: those whose methods cover its own.

Methods are compared by name and by how many parameters and results they have, not by types, which may be
written in several ways.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.hierarchy import Related, bases, descendants, is_class, members_of, owner_of
from codeplane.languages.headers import header_of
from codeplane.names import Snapshot

_MOST_CANDIDATES: Final = 2_000


class _Shape(NamedTuple):
    """How many parameters and results a method has; None where its header does not tell."""

    parameters: int
    results: int


class _Methods(NamedTuple):
    """The methods of a type with those of what it embeds."""

    shapes: dict[str, _Shape | None]
    outside: tuple[str, ...]  # embedded types that are not in the repository

    def cover(self, other: "_Methods") -> bool:
        return all(
            name in self.shapes and _fit(self.shapes[name], shape) for name, shape in other.shapes.items()
        )


class Implementers(NamedTuple):
    types: list[Related]
    open_interfaces: tuple[str, ...]  # embedded interfaces whose methods are unknown


def implementers(snapshot: Snapshot, place: Place) -> Implementers | None:
    """The types whose methods cover those of an interface; None where types name what they implement."""
    if not _is_silent(snapshot, place):
        return None
    methods = _methods(snapshot, place)
    rarest = min(methods.shapes, key=lambda name: len(snapshot.definitions(name)), default="")
    places = [one for one in _find_candidates(snapshot, rarest) if _methods(snapshot, one).cover(methods)]
    types = [Related(snapshot.definition(one).name, one, Tier.ANCHORED) for one in sorted(places)]
    return Implementers(types, methods.outside)


def implemented(snapshot: Snapshot, place: Place) -> list[Related]:
    """The interfaces of the repository whose methods those of a type cover."""
    if not _embeds(snapshot, place) or _is_silent(snapshot, place):
        return []
    mine = _methods(snapshot, place)
    matches: dict[Place, Related] = {}
    for name in mine.shapes:
        for definition in snapshot.definitions(name):
            owner = _owner(snapshot, definition)
            if owner is None or owner in matches or not _is_silent(snapshot, owner):
                continue
            methods = _methods(snapshot, owner)
            if not methods.outside and mine.cover(methods):
                matches[owner] = Related(snapshot.definition(owner).name, owner, Tier.ANCHORED)
    return [matches[one] for one in sorted(matches)]


def _find_candidates(snapshot: Snapshot, method: str) -> Iterator[Place]:
    """The types that have a method of this name, or embed one that has."""
    places: set[Place] = set()
    for definition in snapshot.definitions(method)[:_MOST_CANDIDATES]:
        owner = _owner(snapshot, definition)
        if owner is None or owner in places:
            continue
        below = [one.place for one, _ in descendants(snapshot, owner) if one.place is not None]
        for one in (owner, *below):
            if one not in places:
                places.add(one)
                if not _is_silent(snapshot, one) and _embeds(snapshot, one):
                    yield one


def _owner(snapshot: Snapshot, place: Place) -> Place | None:
    if snapshot.definition(place).kind != "method":
        return None
    owner = owner_of(snapshot, place)
    return owner if owner is not None and is_class(snapshot, owner) else None


def _methods(snapshot: Snapshot, place: Place) -> _Methods:
    shapes: dict[str, _Shape | None] = {}
    outside: list[str] = []
    waiting, places = [place], {place}
    while waiting:
        one = waiting.pop(0)
        for member in members_of(snapshot, one):
            item = snapshot.definition(member).item
            if item.kind == "method":
                shapes.setdefault(item.name, _shape(snapshot, member))
        for base in bases(snapshot, one):
            if base.place is None:
                outside.append(base.name)
            elif base.place not in places:
                places.add(base.place)
                waiting.append(base.place)
    return _Methods(shapes, tuple(dict.fromkeys(outside)))


def _shape(snapshot: Snapshot, place: Place) -> _Shape | None:
    definition = snapshot.definition(place)
    header = header_of(definition.language, definition.item)
    if header is None or header.parameters is None:
        return None
    return _Shape(len(header.parameters), _count_results(header.after))


def _count_results(text: str) -> int:
    text = text.strip()
    if not text.startswith("("):
        return int(bool(text))
    depth, count = 0, 0
    for char in text[1:-1]:
        depth += (char in "([{") - (char in ")]}")
        count += char == "," and not depth
    return count + 1 if text[1:-1].strip() else 0


def _fit(one: _Shape | None, other: _Shape | None) -> bool:
    return one is None or other is None or one == other


def _is_silent(snapshot: Snapshot, place: Place) -> bool:
    definition = snapshot.definition(place)
    spec = definition.spec
    return spec.types.embedded_fields and definition.kind in spec.types.structural_kinds


def _embeds(snapshot: Snapshot, place: Place) -> bool:
    """Whether the language of a type has no word for what it implements."""
    facts = snapshot.require_facts(place.path)
    return facts.spec.types.embedded_fields
