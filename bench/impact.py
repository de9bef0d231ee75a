"""Mutants of real packages: whether the tests that are chosen after a change hold one that fails by it.

Chosen by links alone, whole files; with what one run under coverage has shown, single test functions; and by
pytest-testmon, single test functions, on the same mutants. Fractions are of test functions: a test with
parameters is one.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.measure import Figure
from bench.mutants import Killed, Suite, functions_of, killed_mutants, python_for_suites
from codeplane.config import Places
from codeplane.core.paths import RepoPath
from codeplane.graph.diff.repository import State, changed_definitions, structural_diff
from codeplane.graph.tests.by_coverage import Learnt
from codeplane.graph.tests.impact import Impact, Known, affected_tests
from codeplane.names import Snapshot
from codeplane.names.snapshot_tree import SnapshotTree
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from codeplane.session import Checkout, RepoSession
from codeplane.testrun.discover import discover
from codeplane.testrun.run import Options, Watch, Where, run
from codeplane.testrun.runners._lines import LEARNT

SUITES = (
    Suite("boltons", "26.2.0", "boltons", flaky=("tests/test_socketutils.py::test_socketutils_netstring",)),
    Suite("cachetools", "8.0.0", "src/cachetools"),
    Suite("sqlparse", "0.5.3", "sqlparse"),
)
_LEAST = 95.0
_MOST = 25.0


@dataclass
class Tally:
    """What came of one way to choose."""

    shares: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def add(self, killed: Killed, chosen: Collection[str], every: Collection[str]) -> None:
        self.shares.append(len(set(chosen) & set(every)) / len(every))
        if not any(_is_among(test, chosen) for test in functions_of(killed.tests)):
            self.missed.append(killed.mutant.told)

    @property
    def found(self) -> float:
        return 100 * (1 - len(self.missed) / len(self.shares))

    @property
    def share(self) -> float:
        return 100 * sum(self.shares) / len(self.shares)


def _is_among(test: str, chosen: Collection[str]) -> bool:
    """A file that cannot even be collected fails by any of its tests."""
    return test in chosen or any(one.startswith(f"{test}::") for one in chosen)


def figures() -> Iterator[Figure]:
    shares: dict[str, list[float]] = {"learnt": [], "testmon": []}
    for suite in SUITES:
        with tempfile.TemporaryDirectory(prefix="cpl-") as made:
            base = Path(made)
            tests, killed = killed_mutants(suite, base)
            every = functions_of(tests)
            ours = _ours(suite, base, killed, every)
            ours["testmon"] = _testmon(suite, base, killed, every)
        for name, tally in ours.items():
            bound = None if name == "testmon" else 100 - _LEAST
            detail = f"of {len(killed)} mutants; {tally.share:.1f} % of {len(every)} tests chosen"
            detail += f"; missed: {'; '.join(tally.missed)}" if tally.missed else ""
            yield Figure(f"{suite.name}: missed, {name}", 100 - tally.found, "%", bound, detail)
            if name in shares:
                shares[name].append(tally.share)
    for name, found in shares.items():
        detail = ", ".join(f"{suite.name} {one:.1f}" for suite, one in zip(SUITES, found, strict=True))
        bound = _MOST if name == "learnt" else None
        yield Figure(f"tests chosen, {name}", sum(found) / len(found), "%", bound, detail)


def _ours(suite: Suite, base: Path, killed: list[Killed], every: Collection[str]) -> dict[str, Tally]:
    root = suite.copied(base / "project")
    places = Places.of_user({"HOME": str(base), "PATH": os.environ["PATH"]})
    session = RepoSession.open(Checkout.find(root, places))
    found = {"links": Tally(), "learnt": Tally()}
    try:
        session.index.refresh()
        learnt = _learn(session, suite, base)
        for one in killed:
            with session.index.snapshot() as snapshot:
                old = dict(snapshot.layout.blobs)
            before = one.mutant.apply(root)
            session.index.refresh()
            with session.index.snapshot() as snapshot:
                for name, known in (("links", None), ("learnt", learnt)):
                    chosen = _chosen(snapshot, one, old, known)
                    found[name].add(one, _functions(chosen, every), every)
            (root / one.mutant.path).write_bytes(before)
            session.index.refresh()
    finally:
        session.close()
    return found


def _chosen(snapshot: Snapshot, one: Killed, old: Mapping[str, int | None], learnt: Learnt | None) -> Impact:
    path = RepoPath(one.mutant.path)
    now: dict[str, int | None] = {path: snapshot.layout.blobs[path]}
    then = State("before", {path: old[path]}, snapshot, lambda _: None, snapshot.epoch)
    files = list(structural_diff(then, State("after", now, snapshot, lambda _: None, snapshot.epoch)))
    changed = changed_definitions(files)
    return affected_tests(snapshot, [path], Known(changed, learnt, is_confined=bool(changed)))


def _functions(impact: Impact, every: Collection[str]) -> set[str]:
    whole = {one.path for one in impact.tests if not one.names}
    found = {f"{one.path}::{name}" for one in impact.tests for name in one.names}
    return found | {test for test in every if test.partition("::")[0] in whole}


def _learn(session: RepoSession, suite: Suite, base: Path) -> Learnt:
    """What one run of the whole suite under coverage shows, by the same way as a tool's run."""
    checkout = session.checkout
    with session.index.snapshot() as snapshot:
        targets = [
            one
            for one in discover(SnapshotTree(snapshot), checkout.settings.tests).targets
            if one.runner == "pytest" and one.path.startswith(suite.tests)
        ]
    scratch = base / "reports"
    path = f"{Path(python_for_suites()).parent}:{os.environ['PATH']}"
    programs = Programs({**suite.environment(checkout.root), "PATH": path, "HOME": str(base)})
    where = Where(checkout.root, Toolbox(programs, checkout.root), scratch)
    options = Options(2, 600, 1800, rerun_failures=False, coverage=(checkout.root,))
    run(targets, where, options, Watch())
    session.index.refresh()
    with session.index.snapshot() as snapshot:
        session.coverage_map.learn(snapshot, sorted(scratch.glob(f"*/{LEARNT}")))
    return session.coverage_map.known()


def _testmon(suite: Suite, base: Path, killed: list[Killed], every: Collection[str]) -> Tally:
    """What pytest-testmon would run, its record of the whole suite being the same each time."""
    root = suite.copied(base / "testmon")
    _pytest(suite, root, "--testmon")
    record = base / "testmondata"
    shutil.copy(root / ".testmondata", record)
    found = Tally()
    for one in killed:
        before = one.mutant.apply(root)
        said = _pytest(suite, root, "--testmon", "--collect-only")
        chosen = functions_of([line for line in said.splitlines() if "::" in line])
        found.add(one, chosen, every)
        (root / one.mutant.path).write_bytes(before)
        for leftover in root.glob(".testmondata*"):
            leftover.unlink()
        shutil.copy(record, root / ".testmondata")
    return found


def _pytest(suite: Suite, root: Path, *options: str) -> str:
    # Without a cache it does not start.
    cache = f"cache_dir={root.parent / 'cache'}"
    command = [python_for_suites(), "-m", "pytest", "-q", "-o", cache, "--no-header", *options]
    done = subprocess.run(
        [*command, suite.tests], cwd=root, env=suite.environment(root), capture_output=True, text=True
    )
    return done.stdout
