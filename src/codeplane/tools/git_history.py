from typing import Annotated, NamedTuple

import pygit2
from pydantic import Field

from codeplane.core.errors import InvalidArgument, NotFound, RevisionNotFound
from codeplane.core.paths import RepoPath
from codeplane.git.entries import info_of
from codeplane.git.follow import Follow, Span, Step, Version
from codeplane.git.objects import find_commit
from codeplane.git.walk import commit_of, place_at
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.tools._commits import CommitOutput, commit_fields
from codeplane.tools._limits import clamped
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

_MOST = 200
_KINDS = {"A": "added", "M": "modified", "D": "deleted", "R": "renamed"}


class GitHistoryInput(Input):
    path: Annotated[str | None, synonyms("file", "paths")] = Field(default=None, description="File.")
    start_line: Annotated[int | None, synonyms("start", "from_line")] = Field(
        default=None, ge=1, description="First line, as `ref` has it."
    )
    end_line: Annotated[int | None, synonyms("end", "to_line")] = Field(
        default=None, ge=1, description="Last line."
    )
    ref: Annotated[str, synonyms("commit", "branch")] = Field(
        default="HEAD", min_length=1, max_length=250, description="Where to begin."
    )
    limit: int = Field(default=30, description="Most commits, up to 200.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the answer before.")


class FileCommit(CommitOutput):
    change: str = Field(description="added, modified, deleted or renamed.")
    old_path: str | None = Field(default=None, description="Path before, of a rename.")
    lines: str | None = Field(default=None, description="`first-last` at this commit.")


class GitHistoryOutput(Output):
    commits: list[FileCommit] = Field(description="Newest first.")
    next_cursor: str | None = Field(default=None, description="Where the next answer goes on.")


class _Rest(NamedTuple):
    follow: Follow


@tool(Effect.READ, "git")
def git_history(call: Call, args: GitHistoryInput) -> GitHistoryOutput:
    """Lists the commits that changed one file, through renames, or some of its lines.

    Use when:
    - you want to know how a file or a function came to be what it is
    Not for:
    - who wrote each line last: git_inspect with blame
    Examples:
    - A function: {"path": "src/app.py", "start_line": 10, "end_line": 30}
    """
    limit = clamped(call, "limit", args.limit, _MOST)
    with call.repo.checkout.repository.opened() as handle:
        if args.cursor is not None:
            follow = call.session.cursors.resume(args.cursor, _Rest).follow.copy()
        else:
            follow = _begun(call, handle, args)
        found = _taken(call, handle, follow, limit)
        commits = [_told(handle, step) for step in found]
    return GitHistoryOutput(
        commits=commits,
        next_cursor=call.session.cursors.keep(_Rest(follow)) if follow.ahead else None,
    )


def _begun(call: Call, handle: pygit2.Repository, args: GitHistoryInput) -> Follow:
    if args.path is None:
        raise InvalidArgument("`path` is missing.", hints=['{"path": "src/main.py"}'])
    path = call.repo.tree.jail.enter(args.path)
    if handle.head_is_unborn and args.ref == "HEAD":
        raise RevisionNotFound("There is no commit yet.")
    commit = find_commit(handle, args.ref).oid
    follow = Follow()
    follow.begin(handle, Version(commit, path, _span(handle, commit, path, args)))
    return follow


def _span(handle: pygit2.Repository, commit: str, path: RepoPath, args: GitHistoryInput) -> Span | None:
    if args.start_line is None and args.end_line is None:
        return None
    place = place_at(handle, commit, path)
    blob = handle.get(place[0]) if place is not None else None
    if not isinstance(blob, pygit2.Blob):
        raise NotFound(f"{args.ref} has no file {shown(path)}.", path=shown(path))
    start, last = args.start_line or 1, blob.data.count(b"\n") + (not blob.data.endswith(b"\n"))
    end = args.end_line or last
    if end < start or start > last:
        raise InvalidArgument(
            f"{shown(path)} has {last} lines at {args.ref}; there is none from {start} to {end}."
        )
    return Span(start - 1, min(end, last))


def _taken(call: Call, handle: pygit2.Repository, follow: Follow, limit: int) -> list[Step]:
    found: list[Step] = []
    for step in follow.steps(handle):
        call.check()
        if step is not None:
            found.append(step)
        if len(found) == limit:
            break
    return found


def _told(handle: pygit2.Repository, step: Step) -> FileCommit:
    span = step.version.span
    return FileCommit.model_validate(
        {
            **commit_fields(info_of(commit_of(handle, step.version.oid)), body=False),
            "change": _KINDS[step.kind],
            "old_path": shown(step.old_path) if step.old_path is not None else None,
            "lines": f"{span.start + 1}-{span.end}" if span is not None else None,
        }
    )
