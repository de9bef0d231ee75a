"""Which files import which, over the whole view: links from file to file, and the way back."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from codeplane.core.places import Place
from codeplane.core.slots import CarriedSlot
from codeplane.graph.incremental_links import Doubtful, doubtful_after, relinked
from codeplane.graph.same_package import around, leading_without_import
from codeplane.languages.modules import module_rules
from codeplane.names import Change, Snapshot
from codeplane.names.meaning import known

_LINKS: Final = CarriedSlot["Links"]("imports of files")
# A file that so many tests import leads from nearly everything to nearly all of them, and tells nothing.
_FEW_TESTS: Final = 20
_SHARE: Final = 0.1
# Files that are looked at for uses without an import.
_MOST_ASKED: Final = 300


class Links(NamedTuple):
    """Links of one view."""

    imports: Mapping[str, frozenset[str]]  # file → the files that its imports lead to
    importers: Mapping[str, list[str]]  # the way back, in order
    hubs: frozenset[str]  # files outside of tests that a good part of the tests imports
    around: Mapping[str, frozenset[str]]  # test → the files that it sees by being in the same package


class Reach(NamedTuple):
    """The files from which imports lead to some files, each with its distance; hubs that were not passed."""

    distances: Mapping[str, int]
    hubs: Sequence[str]
    is_whole: bool  # nothing is further away


def links_of(snapshot: Snapshot) -> Links:
    """The links of the view; after a change, those of the files that it may concern are found anew."""

    def renewed(links: Links, changes: Sequence[Change]) -> Links | None:
        doubtful = doubtful_after(snapshot, changes)
        return _renewed(snapshot, links, doubtful) if doubtful is not None else None

    return snapshot.carried(_LINKS, lambda: _found(snapshot), renewed)


def _found(snapshot: Snapshot) -> Links:
    paths = snapshot.layout.ordered
    tests = snapshot.tests()
    imports: dict[str, frozenset[str]] = {
        path: neighbours for path in paths if (neighbours := _imported(snapshot, path))
    }
    importers: dict[str, list[str]] = {}
    for path, targets in imports.items():
        for target in targets:
            importers.setdefault(target, []).append(path)
    around_tests: dict[str, frozenset[str]] = {
        path: neighbours for path in sorted(tests) if (neighbours := around(snapshot, path))
    }
    return Links(imports, importers, _hubs(importers, tests), around_tests)


def _renewed(snapshot: Snapshot, old: Links, doubtful: Doubtful) -> Links:
    tests = snapshot.tests()
    new = {path: _imported(snapshot, path) for path in doubtful.again}
    new |= dict.fromkeys(doubtful.removals, frozenset())
    around_tests = {path: around(snapshot, path) for path in sorted(new.keys() & tests)}
    if _is_as_before(old.imports, new) and _is_as_before(old.around, around_tests) and not doubtful.removals:
        return old
    imports, importers = relinked(old.imports, old.importers, new)
    still = {path: targets for path, targets in old.around.items() if path not in new}
    still |= {path: targets for path, targets in around_tests.items() if targets}
    return Links(imports, importers, _hubs(importers, tests), still)


def _is_as_before(old: Mapping[str, frozenset[str]], new: Mapping[str, frozenset[str]]) -> bool:
    return all(old.get(path, frozenset()) == result for path, result in new.items())


def _hubs(importers: Mapping[str, Sequence[str]], tests: Collection[str]) -> frozenset[str]:
    most = many(len(tests))
    return frozenset(
        path
        for path, sources in importers.items()
        if len(sources) > most and path not in tests and sum(one in tests for one in sources) > most
    )


def many(tests: int) -> int:
    """How many of so many tests are too many to tell anything."""
    return max(_FEW_TESTS, int(_SHARE * tests))


def _imported(snapshot: Snapshot, path: str) -> frozenset[str]:
    facts = snapshot.facts(path)
    rules = module_rules(facts.language) if facts is not None else None
    if facts is None or rules is None:
        return frozenset()
    places: list[Place] = []
    for at, item in enumerate(facts.imports):
        certain = list(known(snapshot.imported(path, at)))
        if not item.name:  # `import a.b` binds `a`, and brings `a.b`
            certain += rules.places(snapshot.rule_sources, path, item._replace(alias=""))
        if not certain and hasattr(rules, "candidates"):
            certain += rules.candidates(snapshot.rule_sources, path, item)
        places += certain
    return frozenset(place.path for place in places) - {path}


def reach_of(snapshot: Snapshot, links: Links, changed: Collection[str], furthest: int) -> Reach:
    """Goes from files to those that import or use them, level by level; what hubs lead to is left out."""
    distances = dict.fromkeys(changed, 0)
    level = sorted(changed)
    left_out: set[str] = set()
    queries = 0
    for distance in range(1, furthest + 1):
        following = {one for path in level for one in links.importers.get(path, ())}
        for path in level[: max(0, _MOST_ASKED - queries)]:
            following |= leading_without_import(snapshot, path)
        queries += len(level)
        following -= distances.keys()
        left_out |= following & links.hubs
        level = sorted(following - links.hubs)
        distances |= dict.fromkeys(level, distance)
    # Those furthest away only tell that there are some; a test among them is the end of its chain.
    is_whole = not any(path in links.importers for path in level) and queries <= _MOST_ASKED
    return Reach({p: d for p, d in distances.items() if d < furthest}, sorted(left_out), is_whole)
