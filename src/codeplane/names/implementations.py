"""What indexers say of implementations: of types and their interfaces, of members and what they override.

A relation is a fact of the file with the implementation. It holds while that is clean, and no member with the
name of one of the interface came, went or changed in any file: a type that lacks one implements nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from codeplane.core.kinds import CLASSES
from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.index.semantics import Relation, SemanticTarget, definition_keys
from codeplane.names.freshness import SemanticStates, find_definition
from codeplane.names.imports import ImportResolver
from codeplane.names.meaning import STRUCTURE, is_external


class Implementer(NamedTuple):
    """A definition that implements another, or may; anchored where only their members have been compared."""

    place: Place
    tier: Tier
    evidence: str = STRUCTURE


class Implementations:
    """The relations of one view that still hold."""

    def __init__(self, links: ImportResolver) -> None:
        self._links = links
        self._view = links.sources
        self._semantics = links.sources.semantics
        self._states = SemanticStates(links)

    def of(self, place: Place) -> list[Implementer]:
        """What implements a definition."""
        _, below = self._relations(place)
        return _distinct(self._valid(below, [one.implementation for one in below]))

    def by(self, place: Place) -> list[Implementer]:
        """What a definition implements."""
        above, _ = self._relations(place)
        return _distinct(self._valid(above, [one.interface for one in above]))

    def is_clean(self, path: RepoPath) -> bool:
        """Whether what indexers say about a file holds, and some do."""
        documents = self._semantics.documents(path)
        return bool(documents) and all(self._states.is_clean(path, one) for one in documents)

    def _relations(self, place: Place) -> tuple[Sequence[Relation], Sequence[Relation]]:
        facts = (
            self._view.facts(place.path) if place.definition >= 0 and not self._semantics.is_empty else None
        )
        if facts is None:
            return (), ()
        return self._semantics.relations(place.path, definition_keys(facts.definitions)[place.definition])

    def _valid(
        self, relations: Sequence[Relation], others: Sequence[SemanticTarget]
    ) -> Iterator[Implementer]:
        """The other ends of relations that hold."""
        for relation, other in zip(relations, others, strict=True):
            place, interface = self._place(other), self._place(relation.interface)
            if place is None or interface is None or not self.is_clean(relation.path):
                continue
            if not self._states.has_changed_since(relation.run, partial(self._member_names, interface)):
                run = self._semantics.run(relation.run)
                yield Implementer(place, Tier.STRONG, f"{run.indexer} {run.version}".strip())

    def _place(self, target: SemanticTarget) -> Place | None:
        facts = self._view.facts(target.path) if target.kind == "definition" else None
        at = find_definition(facts, target) if facts is not None else None
        return Place(RepoPath(target.path), at) if at is not None else None

    def _member_names(self, place: Place) -> set[str]:
        """The names of an interface, or of that of a member, and of all members that it has."""
        facts = self._view.require_facts(place.path)
        item = facts.definitions[place.definition]
        owner = place if item.kind in CLASSES or item.parent < 0 else Place(place.path, item.parent)
        names = {item.name, facts.definitions[owner.definition].name}
        for target in self._links.classes.order((owner,)) or [(owner,)]:
            for one in target if not is_external(target) else ():
                there = self._view.facts(one.path)
                items = there.definitions if there is not None else ()
                names.update(item.name for item in items if item.parent == one.definition)
        return names


def _distinct(implementers: Iterable[Implementer]) -> list[Implementer]:
    """Each once, whichever build contexts say so."""
    return sorted({one.place: one for one in implementers}.values())
