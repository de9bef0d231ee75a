"""What tools that commit take and tell alike."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from codeplane.git.changes import Change
from codeplane.git.committing import Committed
from codeplane.jail import shown
from codeplane.session.git import Changed
from codeplane.tools._git import GitDelta, delta_fields, short
from codeplane.tools._registry import Input

LONGEST_MESSAGE = 100_000
_MOST_FILES = 100


class Author(Input):
    name: str = Field(max_length=250, description="Name.")
    email: str = Field(max_length=250, description="Address.")


def _parsed(value: Any) -> Any:
    """`Name <address>` is taken as well."""
    if isinstance(value, str) and value.endswith(">") and "<" in value:
        name, _, email = value[:-1].partition("<")
        return {"name": name.strip(), "email": email.strip()}
    return value


Authored = Annotated[Author | None, BeforeValidator(_parsed)]


class CommitDelta(GitDelta):
    oid: str | None = Field(default=None, description="The commit that was made: HEAD now.")
    committed: list[str] | None = Field(
        default=None, description="`A`, `M`, `D` or `T` (another kind) and path of its files."
    )
    more_committed: int | None = Field(default=None, description="Files beyond those.")


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
