"""Which files import which, over the whole view: links from file to file, and the way back."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from codeplane.index import Snapshot
from codeplane.index.targets import known
from codeplane.languages.modules import Place, rules

_LINKS: Final = ("imports of files",)
# A file that so many tests import leads from nearly everything to nearly all of them, and tells nothing.
_FEW_TESTS: Final = 20
_SHARE: Final = 0.1


class Links(NamedTuple):
    """Links of one view."""

    imports: Mapping[str, frozenset[str]]  # file → the files that its imports lead to
    importers: Mapping[str, Sequence[str]]  # the way back, in order
    hubs: frozenset[str]  # files outside of tests that a good part of the tests imports
    around: Mapping[str, frozenset[str]]  # test → the files that it sees by being in the same package


class Reach(NamedTuple):
    """The files from which imports lead to some files, each with its distance; hubs that were not passed."""

    distances: Mapping[str, int]
    hubs: Sequence[str]
    is_whole: bool  # nothing is further away


def links_of(snapshot: Snapshot) -> Links:
    """The links of the view, found once as long as no file shows others anything new."""
    answers = snapshot.linker.sources.memo.answers
    kept: Links | None = answers.get(_LINKS)
    if kept is None:
        kept = answers[_LINKS] = _found(snapshot)
    return kept


def _found(snapshot: Snapshot) -> Links:
    paths = snapshot.linker.sources.memo.layout.ordered
    imports = {path: found for path in paths if (found := _imported(snapshot, path))}
    importers: dict[str, list[str]] = {}
    for path, targets in imports.items():
        for target in targets:
            importers.setdefault(target, []).append(path)
    tests = snapshot.linker.sources.tests()
    most = many(len(tests))
    hubs = {path for path, found in importers.items() if sum(one in tests for one in found) > most}
    around = {path: found for path in sorted(tests) if (found := _around(snapshot, path))}
    return Links(imports, importers, frozenset(hubs - tests), around)


def many(tests: int) -> int:
    """How many of so many tests are too many to tell anything."""
    return max(_FEW_TESTS, int(_SHARE * tests))


def _imported(snapshot: Snapshot, path: str) -> frozenset[str]:
    facts = snapshot.linker.sources.facts(path)
    found = rules(facts.language) if facts is not None else None
    if facts is None or found is None:
        return frozenset()
    places = [one for at in range(len(facts.imports)) for one in known(snapshot.linker.imported(path, at))]
    for item in facts.imports:
        if not item.name:  # `import a.b` binds `a`, and brings `a.b`
            places += found.places(snapshot.linker.sources, path, item._replace(alias=""))
    return frozenset(place.path for place in places) - {path}


def reach_of(links: Links, changed: Collection[str], furthest: int) -> Reach:
    """Goes from files to those that import them, level by level; what hubs lead to is left out."""
    distances = dict.fromkeys(changed, 0)
    level = sorted(changed)
    left_out: set[str] = set()
    for distance in range(1, furthest + 1):
        following = {one for path in level for one in links.importers.get(path, ())} - distances.keys()
        left_out |= following & links.hubs
        level = sorted(following - links.hubs)
        distances |= dict.fromkeys(level, distance)
    # Those furthest away only tell that there are some; a test among them is the end of its chain.
    is_whole = not any(path in links.importers for path in level)
    return Reach({p: d for p, d in distances.items() if d < furthest}, sorted(left_out), is_whole)


def _around(snapshot: Snapshot, path: str) -> frozenset[str]:
    facts = snapshot.linker.sources.facts(path)
    found = rules(facts.language) if facts is not None else None
    groups = found.ambient(snapshot.linker.sources, Place(path)) if found is not None else ()
    return frozenset(place.path for group in groups[:1] for place in group) - {path}
