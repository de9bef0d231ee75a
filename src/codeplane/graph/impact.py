"""Which tests a change may concern: by what they import, each match with the evidence for it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.index import Snapshot
from codeplane.index.targets import known
from codeplane.languages.modules import rules

_BETWEEN: Final = str.maketrans({"/": ".", ":": ".", "\\": "."})


class Match(StrEnum):
    """How an import of a test leads to a changed file."""

    EXACT = "exact"
    """It brings the file itself, or something that is defined in it, through whatever re-exports."""
    PARENT = "parent"
    """It brings a package that the file is in."""
    CHILD = "child"
    """It brings a module inside the changed package."""


class AffectedTest(NamedTuple):
    path: RepoPath
    match: Match
    module: str  # the changed module that it leads to

    @property
    def confidence(self) -> Literal["high", "low"]:
        return "high" if self.match is Match.EXACT else "low"


@dataclass(frozen=True)
class Impact:
    """The tests that import what has changed, sure ones first. `partial` names what could not be followed."""

    tests: Sequence[AffectedTest]
    unresolved: Sequence[RepoPath]  # changed files that no import can name
    reasons: Sequence[str]

    @property
    def confidence(self) -> Literal["complete", "partial"]:
        return "partial" if self.unresolved or self.reasons else "complete"


def affected_tests(snapshot: Snapshot, changed: Collection[RepoPath]) -> Impact:
    """The test files whose imports lead to changed files. A test that was changed is one of them."""
    modules = {path: _module(snapshot, path) for path in sorted(set(changed))}
    named = {path: module for path, module in modules.items() if module}
    if not changed:
        return Impact((), (), ())
    best: dict[RepoPath, AffectedTest] = {}
    order = list(Match)
    for one in _matches(snapshot, named):
        kept = best.get(one.path)
        if kept is None or order.index(one.match) < order.index(kept.match):
            best[one.path] = one
    tests = sorted(best.values(), key=lambda one: (order.index(one.match), one.path))
    return Impact(tests, [path for path in modules if path not in named], list(_reasons(snapshot)))


def _matches(snapshot: Snapshot, named: dict[RepoPath, str]) -> Iterator[AffectedTest]:
    changed = set(named.values())
    packages = {above: module for module in changed for above in _above(module)}
    for test in sorted(snapshot.linker.sources.tests()):
        path = RepoPath(test)
        if path in named:
            yield AffectedTest(path, Match.EXACT, named[path])
        for target in _imported(snapshot, path):
            other = RepoPath(target)
            module = _module(snapshot, other)
            if other in named:
                yield AffectedTest(path, Match.EXACT, named[other])
            elif module in packages:
                yield AffectedTest(path, Match.PARENT, packages[module])
            elif around := [above for above in _above(module) if above in changed]:
                yield AffectedTest(path, Match.CHILD, around[0])


def _above(module: str) -> list[str]:
    """The packages around a module, inner ones first."""
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _imported(snapshot: Snapshot, path: RepoPath) -> frozenset[str]:
    """The files that the imports of a file lead to."""
    memo = snapshot.linker.sources.memo
    key = ("imported files", path, memo.layout.blobs[path])
    kept: frozenset[str] | None = memo.answers.get(key)
    if kept is None:
        facts = snapshot.linker.sources.facts(path)
        targets = [snapshot.linker.imported(path, at) for at in range(len(facts.imports))] if facts else []
        kept = frozenset(place.path for target in targets for place in known(target))
        memo.answers[key] = kept
    return kept


def _module(snapshot: Snapshot, path: RepoPath) -> str:
    """The name that imports know a file by, with dots between its parts; "" where there is none."""
    facts = snapshot.linker.sources.facts(path)
    if facts is None or rules(facts.language) is None:
        return ""
    return snapshot.identities.module(path).replace("::", ".").translate(_BETWEEN)


def _reasons(snapshot: Snapshot) -> Iterator[str]:
    coverage = snapshot.coverage
    if coverage.unread:
        yield f"{coverage.unread} files are not read yet"
    tests = snapshot.linker.sources.tests()
    dynamic = [path for path in snapshot.linker.sources.importing_by_text() if path in tests]
    if dynamic:
        yield f"{len(dynamic)} test files import by names made at run time"
