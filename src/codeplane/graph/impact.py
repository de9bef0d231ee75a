"""Which tests a change may concern: by what they import, each match with the evidence for it."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.graph.importing import Links, Reach, links_of, many, reach_of
from codeplane.index import Snapshot
from codeplane.jail import shown
from codeplane.languages.modules import rules

_BETWEEN: Final = str.maketrans({"/": ".", ":": ".", "\\": "."})
_FURTHEST: Final = 5  # imports from a test to a changed file
_MOST_NAMES: Final = 200  # of a changed file, looked for in a test


class Match(StrEnum):
    """How a test leads to a changed file. The order is that of the evidence."""

    EXACT = "exact"
    """It imports the file or something defined in it, through whatever re-exports, or names something of it
    in the same package."""
    PARENT = "parent"
    """It imports a package around the file that imports the file itself, or is in the same package."""
    CHILD = "child"
    """It imports a module inside the changed package."""
    CHAIN = "chain"
    """It imports a file whose imports lead there."""


class AffectedTest(NamedTuple):
    path: RepoPath
    match: Match
    module: str  # the changed module that it leads to, or the file that a chain begins with
    distance: int = 1  # imports on the way; 0 for a test that has changed itself

    @property
    def confidence(self) -> Literal["high", "low"]:
        return "high" if self.match is Match.EXACT else "low"

    @property
    def told(self) -> str:
        """`confidence match path`; of a chain with its length."""
        length = f":{self.distance}" if self.match is Match.CHAIN else ""
        return f"{self.confidence} {self.match}{length} {shown(self.path)}"


_ORDER: Final = {match: number for number, match in enumerate(Match)}


@dataclass(frozen=True)
class Impact:
    """The tests that import what has changed, sure ones first. `partial` names what could not be followed."""

    tests: Sequence[AffectedTest]
    unresolved: Sequence[RepoPath]  # changed files that no import can name
    reasons: Sequence[str]

    @property
    def confidence(self) -> Literal["complete", "partial"]:
        return "partial" if self.unresolved or self.reasons else "complete"

    @property
    def told(self) -> str:
        """`complete`, or `partial` with the reasons."""
        nameless = len(self.unresolved)
        why = [*self.reasons, *([f"{nameless} files that no import can name"] if nameless else [])]
        return f"{self.confidence}{': ' if why else ''}{'; '.join(why)}"


def affected_tests(snapshot: Snapshot, changed: Collection[RepoPath]) -> Impact:
    """The test files whose imports lead to changed files. A test that was changed is one of them."""
    if not changed:
        return Impact((), (), ())
    modules = {path: _module(snapshot, path) for path in sorted(set(changed))}
    named = {path: module for path, module in modules.items() if module}
    search = _Search(snapshot, named)
    found = sorted(filter(None, map(search.best, sorted(snapshot.linker.sources.tests()))), key=_rank)
    listed, left_out = _without_crowds(found, many(len(snapshot.linker.sources.tests())))
    unresolved = [path for path in modules if path not in named]
    return Impact(listed, unresolved, [*_reasons(snapshot, search.reach), *left_out])


def _rank(one: AffectedTest) -> tuple[int, int, str, str]:
    return _ORDER[one.match], one.distance, one.path, one.module


def _without_crowds(found: Sequence[AffectedTest], most: int) -> tuple[list[AffectedTest], list[str]]:
    """Weak matches that a good part of all tests has are counted and not listed, far ones first."""
    counts = Counter((one.match, one.distance) for one in found if one.match in (Match.CHILD, Match.CHAIN))
    crowds: set[tuple[Match, int]] = set()
    reasons = []
    if (children := counts.pop((Match.CHILD, 1), 0)) > most:
        crowds.add((Match.CHILD, 1))
        reasons.append(f"{children} tests that import modules inside a changed package are not listed")
    listed = 0
    for sort in sorted(counts):
        listed += counts[sort]
        if listed > most:
            crowds.add(sort)
    if far := {sort[1]: count for sort, count in sorted(counts.items()) if sort in crowds}:
        reasons.append(f"{sum(far.values())} tests that are {min(far)} or more imports away are not listed")
    return [one for one in found if (one.match, one.distance) not in crowds], reasons


class _Search:
    """What imports of changed files look like; what each imported file leads to is found once."""

    def __init__(self, snapshot: Snapshot, named: dict[RepoPath, str]) -> None:
        self._snapshot, self._named = snapshot, named
        self._changed = set(named.values())
        self._links = links_of(snapshot)
        self.reach = reach_of(self._links, named, _FURTHEST)
        self._ways: dict[str, tuple[Match, str, int] | None] = {}
        # Modules inside a changed package are below its directory, or below one of its own name.
        self._below = tuple({below for path in named for below in _below(path)})

    def best(self, path: str) -> AffectedTest | None:
        """The best match of a test."""
        test = RepoPath(path)
        if test in self._named:
            return AffectedTest(test, Match.EXACT, self._named[test], 0)
        ways = [way for target in self._links.imports.get(test, ()) if (way := self._way(target))]
        for other in map(RepoPath, self._links.around.get(test, frozenset()) & self._named.keys()):
            match = Match.EXACT if _names_something_of(self._snapshot, test, other) else Match.PARENT
            ways.append((match, self._named[other], 1))
        found = [AffectedTest(test, *way) for way in ways]
        return min(found, key=_rank) if found else None

    def _way(self, target: str) -> tuple[Match, str, int] | None:
        if target not in self._ways:
            self._ways[target] = self._found(RepoPath(target))
        return self._ways[target]

    def _found(self, target: RepoPath) -> tuple[Match, str, int] | None:
        if target in self._named:
            return Match.EXACT, self._named[target], 1
        passes_on = not self._links.imports.get(target, frozenset()).isdisjoint(self._named)
        is_below = target.startswith(self._below)
        distance = self.reach.distances.get(target)
        if not (passes_on or is_below or distance is not None):
            return None
        module = _module(self._snapshot, target)
        if passed_on := _passed_on(self._links, target, module, self._named):
            return Match.PARENT, passed_on, 1
        if above := [one for one in _above(module) if one in self._changed]:
            return Match.CHILD, above[0], 1
        return None if distance is None else (Match.CHAIN, module, distance + 1)


def _below(path: str) -> tuple[str, str]:
    directory, _, name = path.rpartition("/")
    inside = f"{directory}/" if directory else ""
    return inside, f"{inside}{name.partition('.')[0]}/"


def _passed_on(links: Links, package: str, module: str, named: dict[RepoPath, str]) -> str:
    """The changed module that a package around it imports itself; "" where it imports none."""
    inside = [named[RepoPath(path)] for path in links.imports.get(package, frozenset()) & named.keys()]
    return min((one for one in inside if module and one.startswith(f"{module}.")), default="")


def _names_something_of(snapshot: Snapshot, test: RepoPath, path: RepoPath) -> bool:
    """Whether a file has the name of something that another defines outside of its functions and classes."""
    sources = snapshot.linker.sources
    facts = sources.facts(path)
    items = [item.name for item in facts.definitions if item.parent < 0] if facts is not None else []
    return any(sources.occurrences(test, name) for name in dict.fromkeys(items[:_MOST_NAMES]))


def _above(module: str) -> list[str]:
    """The packages around a module, inner ones first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _module(snapshot: Snapshot, path: RepoPath) -> str:
    """The name that imports know a file by, with dots between its parts; "" where there is none."""
    facts = snapshot.linker.sources.facts(path)
    if facts is None or rules(facts.language) is None:
        return ""
    return snapshot.identities.module(path).replace("::", ".").translate(_BETWEEN)


def _reasons(snapshot: Snapshot, reach: Reach) -> Iterator[str]:
    coverage = snapshot.coverage
    if coverage.unread:
        yield f"{coverage.unread} files are not read yet"
    tests = snapshot.linker.sources.tests()
    dynamic = [path for path in snapshot.linker.sources.importing_by_text() if path in tests]
    if dynamic:
        yield f"{len(dynamic)} test files import by names made at run time"
    if not reach.is_whole:
        yield f"chains of more than {_FURTHEST} imports are not followed"
    if reach.hubs:
        more = f" and {len(reach.hubs) - 1} more" if len(reach.hubs) > 1 else ""
        yield f"tests that only {shown(reach.hubs[0])}{more} lead to are not listed: many tests import that"
