"""Coverage as answers tell it."""

import difflib
from collections.abc import Iterable
from typing import Final

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.testrun.coverage import Coverage, spans

_MOST_FILES = 20


class CoverageReport(Output):
    percent: float = Field(description="Share of all executable lines measured.")
    files: list[str] = Field(description="`percent path: lines not run`, least covered first.")
    uncovered_changes: list[str] | None = Field(
        default=None, description="`path: lines` that differ from HEAD and were not run."
    )

    def lines(self) -> list[str]:
        """The report as text: the changed lines that no test ran come first."""
        text = [f"coverage {self.percent:g}%"]
        text += [f"changed and not run: {one}" for one in self.uncovered_changes or ()]
        return text + [f"  {one}" for one in self.files]


_NEEDS: Final = {
    "pytest": "pytest and unittest need the package coverage in the project's environment",
    "unittest": "pytest and unittest need the package coverage in the project's environment",
    "vitest": "vitest needs @vitest/coverage-v8 (npm install --save-dev @vitest/coverage-v8)",
    "jest": "jest wrote no report",
    "go": "go wrote no profile",
}


def why_not_covered(runners: Iterable[str]) -> str:
    """What was missing, by the runners of a run."""
    reasons = dict.fromkeys(_NEEDS.get(one, f"{one} coverage is not supported") for one in sorted(runners))
    return "; ".join(reasons)


def told_coverage(call: Call, coverage: Coverage) -> CoverageReport:
    """What was run of each file, and what was not of the lines that are not committed yet."""
    files = sorted(coverage.files.items(), key=lambda item: (item[1].percent, item[0]))
    rows = [f"{one.percent:.0f}% {path}: {spans(one.missing)}" for path, one in files if one.missing]
    gaps = [
        f"{shown(path)}: {spans(lines)}"
        for path in _changed(call)
        if path in coverage.files
        and (lines := sorted(_changed_lines(call, path) & set(coverage.files[path].missing)))
    ]
    return CoverageReport(
        percent=round(coverage.percent, 1), files=rows[:_MOST_FILES], uncovered_changes=gaps or None
    )


def _changed(call: Call) -> list[RepoPath]:
    """Files that differ from the last commit."""
    try:
        status = call.repo.tree.git.look()
    except CodePlaneError as error:
        call.warn(f"The changed lines are unknown: {error.message}")
        return []
    return sorted({RepoPath(one.path) for one in (*status.staged, *status.modified)})


def _changed_lines(call: Call, path: RepoPath) -> set[int]:
    """Lines of a file that the last commit has not, or has otherwise."""
    before = call.repo.checkout.repository.head_content(path) or b""
    old, new = (data.decode("utf-8", "replace").splitlines() for data in (before, call.repo.tree.read(path)))
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {line + 1 for tag, _, _, first, last in blocks if tag != "equal" for line in range(first, last)}
