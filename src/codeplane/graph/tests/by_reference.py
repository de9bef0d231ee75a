"""Which tests reach definitions by references that are proven, from the definitions back to the tests."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.calls import PROVED
from codeplane.graph.hierarchy import is_class
from codeplane.graph.places import around, flags_of
from codeplane.graph.tests.by_fixture import asking_for
from codeplane.languages import specs
from codeplane.languages.facts import FLAG_TEST, Role
from codeplane.names import RefFact, Snapshot

_FURTHEST: Final = 8  # references from a test to a definition
MOST_FILES: Final = 400  # that may hold a name on the way, one counted for each name
_NO_USES: Final = (Role.IMPORT, Role.EXPORT, Role.DEFINE)


class Reached(NamedTuple):
    """Test files, each with its tests that are known to lead to what was asked about, if any has a name."""

    tests: Mapping[RepoPath, frozenset[str]]
    is_whole: bool  # every proven reference was followed
    distances: Mapping[RepoPath, int]  # references from each of them to what was asked about, at least


def reaching(
    snapshot: Snapshot,
    changed: Mapping[RepoPath, Collection[int]],
    most_files: int = MOST_FILES,
    most_tests: int | None = None,
) -> Reached:
    """The tests from which proven references lead to definitions, over whatever lies between.

    With `most_tests`, possible references are followed as well, up to the step that has met more of them.
    """
    walk = _Walk(snapshot, most_files, PROVED if most_tests is None else frozenset(Tier))
    level = [Place(path, at) for path in sorted(changed) for at in sorted(changed[path])]
    walk.meet(level)
    distances = dict.fromkeys(walk.tests, 0)
    for step in range(1, _FURTHEST + 1):
        level = walk.meet([holder for place in level for holder in walk.holders(place)])
        distances |= {path: step for path in walk.tests if path not in distances}
        if not level or (most_tests is not None and len(distances) > most_tests):
            break
    tests = {path: frozenset(names) for path, names in walk.tests.items()}
    return Reached(tests, walk.is_whole and not level, distances)


class _Walk:
    def __init__(self, snapshot: Snapshot, most_files: int, tiers: Collection[Tier]) -> None:
        self._snapshot, self._left, self._tiers = snapshot, most_files, tiers
        self._files = snapshot.tests()
        self._visits: set[Place] = set()
        self.tests: dict[RepoPath, set[str]] = {}
        self.is_whole = True

    def meet(self, places: Collection[Place]) -> list[Place]:
        """Takes note of tests; returns what has not been met before and can be referred to."""
        new = [place for place in dict.fromkeys(places) if place not in self._visits]
        self._visits.update(new)
        for place in new:
            if place.path in self._files:
                names = self.tests.setdefault(place.path, set())
                if place.definition >= 0 and flags_of(self._snapshot, place) & FLAG_TEST:
                    names.add(test_name(self._snapshot, place))
        return [place for place in new if place.definition >= 0]

    def holders(self, place: Place) -> Iterator[Place]:
        """The definitions and files that refer to one for sure, and the tests that ask for it by name."""
        for way in self._find_ways(place):
            for ref in self._followed_references(way):
                yield _holder(self._snapshot, ref)
        yield from asking_for(self._snapshot, place)

    def _find_ways(self, place: Place) -> Iterator[Place]:
        """A definition, and its class where the language or a framework calls it whenever that is used."""
        yield place
        item = self._snapshot.definition(place).item
        owner = Place(place.path, item.parent)
        if item.parent >= 0 and is_class(self._snapshot, owner) and self._is_called_unnamed(place):
            yield owner

    def _is_called_unnamed(self, place: Place) -> bool:
        definition = self._snapshot.definition(place)
        spec, item = specs()[definition.language], definition.item
        patterns = (one for one in (spec.reflection.reserved_names, spec.testing.framework_hooks) if one)
        return item.kind == "constructor" or any(re.fullmatch(one, item.name) for one in patterns)

    def _followed_references(self, place: Place) -> Iterator[RefFact]:
        if self._left <= 0:
            self.is_whole = False
            return
        names = self._snapshot.references.names(place)
        cost = 1 + sum(len(self._snapshot.paths_with(name)) for name in names)
        if cost > self._left:
            self.is_whole = False
            return
        self._left -= cost
        for ref in self._snapshot.references.to(place):
            if ref.tier in self._tiers and ref.role not in _NO_USES:
                yield ref


def _holder(snapshot: Snapshot, ref: RefFact) -> Place:
    """The definition that a reference belongs to: its decorators, defaults and values are part of it."""
    inner = around(snapshot, ref)
    if inner.definition >= 0 and not is_class(snapshot, inner):
        return inner
    facts = snapshot.require_facts(ref.path)
    at = (ref.line, ref.column)
    spans = [
        (item.span, number)
        for number, item in enumerate(facts.definitions)
        if item.span[:2] <= at < item.span[2:] and item.parent in (inner.definition, -1)
    ]
    return Place(ref.path, max(spans)[1]) if spans else inner


def test_name(snapshot: Snapshot, place: Place) -> str:
    """The name of a test with those of its suites, as runners write it."""
    names = []
    while place.definition >= 0:
        item = snapshot.definition(place).item
        names.append(item.name)
        place = Place(place.path, item.parent)
    return "::".join(reversed(names))
