"""The definitions that have to keep one name together, and why there may be more of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from codeplane.core.kinds import CLASSES, split_path
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import (
    derived,
    descendants,
    has_silent_types,
    is_class,
    overridden,
    overriding,
    owner_of,
)
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_OVERRIDE
from codeplane.names import Codebase
from codeplane.names.meaning import UNRESOLVED, Target, is_external, known
from codeplane.refactor.holders import Holders
from codeplane.refactor.plan import Problem
from codeplane.refactor.reflection.fixtures import is_fixture, requested
from codeplane.refactor.variables import (
    Variable,
    bare,
    holder_of,
    is_argument,
    takes_rest,
    twin,
    variables_in,
)

_MOST: Final = 2_000
_MOST_NAMED: Final = 3
_MADE: Final = ("constructor", "method")
_DECLARED: Final = ("function", "method", "constructor", "variable", "constant")
_STATIC: Final = re.compile(r"static\b")
_UNTOLD: Final = re.compile(r".+:\d+:(.+)\Z", re.DOTALL)


@dataclass(frozen=True)
class RenameSet:
    """Definitions of one name that are one thing: overloads, accessors, overriding members, constructors."""

    name: str
    kind: str
    places: frozenset[Place]
    is_member: bool
    doubts: tuple[Problem, ...]  # why something outside may belong to it as well
    variables: frozenset[Variable] = frozenset()  # parameters and locals that have the name with it
    functions: frozenset[Place] = frozenset()  # those whose calls may name the parameters
    embedders: frozenset[Place] = frozenset()  # types that have it as a field by embedding it

    @property
    def is_local(self) -> bool:
        """Whether nothing outside of one function can say the name, arguments of calls aside."""
        return not self.places


def rename_set_of(snapshot: Codebase, place: Place) -> RenameSet:
    """All that has to be renamed when one definition is."""
    item = snapshot.definition(place).item
    members: set[Place] = set()
    holders = Holders(snapshot)
    waiting = [place]
    while waiting and len(members) < _MOST:
        one = waiting.pop()
        if one in members:
            continue
        members.add(one)
        waiting += [other for other in _related(snapshot, one) if other not in members]
        waiting += [other for other in _keys_of_type(snapshot, one, holders) if other not in members]
    owners = [owner for one in sorted(members) if (owner := owner_of(snapshot, one)) is not None]
    keys = [one for one in sorted(members) if is_of_literal(snapshot, one)]
    loose = [one for one in keys if members.isdisjoint(_declared_member(snapshot, one, holders))]
    is_member = any(is_class(snapshot, owner) for owner in owners) or bool(keys)
    doubts = tuple(_doubts(snapshot, members)) if is_member else ()
    doubts += tuple(held(snapshot, one) for one in loose[:1])
    twins = {both for other in members if (both := twin(snapshot, other)) is not None}
    fixture_parameters = {
        one for other in members if is_fixture(snapshot, other) for one in requested(snapshot, other)
    }
    functions = {holder_of(snapshot, one) for one in twins if is_argument(snapshot, one)}
    return RenameSet(
        item.name,
        item.kind,
        frozenset(members),
        is_member,
        doubts,
        frozenset(twins | fixture_parameters),
        frozenset(functions),
        frozenset(_embedders(snapshot, place)),
    )


def is_of_literal(snapshot: Codebase, place: Place) -> bool:
    """Whether a definition is a member of an object that is written down: no scope knows its name."""
    facts = snapshot.require_facts(place.path)
    item, owner = facts.definitions[place.definition], owner_of(snapshot, place)
    if not facts.spec.renaming.object_literals or (owner is not None and is_class(snapshot, owner)):
        return False
    return item.name != "default" and facts.bound(item.scope, item.name) is None


def _declared_member(snapshot: Codebase, place: Place, holders: Holders) -> Target:
    """The member that a key of an object is, of the type that the object is declared to have.

    TypeScript: `const api: Store = { dispatch: (a) => … }`. Nothing is said of `const api = { … }`, which may
    be a Store by its members alone.
    """
    target = holders.type_of_key(place)
    if not target or is_external(target) or not is_class(snapshot, target[0]):
        return UNRESOLVED
    member = known(snapshot.classes.member(target, snapshot.definition(place).name))
    return UNRESOLVED if not member or is_external(member) else member


def _keys_of_type(snapshot: Codebase, place: Place, holders: Holders) -> Iterator[Place]:
    """The keys of objects that are a member by their declared type, and the member that a key is."""
    item = snapshot.definition(place).item
    if is_of_literal(snapshot, place):
        yield from _declared_member(snapshot, place, holders)
        return
    owner = owner_of(snapshot, place)
    if owner is None or not snapshot.interfaces.is_silent(owner):
        return
    for other in snapshot.definitions(item.name):
        if is_of_literal(snapshot, other) and place in _declared_member(snapshot, other, holders):
            yield other


def held(snapshot: Codebase, place: Place) -> Problem:
    """Why a member of an object may be called by what is not in the repository."""
    item = snapshot.definition(place).item
    text = f"{item.name} belongs to an object, which others may know by a type of their own."
    return Problem("object", text, place.path, item.name_line)


def _embedders(snapshot: Codebase, place: Place) -> Iterator[Place]:
    if specs()[snapshot.definition(place).language].types.embedded_fields and is_class(snapshot, place):
        yield from (one.place for one in derived(snapshot, place) if one.place is not None)


def variable_set_of(snapshot: Codebase, variable: Variable) -> RenameSet:
    """All that has to be renamed when one variable is: the same parameter of functions that override each
    other, where calls can name it."""
    kind = "parameter" if variable.is_parameter else "variable"
    alone = RenameSet(variable.name, kind, frozenset(), False, (), frozenset((variable,)))
    facts = snapshot.require_facts(variable.path)
    spec = facts.spec
    is_named = is_argument(snapshot, variable) and not takes_rest(snapshot, variable)
    if not spec.renaming.named_arguments or not is_named:
        return alone
    function = holder_of(snapshot, variable)
    item = snapshot.definition(function).item
    if item.kind in CLASSES or item.kind == "constructor" or item.name in spec.initializers:
        return replace(alone, functions=frozenset(snapshot.grouped(function)))
    rename_set = rename_set_of(snapshot, function)
    same = {one for place in rename_set.places for one in variables_in(snapshot, place, variable.name)}
    parameters = {one for one in same if one.is_parameter}
    return replace(
        alone,
        doubts=rename_set.doubts,
        variables=frozenset(parameters | {variable}),
        functions=rename_set.places,
    )


def _related(snapshot: Codebase, place: Place) -> Iterator[Place]:
    item = snapshot.definition(place).item
    yield from snapshot.grouped(place)
    yield from branches_of(snapshot, place)
    yield from _companions(snapshot, place)
    yield from _declared(snapshot, place)
    yield from _kept_in(snapshot, place)
    if item.kind in CLASSES:
        yield from snapshot.classes.whole((place,))
        yield from _constructors(snapshot, place)
        return
    if item.kind == "constructor" or bare(item.name) != item.name:
        owner = owner_of(snapshot, place)
        if owner is not None and snapshot.definition(owner).name == bare(item.name):
            yield owner
            return
    for other in (*overriding(snapshot, place), *overridden(snapshot, place)):
        if other.place is not None:
            yield other.place


def branches_of(snapshot: Codebase, place: Place) -> list[Place]:
    """The other definitions of a name in the same scope of a file, where a scope has one thing of a name."""
    facts = snapshot.require_facts(place.path)
    item = snapshot.definition(place).item
    if not facts.spec.renaming.one_definition_per_scope:
        return []
    return [
        Place(place.path, at)
        for at in facts.inside(item.parent, item.name)
        if facts.definitions[at].scope == item.scope
    ]


def _declared(snapshot: Codebase, place: Place) -> Iterator[Place]:
    """Where one file declares what another defines: the other one of the two."""
    definition = snapshot.definition(place)
    item = definition.item
    spec = specs()[definition.language]
    if not spec.renaming.prototypes or item.kind not in _DECLARED or _STATIC.match(item.signature):
        return
    for other in snapshot.definitions(item.name):
        alike = snapshot.definition(other).item
        there = snapshot.require_facts(other.path)
        is_near = there.spec.family == spec.family
        if (
            is_near
            and alike.kind in _DECLARED
            and (alike.body >= 0) != (item.body >= 0)
            and not _STATIC.match(alike.signature)
            and _full_name(snapshot, other) == _full_name(snapshot, place)
        ):
            yield other


def _kept_in(snapshot: Codebase, place: Place) -> Iterator[Place]:
    """The field that a property is kept in, or the property that is kept in a field."""
    facts = snapshot.require_facts(place.path)
    item, mark = facts.definitions[place.definition], facts.spec.renaming.property_field_prefix
    if not mark or item.kind not in ("property", "field"):
        return
    other = mark + item.name if item.kind == "property" else item.name.removeprefix(mark)
    for at in facts.inside(item.parent, other) if other != item.name else ():
        if facts.definitions[at].kind in ("property", "field"):
            yield Place(place.path, at)


def _full_name(snapshot: Codebase, place: Place) -> list[str]:
    """The names of what a definition is in, whether it stands there or says so, and its own."""
    facts = snapshot.require_facts(place.path)
    names: list[str] = []
    at = place.definition
    while at >= 0:
        item = facts.definitions[at]
        names += [item.name, *reversed(split_path(item.owner) if item.owner else ())]
        at = item.parent
    return names


def _companions(snapshot: Codebase, place: Place) -> Iterator[Place]:
    """The counterpart of a definition in the file beside it that declares it or is declared by it: a stub."""
    for ending, sources in snapshot.definition(place).spec.made_from.items():
        for one, other in [(ending, source) for source in sources] + [(source, ending) for source in sources]:
            if place.path.endswith(one):
                yield from _same_in(snapshot, place, place.path.removesuffix(one) + other)


def _same_in(snapshot: Codebase, place: Place, path: str) -> Iterator[Place]:
    here, there = (snapshot.facts(one) for one in (place.path, path))
    if here is None or there is None:
        return
    names = [here.definitions[place.definition].name]
    at = here.definitions[place.definition].parent
    while at >= 0:
        names.append(here.definitions[at].name)
        at = here.definitions[at].parent
    indices = [-1]
    for name in reversed(names):
        indices = [inner for outer in indices for inner in there.inside(outer, name)]
    yield from (Place(RepoPath(path), one) for one in indices)


def _constructors(snapshot: Codebase, place: Place) -> Iterator[Place]:
    """Where constructors and destructors go by the name of their class."""
    facts = snapshot.require_facts(place.path)
    name = facts.definitions[place.definition].name
    for at, item in enumerate(facts.definitions):
        if item.parent == place.definition and item.kind in _MADE and bare(item.name) == name:
            yield Place(place.path, at)
    for other in snapshot.owned(name):
        item = snapshot.definition(other).item
        if item.kind in _MADE and bare(item.name) == name and owner_of(snapshot, other) == place:
            yield other


def _doubts(snapshot: Codebase, members: set[Place]) -> Iterator[Problem]:
    """Bases that are not in the repository may have, or call, a member of the name."""
    names: set[str] = set()
    for place in sorted(members):
        owner = owner_of(snapshot, place)
        if owner is None or not is_class(snapshot, owner):
            continue
        item = snapshot.definition(place).item
        for target in snapshot.classes.order((owner,))[1:]:
            name = written_base(target[0].path) if is_external(target) else ""
            if name and name not in names and may_know(snapshot, place, name, item.name):
                names.add(name)
                text = f"{name}, which {snapshot.definition(owner).name} extends, is not in the repository."
                yield Problem("outside_base", text, place.path, item.name_line)
        if item.flags & FLAG_OVERRIDE and not overridden(snapshot, place):
            text = f"{item.name} says that it overrides something, which is not in the repository."
            yield Problem("outside_base", text, place.path, item.name_line)
        if _has_silent_implementers(snapshot, owner) and "silent" not in names:
            names.add("silent")
            some = [snapshot.definition(one.place).name for one in snapshot.interfaces.implementers(owner)]
            names_there = ", ".join(some[:_MOST_NAMED]) if 0 < len(some) <= _MOST_NAMED else "Types"
            text = f"{names_there} may implement {snapshot.definition(owner).name} without naming it."
            yield Problem("silent_interface", text, place.path, item.name_line)


def _has_silent_implementers(snapshot: Codebase, owner: Place) -> bool:
    """Whether types may implement a type without naming it; of a protocol, whether a class seems to."""
    if snapshot.definition(owner).spec.types.protocols:
        return snapshot.interfaces.is_implemented_protocol(owner) or _takes_in(snapshot, owner)
    return has_silent_types(snapshot, owner) or _takes_in(snapshot, owner)


def may_know(snapshot: Codebase, place: Place, base: str, name: str) -> bool:
    """Whether a class that is not in the repository may have, or call, a member of a name."""
    definition = snapshot.definition(place)
    spec, item = definition.spec, definition.item
    if item.kind not in (*_MADE, "property") and base in spec.reflection.enums_by_name:
        return True
    return spec.types.may_have(base, name)


def _takes_in(snapshot: Codebase, owner: Place) -> bool:
    """Whether a class takes in others as if they extended it: `Base.register(Other)`."""
    definition = snapshot.definition(owner)
    name = definition.name
    for word in definition.spec.reflection.virtual_subclassing:
        for path in snapshot.paths_with(word):
            there = snapshot.facts(path)
            occurrences = snapshot.occurrences(path, word) if there is not None else ()
            receivers = [there.receivers[one.receiver - 1] for one in occurrences if there and one.receiver]
            if any(split_path(one)[-1] == name for one in receivers):
                return True
    return False


def is_untold(text: str) -> bool:
    """Whether nothing is known of a class but the text that names it."""
    return _UNTOLD.match(text) is not None


def written_base(text: str) -> str:
    """The full name of a class that is not in the repository, as far as it is known."""
    match = _UNTOLD.match(text)
    return (match[1] if match else text).replace("..", ".")


def kin(snapshot: Codebase, place: Place) -> Iterator[Place]:
    """The classes that an instance with a member may be of, and those that they extend."""
    owner = owner_of(snapshot, place)
    below = [one.place for one, _ in descendants(snapshot, owner)] if owner is not None else []
    for one in (owner, *below):
        for target in snapshot.classes.order((one,)) if one is not None else ():
            yield from target
