"""Definitions and files as places: what they are called, and which of them a reference stands in."""

from codeplane.core.places import Place
from codeplane.jail import shown
from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Codebase, DefFact, RefFact


def place_of(definition: DefFact) -> Place:
    return Place(definition.path, definition.position)


def flags_of(snapshot: Codebase, place: Place) -> int:
    """The flags of a definition. What is only named like a test is none outside of the places of tests."""
    flags = snapshot.definition(place).flags
    return flags if place.path in snapshot.tests() else flags & ~FLAG_TEST


def around(snapshot: Codebase, ref: RefFact) -> Place:
    """The innermost definition whose body a reference is in; the file where there is none."""
    facts = snapshot.require_facts(ref.path)
    scope = ref.scope
    while scope >= 0:
        if scope in facts.opened_by:
            return Place(ref.path, facts.opened_by[scope])
        scope = facts.scopes.parent(scope)
    return Place(ref.path)


def qualified(snapshot: Codebase, place: Place) -> str:
    """The qualified name of a definition, or the name of the module that a file is."""
    if place.definition < 0:
        return shown(snapshot.module_name(place.path))
    return shown(snapshot.qualified(place))


def short(snapshot: Codebase, place: Place) -> str:
    """The name of a definition without its module; "" for a file."""
    if place.definition < 0:
        return ""
    return shown(snapshot.qualified(place)[len(snapshot.module_name(place.path)) + 1 :])


def position(snapshot: Codebase, place: Place) -> str:
    """`path:line`, by which a definition is found again; of a file its path."""
    if place.definition < 0:
        return shown(place.path)
    return f"{shown(place.path)}:{snapshot.definition(place).name_line}"
