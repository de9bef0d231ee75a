"""What tools that commit take and tell alike."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from codeplane.core.errors import InvalidArgument
from codeplane.git.commit.commit import Committed
from codeplane.git.history.changes import Change
from codeplane.jail import shown
from codeplane.session.operation.git import Changed
from codeplane.tools._git import GitDelta, delta_fields, short
from codeplane.tools._git_text import counts, delta_lines, more, subject_line

LONGEST_MESSAGE = 100_000
_MOST_FILES = 100


def _written(value: Any) -> Any:
    """`{"name": …, "email": …}` is accepted as well."""
    if isinstance(value, dict) and value.keys() == {"name", "email"}:
        return f"{value['name']} <{value['email']}>"
    return value


Authored = Annotated[str | None, BeforeValidator(_written)]


def author_of(text: str | None) -> tuple[str, str] | None:
    """Name and address of `Name <address>`."""
    if text is None:
        return None
    name, opened, rest = text.strip().partition("<")
    if not opened or not rest.endswith(">"):
        raise InvalidArgument(f"{text[:100]!r} is not of the form `Name <address>`.")
    return name.strip(), rest[:-1].strip()


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
        headline, *rest = delta_lines(self, f"[{where} {self.oid}] {subject_line(subject)}{size}")
        files = [*(self.committed or ()), *more("files", self.more_committed)]
        return "\n".join([headline, *files, *rest])


def committed_fields(changed: Changed[Committed]) -> dict[str, Any]:
    """The fields of `CommitDelta`, for a commit that was made."""
    outcome = changed.outcome
    files = outcome.changes
    return {
        **delta_fields(changed),
        "oid": short(outcome.commit or ""),
        "head": None,
        "committed": [_line(one) for one in files[:_MOST_FILES]] or None,
        "more_committed": max(0, len(files) - _MOST_FILES) or None,
    }


def _line(one: Change) -> str:
    return f"{one.kind} {shown(one.path)}"
