from typing import Annotated, NamedTuple

import pygit2
from pydantic import Field

from codeplane.answers.git.file_history import FileCommit, Place, follow_at, step_fields
from codeplane.answers.output import Output
from codeplane.answers.pages import clamped, next_page
from codeplane.core.errors import InvalidArgument, RevisionNotFound
from codeplane.git.history.commit_info import info_of
from codeplane.git.history.follow import Follow, Step
from codeplane.git.history.walk import commit_of
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool

_MOST = 200


class GitHistoryInput(Input):
    path: Annotated[str | None, synonyms("file", "paths")] = Field(default=None, description="File.")
    start_line: Annotated[int | None, synonyms("start", "from_line")] = Field(
        default=None, ge=1, description="First line, as of `ref`."
    )
    end_line: Annotated[int | None, synonyms("end", "to_line")] = Field(
        default=None, ge=1, description="Last line."
    )
    ref: Annotated[str, synonyms("commit", "branch")] = Field(
        default="HEAD", min_length=1, max_length=250, description="Where to start."
    )
    limit: int = Field(default=30, description="Most commits, up to 200.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous answer.")


class GitHistoryOutput(Output):
    commits: list[FileCommit] = Field(description="Newest first.")
    next_cursor: str | None = Field(default=None, description="Continues the list.")

    def render(self) -> str:
        lines = [one.oneline() + _renamed(one) for one in self.commits]
        return "\n".join([*(lines or ["no commits"]), *next_page("git_history", self.next_cursor)])


def _renamed(one: FileCommit) -> str:
    return f" (was {one.old_path})" if one.old_path else ""


class _Rest(NamedTuple):
    follow: Follow


@tool(Effect.READ, "git")
def git_history(call: Call, args: GitHistoryInput) -> GitHistoryOutput:
    """Lists the commits that changed one file, through renames, or some of its lines.

    Use when:
    - you want to know how a file or a function came to be what it is
    Not for:
    - a function by name: git_log with symbol
    - who last wrote each line: git_inspect with blame
    Examples:
    - Lines of a file: {"path": "src/app.py", "start_line": 10, "end_line": 30}
    """
    limit = clamped(call, "limit", args.limit, _MOST)
    with call.repo.checkout.repository.opened() as handle:
        if args.cursor is not None:
            follow = call.session.cursors.resume(args.cursor, _Rest).follow.copy()
        else:
            follow = _begin_follow(call, handle, args)
        steps = _take_steps(call, handle, follow, limit)
        commits = [
            FileCommit.model_validate(step_fields(info_of(commit_of(handle, step.version.oid)), step))
            for step in steps
        ]
    return GitHistoryOutput(
        commits=commits,
        next_cursor=call.session.cursors.keep(_Rest(follow)) if follow.ahead else None,
    )


def _begin_follow(call: Call, handle: pygit2.Repository, args: GitHistoryInput) -> Follow:
    if args.path is None:
        raise InvalidArgument("`path` is missing.", hints=['git_history {"path": "src/main.py"}'])
    path = call.repo.tree.jail.enter(args.path)
    if handle.head_is_unborn and args.ref == "HEAD":
        raise RevisionNotFound("There are no commits yet.")
    return follow_at(handle, args.ref, Place(path, args.start_line, args.end_line))


def _take_steps(call: Call, handle: pygit2.Repository, follow: Follow, limit: int) -> list[Step]:
    steps: list[Step] = []
    for step in follow.steps(handle):
        call.check()
        if step is not None:
            steps.append(step)
        if len(steps) == limit:
            break
    return steps
