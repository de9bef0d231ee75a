from itertools import pairwise
from typing import Annotated, NamedTuple

import pygit2
from pydantic import Field

from codeplane.core.errors import RevisionNotFound
from codeplane.git.degraded import degraded
from codeplane.git.entries import CommitInfo, info_of, moment
from codeplane.git.objects import find_commit
from codeplane.git.selection import Selection
from codeplane.git.walk import Walk
from codeplane.session import Call
from codeplane.tools._commits import CommitOutput, commit_fields
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

_MOST = 200


class GitLogInput(Input):
    ref: Annotated[str, synonyms("branch", "revision", "commit")] = Field(
        default="HEAD", min_length=1, max_length=250, description="Where to begin; `a..b` leaves out a's."
    )
    limit: Annotated[int, synonyms("max_count", "n", "count")] = Field(default=50, description="Up to 200.")
    since: Annotated[str | None, synonyms("after")] = Field(default=None, description="ISO date.")
    until: Annotated[str | None, synonyms("before")] = Field(default=None, description="ISO date.")
    paths: Annotated[list[str], synonyms("path", "files")] = Field(
        default=[], description="Only commits that change these."
    )
    author: str | None = Field(default=None, description="Part of a name or address.")
    grep: str | None = Field(default=None, description="Part of the message.")
    full: bool = Field(default=False, description="Whole messages.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the answer before.")


class GitLogOutput(Output):
    commits: list[CommitOutput] = Field(description="Newest first.")
    next_cursor: str | None = Field(default=None, description="Where the next answer goes on.")


class _Rest(NamedTuple):
    walk: Walk
    until: int | None
    author: str
    grep: str
    full: bool

    def has(self, commit: pygit2.Commit) -> CommitInfo | None:
        """The commit as it is shown, if it is one of those asked for."""
        if self.until is not None and commit.commit_time > self.until:
            return None
        info = info_of(commit)
        is_meant = self.author in info.author.person.lower() and self.grep in info.message.lower()
        return info if is_meant else None


@tool(Effect.READ, "git", standard=True)
def git_log(call: Call, args: GitLogInput) -> GitLogOutput:
    """Commits, newest first.

    Examples:
    - What touched a directory: {"paths": ["src"], "limit": 10}
    - What a branch adds: {"ref": "main..topic"}
    """
    limit = clamped(call, "limit", args.limit, _MOST)
    repository = call.repo.checkout.repository
    with repository.opened() as handle:
        rest = call.session.cursors.resume(args.cursor, _Rest) if args.cursor is not None else None
        rest = _begun(call, handle, args) if rest is None else rest._replace(walk=rest.walk.copy())
        found = _taken(call, handle, rest, limit)
        if rest.walk.ends or handle.is_shallow:
            for note in degraded(repository):
                call.warn(note)
    return GitLogOutput(
        commits=_told(found, body=rest.full),
        next_cursor=call.session.cursors.keep(rest) if rest.walk.ahead else None,
    )


def _told(found: list[CommitInfo], *, body: bool) -> list[CommitOutput]:
    """Who has written several in a row is named once."""
    fields = [commit_fields(one, body=body) for one in found]
    again = [one["author"] == above["author"] for above, one in pairwise(fields)]
    for one, is_same in zip(fields[1:], again, strict=True):
        one["author"] = None if is_same else one["author"]
    return [CommitOutput.model_validate(one) for one in fields]


def _begun(call: Call, handle: pygit2.Repository, args: GitLogInput) -> _Rest:
    chosen = Selection.of(call.repo.tree.jail, args.paths)
    walk = Walk(tuple(sorted(chosen.paths)), moment(args.since) if args.since is not None else None)
    left, dots, right = args.ref.partition("..")
    if handle.head_is_unborn and "HEAD" in (left or "HEAD", right or "HEAD"):
        raise RevisionNotFound("There is no commit yet.", hints=["git_stage_and_commit"])
    if dots:
        walk.leave_out(handle, find_commit(handle, left or "HEAD").oid)
    walk.begin(handle, find_commit(handle, (right if dots else left) or "HEAD").oid)
    until = moment(args.until, end=True) if args.until is not None else None
    return _Rest(walk, until, (args.author or "").lower(), (args.grep or "").lower(), args.full)


def _taken(call: Call, handle: pygit2.Repository, rest: _Rest, limit: int) -> list[CommitInfo]:
    found: list[CommitInfo] = []
    for commit in rest.walk.commits(handle, call.check):
        info = rest.has(commit)
        if info is not None:
            found.append(info)
        if len(found) == limit:
            break
    return found
