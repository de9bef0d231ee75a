"""Which tests lead to files: by what they import, and by what they get without an import."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.graph.import_links import Links, links_of, reach_of
from codeplane.graph.same_package import outer_names
from codeplane.graph.tests.by_fixture import Touched, asked_in, is_in, shared_files, touched
from codeplane.jail import shown
from codeplane.languages.modules import module_rules
from codeplane.names import Snapshot

_BETWEEN: Final = str.maketrans({"/": ".", ":": ".", "\\": "."})
FURTHEST: Final = 5  # imports from a test to a changed file


class Match(StrEnum):
    """How a test leads to a changed file. The order is that of the evidence."""

    EXACT = "exact"
    """It imports the file or something defined in it, through whatever re-exports, or names something of it
    in the same package."""
    PARENT = "parent"
    """It imports a package around the file that imports the file itself, or is in the same package."""
    CHILD = "child"
    """It imports a module inside the changed package."""
    RUN = "run"
    """It has run what has changed in an earlier run."""
    FIXTURE = "fixture"
    """It gets something without an import from a file that has changed or imports what has."""
    DATA = "data"
    """It names the file, or leads to code that does."""
    CHAIN = "chain"
    """It imports a file whose imports lead there."""


class AffectedTest(NamedTuple):
    path: RepoPath
    match: Match
    module: str  # the changed module that it leads to, or the file that a chain begins with
    distance: int = 1  # imports on the way; 0 for a test that has changed itself
    reaches: bool = False  # proven references lead to a definition that has changed
    names: tuple[str, ...] = ()  # the tests of the file that are concerned; none where all may be

    @property
    def confidence(self) -> Literal["high", "low"]:
        return "high" if self.reaches or self.match in (Match.EXACT, Match.RUN) else "low"

    @property
    def told(self) -> str:
        """`confidence match path`; of a chain with its length, and what is known of its tests."""
        length = f":{self.distance}" if self.match is Match.CHAIN else ""
        which = f" {len(self.names)} tests" if self.names else ""
        return f"{self.confidence} {self.match}{length} {shown(self.path)}{which}{' reaches' * self.reaches}"


_MATCHES: Final = tuple(Match)
_ORDER: Final = {match: number for number, match in enumerate(Match)}

# How a test leads to a changed file, so that the least is the best: number of the match, imports, module.
_Way = tuple[int, int, str]


def rank(one: AffectedTest) -> tuple[bool, int, int, str, str]:
    """Sure ones first."""
    return not one.reaches, _ORDER[one.match], one.distance, one.path, one.module


def best_of(candidates: Sequence[AffectedTest]) -> list[AffectedTest]:
    """The best match of each test, in order."""
    best: dict[RepoPath, AffectedTest] = {}
    for one in sorted(candidates, key=rank):
        best.setdefault(one.path, one)
    return sorted(best.values(), key=rank)


class Search:
    """What imports of changed files look like; what each imported file leads to is found once."""

    def __init__(self, snapshot: Snapshot, module_names: dict[RepoPath, str]) -> None:
        self._snapshot, self._named = snapshot, module_names
        self._modules = set(module_names.values())
        self._links = links_of(snapshot)
        self.reach = reach_of(snapshot, self._links, module_names, FURTHEST)
        self._ways = _Ways(self._found)
        # Modules inside a changed package are below its directory, or below one of its own name.
        self._below = tuple({below for path in module_names for below in _below(path)})

    def all(self) -> list[AffectedTest]:
        """The best match of every test that has one."""
        tests = sorted(self._snapshot.tests())
        return [one for path in tests if (one := self.best(path)) is not None]

    def best(self, path: str) -> AffectedTest | None:
        """The best match of a test."""
        test = RepoPath(path)
        if test in self._named:
            return AffectedTest(test, Match.EXACT, self._named[test], 0)
        # Every import of every test comes by here: the loop is C's.
        ways = list(filter(None, map(self._ways.__getitem__, self._links.imports.get(test, ()))))
        ways += self._without_import(test)
        if self._touched:
            ways += [(_ORDER[Match.FIXTURE], at, module) for module, at in self._given(test)]
        if not ways:
            return None
        match, distance, module = min(ways)
        return AffectedTest(test, _MATCHES[match], module, distance)

    def _without_import(self, test: RepoPath) -> list[_Way]:
        """Ways of a test that names things of its package, or of modules by their paths."""
        distances = self.reach.distances
        around = self._links.around.get(test)
        ways = list(self._ways_around(test, around & distances.keys())) if around else []
        if test in distances and not self._links.imports.get(test, frozenset()) & distances.keys():
            match = Match.EXACT if distances[test] == 1 else Match.CHAIN
            ways.append((_ORDER[match], distances[test], module_of(self._snapshot, test)))
        return ways

    def _ways_around(self, test: RepoPath, around: Iterable[str]) -> Iterator[_Way]:
        tests = self._snapshot.tests()
        for other in map(RepoPath, around):
            is_named = _names_something_of(self._snapshot, test, other)
            if other in self._named:
                yield _ORDER[Match.EXACT if is_named else Match.PARENT], 1, self._named[other]
            elif is_named or other not in tests:
                distance = self.reach.distances[other] + 1
                yield _ORDER[Match.CHAIN], distance, module_of(self._snapshot, other)

    def _given(self, test: RepoPath) -> Iterator[tuple[str, int]]:
        """The shared files that give a test something that leads to a changed file."""
        for one in self._touched:
            if not is_in(test, one.shared.below):
                continue
            is_changed = one.shared.path in self._named
            if is_changed or one.is_for_all or asked_in(self._snapshot, test) & one.names:
                yield shown(one.shared.path), one.distance + 1

    @cached_property
    def _touched(self) -> list[Touched]:
        return list(touched(self._snapshot, shared_files(self._snapshot), self.reach.distances))

    def _found(self, target: RepoPath) -> _Way | None:
        if target in self._named:
            return _ORDER[Match.EXACT], 1, self._named[target]
        passes_on = not self._links.imports.get(target, frozenset()).isdisjoint(self._named)
        is_below = target.startswith(self._below)
        distance = self.reach.distances.get(target)
        if not (passes_on or is_below or distance is not None):
            return None
        module = module_of(self._snapshot, target)
        if passed_on := _passed_on(self._links, target, module, self._named):
            return _ORDER[Match.PARENT], 1, passed_on
        if above := [one for one in _above(module) if one in self._modules]:
            return _ORDER[Match.CHILD], 1, above[0]
        return None if distance is None else (_ORDER[Match.CHAIN], distance + 1, module)


class _Ways(dict[str, _Way | None]):
    """What imported files lead to, each found when it is first asked for."""

    def __init__(self, find: Callable[[RepoPath], _Way | None]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, target: str) -> _Way | None:
        result = self[target] = self._find(RepoPath(target))
        return result


def _below(path: str) -> tuple[str, str]:
    directory, _, name = path.rpartition("/")
    inside = f"{directory}/" if directory else ""
    return inside, f"{inside}{name.partition('.')[0]}/"


def _passed_on(links: Links, package: str, module: str, module_names: dict[RepoPath, str]) -> str:
    """The changed module that a package around it imports itself; "" where it imports none."""
    inside = [
        module_names[RepoPath(path)] for path in links.imports.get(package, frozenset()) & module_names.keys()
    ]
    return min((one for one in inside if module and one.startswith(f"{module}.")), default="")


def _names_something_of(snapshot: Snapshot, test: RepoPath, path: RepoPath) -> bool:
    """Whether a file has the name of something that another defines outside of its functions and classes."""
    return any(snapshot.occurrences(test, name) for name in outer_names(snapshot.facts(path)))


def _above(module: str) -> list[str]:
    """The packages around a module, inner ones first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def module_of(snapshot: Snapshot, path: RepoPath) -> str:
    """The name that imports know a file by, with dots between its parts; "" where there is none."""
    facts = snapshot.facts(path)
    if facts is None or module_rules(facts.language) is None:
        return ""
    return snapshot.module_name(path).replace("::", ".").translate(_BETWEEN)
