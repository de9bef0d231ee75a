"""How much source a session has been given, and how much it may be given before it is asked to think."""

from dataclasses import dataclass, field
from typing import Final

from codeplane.core.errors import ReadBudgetSpent
from codeplane.core.paths import Digest, RepoPath

_NEARLY: Final = 0.8
_MOST_OFFERED: Final = 200


@dataclass
class ReadBudget:
    """The characters of source that one session has read. Going round in circles ends here."""

    most: int
    spent: int = 0
    # Whole files that were offered and whose size the client has been told: path and content.
    offered: dict[RepoPath, Digest] = field(default_factory=dict)

    def check(self) -> None:
        """Raises once when there is nothing left; a client that asks again goes on with a new budget."""
        if self.spent >= self.most:
            total = self.reset()
            raise ReadBudgetSpent(
                f"This session has read {total} characters of source; its budget was {self.most}.",
                hints=["Search for what you need, or repeat the call, which starts a new budget."],
                spent=total,
                most=self.most,
            )

    def charge(self, characters: int) -> str | None:
        """Counts what was given; a warning when little is left."""
        self.spent += characters
        if self.spent < self.most * _NEARLY:
            return None
        return f"{self.spent} of {self.most} characters of this session's read budget are spent."

    def offer(self, path: RepoPath, digest: Digest) -> None:
        if len(self.offered) >= _MOST_OFFERED:
            self.offered.clear()
        self.offered[path] = digest

    def reset(self) -> int:
        """Begins anew; returns what was spent."""
        total, self.spent = self.spent, 0
        return total
