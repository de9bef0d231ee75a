"""Commits as the git tools show them."""

from collections.abc import Sequence

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.git.history.commit_info import CommitInfo
from codeplane.git.repo.outcome import short_oid
from codeplane.jail import shown

_MOST_BODY = 2000
_MOST_SUBJECT = 300


class CommitOutput(Output):
    oid: str = Field(description="Id.")
    author: str | None = Field(
        default=None, description="`name <email>`; in a list, omitted if same as above."
    )
    date: str = Field(description="When it was written.")
    subject: str = Field(description="First line.")
    body: str | None = Field(default=None, description="The rest of the message.")
    parents: list[str] | None = Field(default=None, description="Parents of a merge.")

    def oneline(self) -> str:
        """The line of `git log --oneline`, with the day."""
        return f"{self.oid} {self.date.partition('T')[0]} {self.subject}"

    def whole(self, author: str | None = None) -> list[str]:
        """The entry of `git log`: who, when, the message; `author` where the commit does not repeat it."""
        merge_note = f" (merge of {' '.join(self.parents)})" if self.parents else ""
        lines = [f"{self.oid} {self.date} {self.author or author or ''}{merge_note}", f"    {self.subject}"]
        body = (self.body or "").splitlines()
        return lines + (["", *(f"    {line}".rstrip() for line in body)] if body else [])


def log_lines(commits: Sequence[CommitOutput]) -> list[str]:
    """Whole commits with a blank line between them; one that names no author has the one above."""
    lines: list[str] = []
    author = None
    for one in commits:
        author = one.author or author
        lines += [*([""] if lines else []), *one.whole(author)]
    return lines


def commit_fields(info: CommitInfo, *, body: bool) -> dict[str, object]:
    """The fields of `CommitOutput`, for its class or one that adds to it."""
    return {
        "oid": short_oid(info.oid),
        "author": shown(info.author.person),
        "date": info.author.when,
        "subject": shown(info.subject[:_MOST_SUBJECT]),
        "body": (_cut(info.body) or None) if body else None,
        "parents": [short_oid(one) for one in info.parents] if len(info.parents) > 1 else None,
    }


def _cut(text: str) -> str:
    body = shown(text)
    return body if len(body) <= _MOST_BODY else f"{body[:_MOST_BODY]}…"
