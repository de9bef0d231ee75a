"""What came out when edits were tried."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from codeplane.core.paths import RepoPath

Check = Literal["parse", "lint", "tests"]


class Outcome(StrEnum):
    """How one check of a set of edits ended."""

    PASSED = "passed"
    """Nothing is worse than it was."""
    FAILED = "failed"
    """Something is worse than it was; the findings name it."""
    NOT_RUN = "not_run"
    """It could not be found out; the text says why."""


@dataclass(frozen=True)
class Finding:
    """One thing that the edits make worse."""

    text: str
    path: RepoPath | None = None
    line: int = 0


@dataclass(frozen=True)
class Checked:
    """One check."""

    check: Check
    outcome: Outcome
    text: str  # what was looked at, in one line
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Verification:
    """All checks of one set of edits, in the order in which they were asked for."""

    checks: tuple[Checked, ...]

    @property
    def is_passed(self) -> bool:
        """Whether every check was made and found nothing."""
        return all(one.outcome is Outcome.PASSED for one in self.checks)
