"""What a test run found out, as data."""

from dataclasses import dataclass
from enum import StrEnum


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
