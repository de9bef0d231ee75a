"""What answers about tests have in common."""

from codeplane.graph.tests.impact import AffectedTest, Impact, Match
from codeplane.jail import shown
from codeplane.testrun.results import End, Report, Status

MOST_LISTED = 20


def summary_of(report: Report) -> str:
    """`1 failed, 12 passed in 3 targets, 1.4 s`."""
    counts = report.counts
    parts = [_counted(counts[status], name) for status, name in _NAMES.items() if counts[status]]
    if report.flaky:
        parts.append(f"{len(report.flaky)} of them flaky")
    targets = _counted(len(report.targets), "targets")
    return f"{', '.join(parts) or 'no tests'} in {targets}, {report.seconds:.1f} s"


def _counted(count: int, what: str) -> str:
    return f"{count} {what.removesuffix('s') if count == 1 else what}"


# What is wrong comes first.
_NAMES = {
    Status.FAILED: "failed",
    Status.ERROR: "errors",
    Status.PASSED: "passed",
    Status.SKIPPED: "skipped",
}


def not_done(report: Report) -> dict[str, list[str]]:
    """Targets that did not come to their end, by how they ended; the first of each."""
    ends = (End.TIMED_OUT, End.CRASHED, End.NOT_RUN, End.NO_TESTS)
    ids_by_end = {end.value: report.ended(end) for end in ends}
    return {
        name: [*ids[:MOST_LISTED], *([f"… {len(ids) - MOST_LISTED} more"] if len(ids) > MOST_LISTED else [])]
        for name, ids in ids_by_end.items()
        if ids
    }


_WHY = {
    Match.EXACT: "imports {0}",
    Match.PARENT: "imports the package of {0}",
    Match.CHILD: "imports a module inside {0}",
    Match.RUN: "has run it",
    Match.FIXTURE: "uses a fixture of {0}",
    Match.DATA: "names {0}",
    Match.CHAIN: "reaches it through {1} imports, via {0}",
}


def concerned(test: AffectedTest) -> str:
    """A test and why it is concerned, as text: `tests/test_a.py: reaches it`."""
    path = shown(test.path)
    which = f" ({len(test.names)} tests)" if test.names else ""
    if not test.distance:
        return f"{path}{which}: has changed"
    why = "reaches it" if test.reaches else _WHY[test.match].format(test.module, test.distance)
    return f"{path}{which}: {why}"


def told_impact(impact: Impact | None) -> str | None:
    """How sure it is that the chosen tests are all that a change concerns."""
    return impact.told if impact is not None else None
