"""Types that implement an interface without naming it: by an indexer, else those that have its members."""

from typing import NamedTuple

from codeplane.core.places import Place
from codeplane.graph.hierarchy import Related, bases, has_silent_types
from codeplane.names import Codebase


class Implementers(NamedTuple):
    types: list[Related]
    open_interfaces: tuple[str, ...]  # embedded interfaces whose members are unknown


def implementers(snapshot: Codebase, place: Place) -> Implementers | None:
    """The types that implement an interface, or may; None where types name what they implement, or it has no
    methods to compare, and no indexer knows of any."""
    types = [
        Related(snapshot.definition(one.place).name, one.place, one.tier)
        for one in snapshot.interfaces.implementers(place)
    ]
    if not types and not (has_silent_types(snapshot, place) and snapshot.interfaces.has_methods(place)):
        return None
    return Implementers(types, tuple(_open_interfaces(snapshot, place)))


def implemented(snapshot: Codebase, place: Place) -> list[Related]:
    """The interfaces of the repository that a type implements, or may, without naming them."""
    if has_silent_types(snapshot, place):
        return []
    return [
        Related(snapshot.definition(one.place).name, one.place, one.tier)
        for one in snapshot.interfaces.implemented(place)
    ]


def _open_interfaces(snapshot: Codebase, place: Place) -> dict[str, None]:
    """The bases of an interface that are not in the repository, and those of its bases."""
    protocols = snapshot.definition(place).spec.types.protocols
    names: dict[str, None] = {}
    waiting, places = [place], {place}
    for one in waiting:  # grows as it is walked
        for base in bases(snapshot, one):
            if base.place is None:
                names |= {base.name: None} if base.name not in protocols else {}
            elif base.place not in places:
                places.add(base.place)
                waiting.append(base.place)
    return names
