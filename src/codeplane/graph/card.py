"""All that is worth knowing about one definition before working with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.calls import Bounds, callees
from codeplane.graph.documentation import documentation
from codeplane.graph.excerpts import Excerpts
from codeplane.graph.hierarchy import Related, bases, is_class, members_of, overridden, owner_of
from codeplane.graph.method_sets import implemented, implementers
from codeplane.graph.places import flags_of, place_of
from codeplane.graph.possible_uses import CERTAIN, Use
from codeplane.graph.references import Kind, Reference, references_to, use_of
from codeplane.languages.facts import (
    FLAG_ABSTRACT,
    FLAG_ASYNC,
    FLAG_OVERRIDE,
    FLAG_PRIVATE,
    FLAG_STATIC,
    FLAG_TEST,
)
from codeplane.names import DefFact, FileFacts, Snapshot

_TRAITS: Final = {
    FLAG_STATIC: "static",
    FLAG_ABSTRACT: "abstract",
    FLAG_ASYNC: "async",
    FLAG_OVERRIDE: "override",
    FLAG_TEST: "test",
}
_CALLED: Final = frozenset((Kind.CALL, Kind.INSTANTIATE))


@dataclass(frozen=True)
class Card:
    """A definition with its surroundings."""

    definition: DefFact
    documentation: str
    container: Place | None
    visibility: str
    traits: list[str]
    bases: list[Related]
    implements: list[Related]  # by method set
    implemented_by: list[Related]
    overrides: list[Related]
    members: list[Place]
    calls: list[tuple[Place, Tier]]
    more_calls: int
    callers: dict[Tier, int]
    possible: list[Use]  # calls that may mean it
    references: dict[Tier, int]
    tests: list[str]


def card_of(snapshot: Snapshot, definition: DefFact, most: int) -> Card:
    """The card of a definition, with at most so many calls."""
    place = place_of(definition)
    facts = snapshot.require_facts(place.path)
    item = facts.definitions[place.definition]
    flags = flags_of(snapshot, place)
    references = references_to(snapshot, definition)
    calls = [one for one in references.items if one.kind in _CALLED]
    walk = callees(snapshot, place, Bounds(1, most))
    nodes = walk.levels[0].nodes if walk.levels else []
    silent = implementers(snapshot, place) if is_class(snapshot, place) else None
    return Card(
        definition,
        _render_documentation(snapshot, definition, facts),
        owner_of(snapshot, place),
        "private" if item.flags & FLAG_PRIVATE else "public",
        [name for flag, name in _TRAITS.items() if flags & flag],
        bases(snapshot, place) if is_class(snapshot, place) else [],
        implemented(snapshot, place) if is_class(snapshot, place) else [],
        silent.types if silent is not None else [],
        overridden(snapshot, place),
        members_of(snapshot, place),
        [(node.place, node.edges[0].tier) for node in nodes],
        walk.levels[0].more if walk.levels else 0,
        _by_tier(calls),
        [use_of(one) for one in calls if one.tier not in CERTAIN],
        references.tiers,
        _render_tests(snapshot, references.items),
    )


def _render_documentation(snapshot: Snapshot, definition: DefFact, facts: FileFacts) -> str:
    """What is said about a definition, or about the first of its overloads that something is said about."""
    excerpts = Excerpts(snapshot)
    for at in (definition.position, *sorted(facts.group(definition.position))):
        one = snapshot.definition_at(definition.path, at)
        if one is not None and (said := documentation(excerpts, one)):
            return said
    return ""


def _by_tier(references: list[Reference]) -> dict[Tier, int]:
    counts = {tier: sum(one.tier is tier for one in references) for tier in Tier}
    return {tier: count for tier, count in counts.items() if count}


def _render_tests(snapshot: Snapshot, references: Sequence[Reference]) -> list[str]:
    """The test files that refer to it for sure."""
    tests = snapshot.tests()
    sure = [one.path for one in references if one.tier in (Tier.PROVEN, Tier.STRONG) and one.path in tests]
    return sorted(set(sure))
