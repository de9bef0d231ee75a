"""What the tools that talk to remotes share."""

from collections.abc import Sequence

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.git.remote.fetch import RefUpdate
from codeplane.git.repo.outcome import short_oid
from codeplane.jail import shown
from codeplane.session import Call

_MOST_REFS = 40


class RefOutput(Output):
    ref: str = Field(description="Full name.")
    move: str = Field(description="new, updated, forced, pruned (deleted) or rejected.")
    before: str | None = Field(default=None, description="Commit before.")
    after: str | None = Field(default=None, description="Commit now.")
    why: str | None = Field(default=None, description="Why it was rejected.")

    def line(self) -> str:
        """The line that `git fetch` and `git push` print."""
        ends = f" {self.before or '0' * 10}..{self.after}" if self.after else f" was {self.before}"
        return f"{self.move} {self.ref}{ends}{f': {self.why}' if self.why else ''}"


def refs_told(call: Call, moved: Sequence[RefUpdate]) -> list[RefOutput] | None:
    """References that have moved; those beyond the first are counted in a warning."""
    if len(moved) > _MOST_REFS:
        call.warn(f"{len(moved) - _MOST_REFS} more references moved.")
    return [_told(one) for one in moved[:_MOST_REFS]] or None


def _told(one: RefUpdate) -> RefOutput:
    return RefOutput(
        ref=shown(one.ref),
        move=one.move,
        before=short_oid(one.before) if one.before else None,
        after=short_oid(one.after) if one.after else None,
        why=one.why,
    )
