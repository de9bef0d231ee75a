"""Classes and what they extend, upwards and downwards."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.names import Codebase, Implementer
from codeplane.names.meaning import Target, is_external

INTERFACES: Final = frozenset(("interface", "trait", "mixin"))
_MOST_DERIVED: Final = 2_000
_UNTOLD: Final = re.compile(r".+:\d+:(.+)\Z", re.DOTALL)


class Related(NamedTuple):
    """A class that another is related to; outside the repository there is only its name."""

    name: str
    place: Place | None
    tier: Tier


def is_class(snapshot: Codebase, place: Place) -> bool:
    return place.definition >= 0 and snapshot.definition(place).kind in CLASSES


def has_silent_types(snapshot: Codebase, place: Place) -> bool:
    """Whether types may implement one that do not name it."""
    return snapshot.interfaces.is_silent(place)


def owner_is_silent(snapshot: Codebase, place: Place) -> bool:
    """Whether a member is one of an interface that types implement without naming it."""
    owner = snapshot.interfaces.owner(place)
    return owner is not None and snapshot.interfaces.is_silent(owner)


def owner_of(snapshot: Codebase, place: Place) -> Place | None:
    """What a definition is a member of: what holds it, or the type that it says it belongs to."""
    facts = snapshot.require_facts(place.path)
    item = facts.definitions[place.definition]
    is_in_block = item.parent >= 0 and facts.definitions[item.parent].kind == "impl"
    at = item.parent if is_in_block else place.definition
    for owner in snapshot.owner(place.path, facts, at):
        return owner
    return Place(place.path, item.parent) if item.parent >= 0 else None


def members_of(snapshot: Codebase, place: Place) -> list[Place]:
    """The definitions in a definition, then those outside that say that they belong to it."""
    facts = snapshot.require_facts(place.path)
    inside = sorted(
        (item.name_line, at) for at, item in enumerate(facts.definitions) if item.parent == place.definition
    )
    places = [Place(place.path, at) for _, at in inside]
    name = facts.definitions[place.definition].name
    for other in snapshot.owned(name) if is_class(snapshot, place) else ():
        outside = snapshot.require_facts(other.path)
        if other == place or place not in snapshot.owner(other.path, outside, other.definition):
            continue
        if outside.definitions[other.definition].kind == "impl":
            items = enumerate(outside.definitions)
            places += [Place(other.path, at) for at, item in items if item.parent == other.definition]
        else:
            places.append(other)
    return places


def bases(snapshot: Codebase, place: Place) -> list[Related]:
    """What a class says that it extends or implements, in order."""
    classes = snapshot.classes
    definition = snapshot.definition(place)
    result = []
    for target in classes.bases(classes.whole((place,))):
        if is_external(target):
            result.append(Related(_written(target[0].path), None, Tier.UNKNOWN))
        else:
            base = target[0]
            tier = Tier.PROVEN if base.path == place.path else Tier.STRONG
            result.append(Related(snapshot.definition(base).name, base, tier))
    # Bases that have nothing of their own are no part of the order of lookup, and still written down.
    plain = definition.spec.types.memberless_bases & set(definition.item.bases)
    return result + [Related(text, None, Tier.UNKNOWN) for text in sorted(plain)]


def derived(snapshot: Codebase, place: Place) -> Iterator[Related]:
    """The classes that say that they extend a class. One whose base cannot be told is anchored."""
    classes = snapshot.classes
    parts = set(classes.whole((place,)))
    places: set[Place] = set(parts)
    for name in snapshot.references.names(place):
        for other in snapshot.extending(name):
            if other in places:
                continue
            places.add(other)
            targets = classes.bases((other,))
            is_base = any(parts & set(target) for target in targets)
            is_open = any(
                is_external(one) and split_path(_written(one[0].path))[-1] == name for one in targets
            )
            if is_base or is_open:
                tier = Tier.PROVEN if other.path == place.path else Tier.STRONG
                for one in _class_of(snapshot, other):
                    name_of = snapshot.definition(one).name
                    yield Related(name_of, one, tier if is_base else Tier.ANCHORED)


def descendants(snapshot: Codebase, place: Place) -> Iterator[tuple[Related, int]]:
    """All classes below a class with their depth, nearest first; each once, proven ones only."""
    level, places = [place], {place}
    depth = 0
    while level and len(places) < _MOST_DERIVED:
        depth += 1
        below: list[Place] = []
        for one in level:
            for result in derived(snapshot, one):
                if (
                    result.place is not None
                    and result.place not in places
                    and result.tier is not Tier.ANCHORED
                ):
                    places.add(result.place)
                    below.append(result.place)
                    yield result, depth
        level = below


def overriding(snapshot: Codebase, place: Place) -> Iterator[Related]:
    """The members of derived classes that take the place of a member."""
    item = snapshot.definition(place).item
    owner = Place(place.path, item.parent)
    if item.parent < 0 or not is_class(snapshot, owner):
        return
    whole = snapshot.classes.whole((owner,))
    for holder in snapshot.holders(item.name):
        if holder[0] in whole or whole not in snapshot.classes.order(holder):
            continue
        facts = snapshot.facts(holder[0].path)
        tier = Tier.PROVEN if holder[0].path == place.path else Tier.STRONG
        for at in facts.inside(holder[0].definition, item.name) if facts else ():
            yield Related(item.name, Place(holder[0].path, at), tier)


def dispatch_targets(snapshot: Codebase, place: Place) -> list[Implementer]:
    """The members that a call of a member may run instead: those of derived classes, and those of types that
    implement its interface without naming it."""
    derived_members = [
        Implementer(one.place, one.tier) for one in overriding(snapshot, place) if one.place is not None
    ]
    others = snapshot.interfaces.implementing_members(place)
    return list({one.place: one for one in (*others, *derived_members)}.values())


def overridden(snapshot: Codebase, place: Place) -> list[Related]:
    """The members of base classes that a member takes the place of, nearest first."""
    name = snapshot.definition(place).name
    return [
        Related(name, base, Tier.PROVEN if base.path == place.path else Tier.STRONG)
        for base in snapshot.classes.overridden(place)
    ]


def _class_of(snapshot: Codebase, place: Place) -> Target:
    """The class itself, or the one that a block outside of it belongs to."""
    facts = snapshot.require_facts(place.path)
    if facts.definitions[place.definition].kind != "impl":
        return (place,)
    return snapshot.owner(place.path, facts, place.definition)[:1]


def _written(text: str) -> str:
    """The name of a class from outside; one that cannot be told carries where it was written."""
    result = _UNTOLD.match(text)
    return result[1] if result else text
