"""What a test run found out, as data."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from codeplane.testrun.target import Target
from codeplane.testrun.text import plain, shortened

_LONGEST_MESSAGE: Final = 500
_LONGEST_STACK: Final = 4000
_LONGEST_OUTPUT: Final = 2000
_DIGITS: Final = 16


class Status(StrEnum):
    """How one test ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    """It could not be run: an import, a fixture, a crash, no time."""
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """One test, or what stands in the way of several."""

    id: str  # the runner's full id
    target: str  # id of the target that it belongs to; "" for an unknown one
    status: Status
    seconds: float = 0.0
    message: str = ""  # first line of what went wrong
    kind: str = ""  # type of the exception
    path: str = ""  # file of the assertion, relative to the repository
    line: int = 0
    stack: str = ""  # trimmed and capped
    output: str = ""  # what it printed, capped

    @property
    def is_bad(self) -> bool:
        return self.status in (Status.FAILED, Status.ERROR)

    def shown(self) -> "Case":
        """The case, fit to be shown: no colours, nothing too long."""
        return replace(
            self,
            id=plain(self.id),
            message=plain(self.message).strip()[:_LONGEST_MESSAGE],
            kind=plain(self.kind),
            path=plain(self.path),
            stack=shortened(plain(self.stack).strip("\n"), _LONGEST_STACK),
            output=shortened(plain(self.output).strip("\n"), _LONGEST_OUTPUT),
        )


class End(StrEnum):
    """How a target ended."""

    DONE = "done"
    NO_TESTS = "no tests"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    """Its process has ended in the middle, or has made too many others."""
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class TargetResult:
    """One target of a run."""

    target: Target
    end: End
    counts: Mapping[Status, int]
    seconds: float = 0.0

    @property
    def is_bad(self) -> bool:
        bad = self.counts.get(Status.FAILED, 0) + self.counts.get(Status.ERROR, 0)
        return bad > 0 or self.end in (End.TIMED_OUT, End.CRASHED)


@dataclass(frozen=True)
class Report:
    """A whole run."""

    cases: Sequence[Case]
    targets: Sequence[TargetResult]
    flaky: frozenset[str] = frozenset()  # ids of tests that failed and then did not
    stopped: str = ""  # why it did not come to its end: `fail_fast` or `time`
    notes: Sequence[str] = ()
    seconds: float = 0.0
    workers: int = 1

    @property
    def counts(self) -> Counter[Status]:
        return Counter(case.status for case in self.cases)

    @property
    def failures(self) -> list[Case]:
        """What is wrong, flaky ones left out."""
        return [case for case in self.cases if case.is_bad and case.id not in self.flaky]

    def ended(self, how: End) -> list[str]:
        return [one.target.id for one in self.targets if one.end is how]

    @property
    def fingerprint(self) -> str:
        return suite_fingerprint(self.cases, self.flaky)


def suite_fingerprint(cases: Iterable[Case], flaky: Collection[str] = ()) -> str:
    """One hash for the same tests with the same outcomes, whatever their order and their times."""
    outcomes = {(case.id, (Status.PASSED if case.id in flaky else case.status).value) for case in cases}
    return "suite_" + hashlib.sha256(json.dumps(sorted(outcomes)).encode()).hexdigest()[:_DIGITS]
