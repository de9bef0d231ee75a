"""Which tests a change may concern, each match with the evidence for it."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.graph.hierarchy import is_class
from codeplane.graph.import_links import Reach, links_of, many
from codeplane.graph.tests.by_coverage import Learnt, judged
from codeplane.graph.tests.by_filename import naming
from codeplane.graph.tests.by_import import FURTHEST, AffectedTest, Match, Search, best_of, module_of, rank
from codeplane.graph.tests.by_reference import MOST_FILES, reaching, test_name
from codeplane.index import Purpose
from codeplane.jail import shown
from codeplane.languages.facts import FLAG_TEST
from codeplane.names import Snapshot

__all__ = ["AffectedTest", "Definitions", "Impact", "Known", "Match", "affected_tests", "refined"]

Definitions = Mapping[RepoPath, Collection[int]]
"""Files → the numbers of definitions in them."""

_MOST_NAMED: Final = 20  # files without a module name that are looked for by their names
_FEW: Final = 10  # tests that are run as they are
_MOST_DEFINITIONS: Final = 12  # that are followed one by one
_MOST_NEAR: Final = 20  # tests of one definition; the nearest come first
_MOST_LOOKED_AT: Final = 2_000  # files, for the references of one definition
_WORTH: Final = 3  # a third of the tests has to be left out
_FAR: Final = 1_000
_NO_DEFINITIONS: Final[Definitions] = MappingProxyType({})


class Known(NamedTuple):
    """What is known about a change beside its files."""

    definitions: Definitions = _NO_DEFINITIONS  # those that have changed, by their numbers in the view
    coverage: Learnt | None = None
    most_files: int = MOST_FILES  # that are looked at for references
    is_confined: bool = False  # nothing but these definitions and imports has changed
    new_definitions: Definitions = _NO_DEFINITIONS  # those among them that are new
    import_changes: Collection[RepoPath] = ()  # files whose imports have changed


_NOTHING: Final = Known()


@dataclass(frozen=True)
class Impact:
    """The tests that a change may concern, sure ones first. `partial` names what could not be followed."""

    tests: Sequence[AffectedTest]
    nameless_files: Sequence[RepoPath]  # changed files that can't be imported and no code names
    reasons: Sequence[str]
    skip_count: int = 0  # tests that would be among them, and are known to run nothing of it

    @property
    def confidence(self) -> Literal["complete", "partial"]:
        return "partial" if self.nameless_files or self.reasons else "complete"

    @property
    def told(self) -> str:
        """`complete`, or `partial` with the reasons."""
        nameless = len(self.nameless_files)
        why = [*self.reasons, *([f"{nameless} files that can't be imported"] if nameless else [])]
        said = f"{self.confidence}{': ' if why else ''}{'; '.join(why)}"
        left_out = f"{self.skip_count} tests are left out: earlier runs show that they don't execute it"
        return f"{said}{'; ' if why else ': '}{left_out}" if self.skip_count else said


def affected_tests(snapshot: Snapshot, changed: Collection[RepoPath], knowledge: Known = _NOTHING) -> Impact:
    """The test files that changed files concern. A test that was changed is one of them."""
    if not changed:
        return Impact((), (), ())
    modules = {path: module_of(snapshot, path) for path in sorted(set(changed))}
    module_names = {path: module for path, module in modules.items() if module}
    search = Search(snapshot, module_names)
    matches = search.all()
    nameless = [path for path in modules if path not in module_names]
    reasons = list(_reasons(snapshot, search.reach))
    paths = nameless[_MOST_NAMED:]
    for path in nameless[:_MOST_NAMED]:
        users, is_whole = naming(snapshot, path)
        matches += _by_name(snapshot, path, users)
        if not is_whole:
            reasons.append(f"not all code that may name {shown(path)} was checked")
        if not users:
            paths.append(path)
    tests, left_out = _without_crowds(best_of(matches), many(len(snapshot.tests())))
    return refined(snapshot, Impact(tests, paths, [*reasons, *left_out]), changed, knowledge)


def refined(snapshot: Snapshot, impact: Impact, changed: Collection[RepoPath], knowledge: Known) -> Impact:
    """An impact with what else is known: which tests reach what has changed, have run it, or have not."""
    if knowledge.definitions:
        impact = _mark_impact(snapshot, impact, knowledge)
    if knowledge.is_confined and knowledge.definitions:
        impact = by_definition(snapshot, impact, knowledge)
    if knowledge.coverage is not None and knowledge.coverage.tests:
        impact = _narrowed(snapshot, impact, changed, knowledge)
    return impact


def _mark_impact(snapshot: Snapshot, impact: Impact, knowledge: Known) -> Impact:
    reach = reaching(snapshot, knowledge.definitions, knowledge.most_files)
    tests = [one._replace(reaches=True) if one.path in reach.tests else one for one in impact.tests]
    module = module_of(snapshot, min(knowledge.definitions))
    paths = {one.path for one in tests}
    # References may lead where imports were too many to be listed.
    more = [AffectedTest(path, Match.CHAIN, module, 2, True) for path in reach.tests if path not in paths]
    return replace(impact, tests=sorted([*tests, *more], key=rank))


def by_definition(snapshot: Snapshot, impact: Impact, knowledge: Known) -> Impact:
    """Of many tests that lead to changed files, those that reach the changed definitions, near ones first.

    The others are counted, and the answer is partial: a name that is made at run time leads anywhere. They
    stay where no test is known to reach one of the definitions.
    """
    if snapshot.coverage.unread:
        return impact  # who refers to a definition is not known yet
    if len(impact.tests) <= _FEW or sum(map(len, knowledge.definitions.values())) > _MOST_DEFINITIONS:
        return impact
    near = _near(snapshot, impact, knowledge)
    if near is None:
        return impact
    tests = [one for one in impact.tests if not one.distance or one.match is Match.DATA or one.path in near]
    tests += _find_witnesses(snapshot, impact, knowledge, {one.path for one in tests})
    left_out = len(impact.tests) - len(tests)
    if left_out * _WORTH < len(impact.tests):
        return impact
    reason = f"{left_out} test files that import it, or reach it indirectly, are not listed"
    tests.sort(key=lambda one: (bool(one.distance), near.get(one.path, _FAR), rank(one)))
    return replace(impact, tests=tests, reasons=[reason, *_blind(snapshot)])


def _near(snapshot: Snapshot, impact: Impact, knowledge: Known) -> dict[RepoPath, int] | None:
    """The tests that reach each of the definitions, or name it, by the references between; None where one is
    reached by none."""
    tests = snapshot.tests()
    direct = [one.path for one in impact.tests if one.match is Match.EXACT]
    near: dict[RepoPath, int] = {}
    for path, numbers in knowledge.definitions.items():
        for at in numbers if path not in tests else ():
            # Who calls a method need not be known to: it has the instance from somebody who names the class.
            start = [place.definition for place in _outwards(snapshot, Place(path, at))]
            counts = reaching(snapshot, {path: start}, _MOST_LOOKED_AT, _MOST_NEAR).distances
            name = snapshot.definition(Place(path, at)).name
            matches = {test: 1 for test in direct if snapshot.occurrences(test, name)}
            matches |= counts
            if not matches and at not in knowledge.new_definitions.get(path, ()):
                return None
            near |= {test: min(step, near.get(test, step)) for test, step in _nearest(matches)}
    return near


def _outwards(snapshot: Snapshot, place: Place) -> Iterator[Place]:
    """A definition and those around it."""
    while place.definition >= 0:
        yield place
        place = Place(place.path, snapshot.definition(place).item.parent)


def _nearest(distances: Mapping[RepoPath, int]) -> Iterator[tuple[RepoPath, int]]:
    """Whole steps, as many as stay below the bound; the first in any case."""
    counts = Counter(distances.values())
    count = 0
    for step in sorted(counts):
        if count and count + counts[step] > _MOST_NEAR:
            return
        count += counts[step]
        yield from ((test, step) for test, one in distances.items() if one == step)


def _find_witnesses(
    snapshot: Snapshot, impact: Impact, knowledge: Known, paths: Collection[RepoPath]
) -> list[AffectedTest]:
    """A test for each file with changed imports that none of the chosen ones imports: it may not load."""
    importers = links_of(snapshot).importers
    test_by_path: dict[RepoPath, AffectedTest] = {}
    for path in knowledge.import_changes:
        around = set(importers.get(path, ()))
        if not (around & {*paths, *test_by_path}):
            first = next((one for one in impact.tests if one.path in around), None)
            test_by_path |= {first.path: first} if first is not None else {}
    return list(test_by_path.values())


def _narrowed(snapshot: Snapshot, impact: Impact, changed: Collection[RepoPath], knowledge: Known) -> Impact:
    assert knowledge.coverage is not None, "BUG: nothing was learnt"
    verdict = judged(snapshot, knowledge.coverage, changed)
    loose = {path: module for path in sorted(verdict.loose) if (module := module_of(snapshot, path))}
    meeting = {one.path for one in Search(snapshot, loose).all()} if loose else set()
    tests: list[AffectedTest] = []
    skip_count = 0
    for one in impact.tests:
        clean = verdict.clean.get(one.path, frozenset())
        if not clean or one.match is Match.DATA or not one.distance or one.path in meeting:
            tests.append(one)
            continue
        run_names = knowledge.coverage.names_in(one.path)
        is_whole = one.path in knowledge.coverage.whole and one.path not in verdict.stale_files
        left = (run_names if is_whole else _defined(snapshot, one.path) | run_names) - clean
        if not left:
            skip_count += len(clean)
        elif one.path not in verdict.stale_files and left <= run_names:
            skip_count += len(clean)
            tests.append(one._replace(names=tuple(sorted(left))))
        else:  # which tests there are is not known for sure
            tests.append(one)
    paths = {one.path for one in impact.tests}
    there = snapshot.layout.blobs
    for path, names in verdict.run.items():
        if path not in paths and path in there:
            tests.append(AffectedTest(path, Match.RUN, "", 1, names=tuple(sorted(names))))
    return replace(impact, tests=sorted(tests, key=rank), skip_count=skip_count)


def _defined(snapshot: Snapshot, path: RepoPath) -> frozenset[str]:
    """The tests that a file defines, as they are known by."""
    facts = snapshot.facts(path)
    items = facts.definitions.having(FLAG_TEST) if facts is not None else ()
    places = [Place(path, at) for at in items if not is_class(snapshot, Place(path, at))]
    return frozenset(test_name(snapshot, place) for place in places)


def _by_name(snapshot: Snapshot, path: RepoPath, users: Sequence[RepoPath]) -> list[AffectedTest]:
    """The tests that name a file, and those that lead to code that does."""
    tests = snapshot.tests()
    matches = [AffectedTest(one, Match.DATA, shown(path)) for one in users if one in tests]
    code = {one: module for one in users if one not in tests and (module := module_of(snapshot, one))}
    if code:
        leading = Search(snapshot, code).all()
        matches += [AffectedTest(one.path, Match.DATA, shown(path), one.distance + 1) for one in leading]
    return matches


def _without_crowds(candidates: Sequence[AffectedTest], most: int) -> tuple[list[AffectedTest], list[str]]:
    """Weak matches that a good part of all tests has are counted and not listed, far ones first."""
    weak = (Match.CHILD, Match.CHAIN)
    counts = Counter((one.match, one.distance) for one in candidates if one.match in weak)
    crowds: set[tuple[Match, int]] = set()
    reasons = []
    if (children := counts.pop((Match.CHILD, 1), 0)) > most:
        crowds.add((Match.CHILD, 1))
        reasons.append(f"{children} tests that import modules inside a changed package are not listed")
    total = 0
    for sort in sorted(counts):
        total += counts[sort]
        if total > most:
            crowds.add(sort)
    if far := {sort[1]: count for sort, count in sorted(counts.items()) if sort in crowds}:
        reasons.append(f"{sum(far.values())} tests that are {min(far)} or more imports away are not listed")
    return [one for one in candidates if (one.match, one.distance) not in crowds], reasons


def _blind(snapshot: Snapshot) -> Iterator[str]:
    """What neither imports nor references tell."""
    coverage = snapshot.coverage
    if coverage.unread:
        yield f"{coverage.unread} files are not indexed yet"
    tests = snapshot.tests()
    dynamic = [path for path in snapshot.dynamics.importing() if path in tests]
    if dynamic:
        yield f"{len(dynamic)} test files import by names computed at run time"
    imports, purpose = links_of(snapshot).imports, snapshot.purposes.by_place
    targets = set().union(*(imports.get(path, ()) for path in tests))
    paths = {path for path in targets if purpose(path) is Purpose.BUILT}
    if count := sum(not paths.isdisjoint(imports.get(path, ())) for path in tests if paths):
        yield f"{count} test files import build output, whose source is unknown"


def _reasons(snapshot: Snapshot, reach: Reach) -> Iterator[str]:
    yield from _blind(snapshot)
    if not reach.is_whole:
        yield f"chains of more than {FURTHEST} imports are not followed"
    if reach.hubs:
        more = f" and {len(reach.hubs) - 1} more" if len(reach.hubs) > 1 else ""
        yield f"tests that only reach it through {shown(reach.hubs[0])}{more} are not listed"
