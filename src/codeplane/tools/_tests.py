"""What answers about tests have in common."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from codeplane.graph.impact import Impact
from codeplane.ledger import failure_fingerprint
from codeplane.testrun.results import Case, End, Report, Status
from codeplane.testrun.text import shortened
from codeplane.tools._registry import Output, synonyms

MOST_LISTED = 20
_WITH_STACK = 5
_LONGEST_STACK = 1500
_LONGEST_OUTPUT = 600
_OUTSIDE = "... outside of the repository ..."  # frames that a reporter has left out

AffectedBy = Annotated[str | list[str], synonyms("changed_files", "paths", "files", "changed")]


class Failure(Output):
    test: str = Field(description="Id; `tests` takes it.")
    at: str | None = Field(default=None, description="`path:line` of the assertion.")
    error: str = Field(description="Type of the exception and what it says.")
    stack: str | None = Field(
        default=None, description="Frames of the repository, and the rest of the message."
    )
    output: str | None = Field(default=None, description="What the test printed.")
    fingerprint: str = Field(description="The same for the same failure in another run.")


def told_failures(cases: Sequence[Case]) -> list[Failure]:
    """The first failures; the very first with their stacks, each place once."""
    told: list[Failure] = []
    places: set[tuple[str, int, str]] = set()
    for case in cases[:MOST_LISTED]:
        place = (case.path, case.line, case.kind)
        told.append(_failure(case, len(places) < _WITH_STACK and (not case.line or place not in places)))
        places.add(place)
    return told


def _failure(case: Case, with_stack: bool) -> Failure:
    error = ": ".join(filter(None, (case.kind, case.message))) or "failed"
    # What `error` says is not said again.
    lines = [line for line in case.stack.splitlines() if line.strip() not in (error, _OUTSIDE)]
    stack = shortened("\n".join(lines), _LONGEST_STACK) if with_stack else ""
    # Without a stack, what was printed is all that is known of the failure.
    room = _LONGEST_OUTPUT if stack else _LONGEST_STACK
    output = shortened(case.output, room) if with_stack and case.output != case.stack else ""
    return Failure(
        test=case.id,
        at=f"{case.path}:{case.line}" if case.line else case.path or None,
        error=error,
        stack=stack or None,
        output=output or None,
        fingerprint=failure_fingerprint([case.id], case.kind, case.stack or case.message, None),
    )


def summary_of(report: Report) -> str:
    """`12 passed, 1 failed in 3 targets, 1.4 s`."""
    counts = report.counts
    told = [_counted(counts[status], _NAMES[status]) for status in Status if counts[status]]
    if report.flaky:
        told.append(f"{len(report.flaky)} of them flaky")
    targets = _counted(len(report.targets), "targets")
    return f"{', '.join(told) or 'no tests'} in {targets}, {report.seconds:.1f} s"


def _counted(count: int, what: str) -> str:
    return f"{count} {what.removesuffix('s') if count == 1 else what}"


_NAMES = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.ERROR: "errors",
    Status.SKIPPED: "skipped",
}


def not_done(report: Report) -> dict[str, list[str]]:
    """Targets that did not come to their end, by how they ended; the first of each."""
    ends = (End.TIMED_OUT, End.CRASHED, End.NOT_RUN, End.NO_TESTS)
    found = {end.value: report.ended(end) for end in ends}
    return {
        name: [*ids[:MOST_LISTED], *([f"… {len(ids) - MOST_LISTED} more"] if len(ids) > MOST_LISTED else [])]
        for name, ids in found.items()
        if ids
    }


def told_impact(impact: Impact | None) -> str | None:
    """How sure it is that the chosen tests are all that a change concerns."""
    return impact.told if impact is not None else None
