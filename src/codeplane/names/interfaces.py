"""Interfaces that types implement without naming them: Go's, TypeScript's, the protocols of Python.

A type may implement one where it has all of its members. Methods are compared by name and by how many
parameters (in Go: and results) they have, not by types, which may be written in several ways. What an indexer
says of implementations counts as long as none of the members has changed since.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.core.kinds import CLASSES
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.core.slots import EpochSlot
from codeplane.index.view.foreign import ForeignFile
from codeplane.languages.foreign import ForeignDefinition
from codeplane.languages.headers import Parameter, Passing, header_of
from codeplane.languages.rules.typing_rules import TypeRules
from codeplane.names.implementations import Implementations, Implementer
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import AMBIGUOUS, is_external

_MOST_HOLDERS: Final = 2_000
_ABOVE: Final = EpochSlot[Place, list[Place]]("members of interfaces that a member may implement")
_BELOW: Final = EpochSlot[Place, list[Implementer]]("members that may implement one of an interface")
_METHODS: Final = frozenset(("method", "property"))
_BY_POSITION: Final = (Passing.POSITION, Passing.EITHER)


class Interfaces:
    """The interfaces of one view that types implement without naming them, and their implementations."""

    def __init__(self, links: ImportResolver, implementations: Implementations) -> None:
        self._links = links
        self._view = links.sources
        self._relations = implementations

    def is_silent(self, place: Place) -> bool:
        """Whether types may implement a type without naming it."""
        facts = self._view.facts(place.path) if place.definition >= 0 else None
        if facts is None:
            return False
        item, types = facts.definitions[place.definition], self._links.spec(facts).types
        return item.kind in types.structural_kinds or not types.protocols.isdisjoint(item.bases)

    def is_implemented_protocol(self, place: Place) -> bool:
        """Whether a type is a protocol that a class of the repository may implement without naming it."""
        is_protocol = self.is_silent(place) and bool(self._types(place).protocols)
        return is_protocol and bool(self.implementers(place))

    def members(self, place: Place) -> dict[str, Place]:
        """What a type has to have to implement an interface, by name."""
        members: dict[str, Place] = {}
        for target in self._links.classes.order((place,)) or [(place,)]:
            for one in target if not is_external(target) else ():
                facts = self._view.facts(one.path)
                if facts is not None:
                    members |= {
                        item.name: Place(one.path, at)
                        for at, item in enumerate(facts.definitions)
                        if item.parent == one.definition and item.name not in members
                    }
        types = self._types(place)
        return {name: one for name, one in members.items() if self._is_demanded(types, one)}

    def covers(self, owner: Place, interface: Place) -> bool:
        """Whether a type has all members of an interface, as far as their headers tell."""
        members = self.members(interface)
        return self.has_methods(interface) and all(
            self._fits(owner, name, one) for name, one in members.items()
        )

    def has_methods(self, interface: Place) -> bool:
        """Whether an interface has methods; without, a type would have its members by chance."""
        return any(self._item(one).kind in _METHODS for one in self.members(interface).values())

    def implementers(self, interface: Place) -> list[Implementer]:
        """The types that implement an interface, or may, without those that name it."""
        relations = self._relations.of(interface)
        is_settled = self._is_settled(interface) and bool(relations)
        candidates = [] if is_settled or not self.is_silent(interface) else self._candidates(interface)
        possible = [Implementer(one, Tier.ANCHORED) for one in candidates if self.covers(one, interface)]
        return [
            *relations,
            *(one for one in possible if one.place not in {other.place for other in relations}),
        ]

    def implemented(self, owner: Place) -> list[Implementer]:
        """The interfaces that a type implements, or may, without naming them."""
        relations = self._relations.by(owner)
        if self._is_settled(owner) and self._relations.is_clean(owner.path):
            return relations
        places = {one.place for one in relations}
        possible: dict[Place, Implementer] = {}
        for name in self._member_names(owner):
            for interface in self._silent_holders(name, self._family(owner)):
                if interface in places or interface in possible or not self._is_apart(owner, interface):
                    continue
                if self.covers(owner, interface):
                    possible[interface] = Implementer(interface, Tier.ANCHORED)
        return [*relations, *(possible[one] for one in sorted(possible))]

    def implemented_members(self, place: Place) -> list[Place]:
        """The members of interfaces that a member of a type implements, or may, without naming them."""
        members = self._view.memo.once(_ABOVE, place, lambda: self._find_implemented(place))
        return list(members)

    def _find_implemented(self, place: Place) -> list[Place]:
        owner = self.owner(place)
        if owner is None or self.is_silent(owner):
            return []
        relations = [one.place for one in self._relations.by(place)]
        if self._is_settled(owner) and self._relations.is_clean(place.path):
            return relations
        name = self._item(place).name
        for interface in self._silent_holders(name, self._family(owner)):
            if self._is_apart(owner, interface) and self.covers(owner, interface):
                member = self.members(interface).get(name)
                relations += [member] if member is not None and member not in relations else []
        return relations

    def implementing_members(self, place: Place) -> list[Implementer]:
        """The members of types that implement a member of an interface, or may, without naming it."""
        members = self._view.memo.once(_BELOW, place, lambda: self._find_implementing(place))
        return list(members)

    def _find_implementing(self, place: Place) -> list[Implementer]:
        owner = self.owner(place)
        relations = self._relations.of(place)
        if owner is None or not self.is_silent(owner):
            return relations
        places = {one.place for one in relations}
        name = self._item(place).name
        for implementer in self.implementers(owner):
            if implementer.tier is not Tier.ANCHORED:
                continue  # what the indexer says of the type, it says of its members
            member = self._links.classes.member((implementer.place,), name)
            if member and member != AMBIGUOUS and not is_external(member) and member[0] not in places:
                places.add(member[0])
                relations.append(Implementer(member[0], Tier.ANCHORED))
        return relations

    def owner(self, place: Place) -> Place | None:
        """The type that a member belongs to, in it or by saying so; None for what is no member."""
        facts = self._view.facts(place.path) if place.definition >= 0 else None
        if facts is None:
            return None
        item = facts.definitions[place.definition]
        if item.owner:
            return next(iter(self._links.around.owner(place.path, facts, place.definition)), None)
        is_member = item.parent >= 0 and facts.definitions[item.parent].kind in CLASSES
        return Place(place.path, item.parent) if is_member else None

    def _candidates(self, interface: Place) -> list[Place]:
        """The types with the rarest member of an interface, or with a base that has it; none names it."""
        names = [name for name, one in self.members(interface).items() if self._item(one).kind in _METHODS]
        rarest = min(names, key=lambda name: len(self._view.definitions(name)), default="")
        places: dict[Place, None] = {}
        for definition in self._view.definitions(rarest)[:_MOST_HOLDERS] if rarest else ():
            owner = self.owner(definition)
            if owner is not None and not self.is_silent(owner):
                places |= dict.fromkeys((owner, *self._below(owner)))
        family = self._family(interface)
        return [
            one for one in sorted(places) if self._family(one) == family and self._is_apart(one, interface)
        ]

    def _below(self, place: Place) -> Iterator[Place]:
        """The types that name a type as one of theirs, with those below them."""
        waiting, places = [place], {place}
        for one in waiting:  # grows as it is walked
            for other in self._view.extending(self._item(one).name):
                is_below = any(one in target for target in self._links.classes.bases((other,)))
                if is_below and other not in places and len(places) < _MOST_HOLDERS:
                    places.add(other)
                    waiting.append(other)
                    yield other

    def with_member(self, name: str, place: Place) -> Iterator[Place]:
        """The interfaces with a member of a name that the type of a member may implement without naming."""
        owner = self.owner(place)
        for interface in self._silent_holders(name, self._family(place)):
            if owner is not None and not self._is_apart(owner, interface):
                continue
            # Many classes have members of one name, and few of them are meant by a protocol.
            if not self._types(interface).protocols or (owner is not None and self.covers(owner, interface)):
                yield interface

    def _silent_holders(self, name: str, family: str) -> Iterator[Place]:
        for interface, _ in self._view.held(name)[:_MOST_HOLDERS]:
            if self.is_silent(interface) and self._family(interface) == family:
                yield interface

    def _is_apart(self, owner: Place, interface: Place) -> bool:
        order = self._links.classes.order((owner,))
        return owner != interface and not any(interface in target for target in order)

    def _member_names(self, owner: Place) -> Sequence[str]:
        """The names of methods that a type has itself or inherits."""
        names: dict[str, None] = {}
        for target in self._links.classes.order((owner,)) or [(owner,)]:
            for one in target if not is_external(target) else ():
                facts = self._view.facts(one.path)
                items = facts.definitions if facts is not None else ()
                names |= {item.name: None for item in items if item.parent == one.definition}
                names |= {self._item(other).name: None for other in self._view.owned(self._item(one).name)}
        return list(names)

    def _is_settled(self, place: Place) -> bool:
        """Whether no type of a language names its interfaces: then an indexer lists all implementations."""
        return self._types(place).embedded_fields

    def _is_demanded(self, types: TypeRules, member: Place) -> bool:
        item = self._item(member)
        if item.name in types.object_members or item.kind == "constructor" or item.name == types.slots:
            return False
        if item.kind in _METHODS:
            return "?" not in item.signature.partition("(")[0]  # `maybe?(): void` may be missing
        # Whether a field has to be there is not told by languages with optional ones: `name?: string`.
        return bool(types.protocols) and item.kind == "field"

    def _fits(self, owner: Place, name: str, member: Place) -> bool:
        other = self._links.classes.member((owner,), name)
        if other == AMBIGUOUS:
            return True
        if not other or is_external(other):
            return False
        ours, theirs = self._item(other[0]), self._item(member)
        if "method" not in (ours.kind, theirs.kind) or ours.kind != theirs.kind:
            return True
        mine, model = self._shape(other[0], ours), self._shape(member, theirs)
        if mine is None or model is None:
            return True
        types = self._types(member)
        if types.embedded_fields:
            return (len(mine.parameters), mine.results) == (len(model.parameters), model.results)
        count = len(_positional(model.parameters))
        is_wide = not types.protocols or _takes(mine.parameters, count)
        return is_wide and sum(one.default is None for one in _positional(mine.parameters)) <= count

    def _shape(self, place: Place, item: ForeignDefinition) -> "_Shape | None":
        header = header_of(self._facts(place).language, item)
        if header is None or header.parameters is None:
            return None
        return _Shape(header.parameters, _count_results(header.after))

    def _family(self, place: Place) -> str:
        return self._links.spec(self._facts(place)).family

    def _types(self, place: Place) -> TypeRules:
        return self._links.spec(self._facts(place)).types

    def _facts(self, place: Place) -> ForeignFile:
        return self._view.require_facts(place.path)

    def _item(self, place: Place) -> ForeignDefinition:
        return self._facts(place).definitions[place.definition]


class _Shape(NamedTuple):
    parameters: tuple[Parameter, ...]
    results: int


def _positional(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [one for one in parameters if one.passing in _BY_POSITION]


def _takes(parameters: Sequence[Parameter], count: int) -> bool:
    has_rest = any(one.passing is Passing.REST for one in parameters)
    return has_rest or len(_positional(parameters)) >= count


def _count_results(text: str) -> int:
    text = text.strip()
    if not text.startswith("("):
        return int(bool(text))
    depth, count = 0, 0
    for char in text[1:-1]:
        depth += (char in "([{") - (char in ")]}")
        count += char == "," and not depth
    return count + 1 if text[1:-1].strip() else 0
