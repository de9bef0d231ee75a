"""What linters find: as each of them says it, and as all of them are told."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from codeplane.core.paths import RepoPath

Severity = Literal["error", "warning", "info"]
# What a linter counts in a line: code points, UTF-16 units, or bytes of UTF-8.
Unit = Literal["points", "utf16", "bytes"]

FORMAT: Final = "format"
"""The rule of a place that a formatter would write otherwise."""


class Finding(NamedTuple):
    """What a linter has printed. Lines and columns begin at 1, and 0 is a place that it does not say.

    `path` is absolute or relative to the directory that it ran in.
    """

    path: str
    line: int
    column: int
    message: str
    rule: str = ""
    severity: Severity = "error"
    end_line: int = 0
    end_column: int = 0
    has_fix: bool = False
    unit: Unit = "points"


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One problem in a file. Columns are code points from 1; the end is before `end_column`."""

    path: RepoPath
    line: int
    column: int
    end_line: int
    end_column: int
    rule: str
    severity: Severity
    message: str
    tool: str
    has_fix: bool = False  # whether a fixing run makes it go away

    @property
    def told(self) -> str:
        """In one line, without the path."""
        end = f"{self.end_line}:" if self.end_line != self.line else ""
        span = (
            f"{self.line}:{self.column}-{end}{self.end_column}"
            if self._is_wide
            else f"{self.line}:{self.column}"
        )
        fixable = ", fixable" if self.has_fix else ""
        return f"{span} {self.severity} {self.rule or self.tool}: {self.message} ({self.tool}{fixable})"

    @property
    def _is_wide(self) -> bool:
        return (self.end_line, self.end_column) > (self.line, self.column)
