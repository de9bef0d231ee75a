"""What tools that commit take and tell alike."""

from typing import Any

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.text import counts, delta_lines
from codeplane.answers.pages import more
from codeplane.git.commit.commit import CommitOutcome
from codeplane.git.history.changes import Change
from codeplane.git.history.commit_info import short_subject
from codeplane.git.repo.outcome import short_oid
from codeplane.jail import shown
from codeplane.session.operation.git import Changed

_MOST_FILES = 100


class CommitDelta(GitDelta):
    oid: str | None = Field(default=None, description="The new commit.")
    committed: list[str] | None = Field(
        default=None, description="`A`, `M`, `D` or `T` (type changed), and the path."
    )
    more_committed: int | None = Field(default=None, description="Files beyond those.")

    def render(self) -> str:
        if self.oid is None:
            return "\n".join(delta_lines(self))
        where, subject = self.branch or "detached HEAD", self.summary.removeprefix(self.oid).strip()
        size = counts(self.insertions, self.deletions)
        headline, *rest = delta_lines(self, f"[{where} {self.oid}] {short_subject(subject)}{size}")
        files = [*(self.committed or ()), *more("files", self.more_committed)]
        return "\n".join([headline, *files, *rest])


def committed_fields(changed: Changed[CommitOutcome]) -> dict[str, Any]:
    """The fields of `CommitDelta`, for a commit that was made."""
    outcome = changed.outcome
    files = outcome.changes
    return {
        **delta_fields(changed),
        "oid": short_oid(outcome.commit or ""),
        "head": None,
        "committed": [_line(one) for one in files[:_MOST_FILES]] or None,
        "more_committed": max(0, len(files) - _MOST_FILES) or None,
    }


def _line(one: Change) -> str:
    return f"{one.kind} {shown(one.path)}"
