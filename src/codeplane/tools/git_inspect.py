from functools import cache
from typing import Annotated, Literal

import pygit2
from pydantic import Field

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.core.paths import RepoPath
from codeplane.git.blame import Blame, Origin
from codeplane.git.changes import between
from codeplane.git.clean import attributes_of, cleaned
from codeplane.git.entries import info_of
from codeplane.git.objects import find_commit
from codeplane.git.patches import LARGEST
from codeplane.git.selection import Selection
from codeplane.git.taglist import TagInfo, tags_of
from codeplane.git.walk import commit_of, place_at
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.tools._commits import CommitOutput, commit_fields
from codeplane.tools._git import short
from codeplane.tools._patches import MOST_COUNTED, DiffStats, PatchOutput, Rest, page, stats
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool
from codeplane.truth.comparison import Comparison, kept_back

_MOST_TAGS = 100
_MOST_BLAMED = 150


class GitInspectInput(Input):
    action: Annotated[Literal["show", "blame", "tags"], synonyms("mode", "what")] = Field(
        default="show", description="`show` a commit, `blame` a file, or list `tags`."
    )
    ref: Annotated[str | None, synonyms("commit", "revision", "tag", "name")] = Field(
        default=None, max_length=250, description="Commit; of blame the working tree when left out."
    )
    path: Annotated[str | None, synonyms("paths", "file")] = Field(
        default=None, description="File to blame; of show, only this file or directory."
    )
    start_line: int | None = Field(default=None, ge=1, description="First line to blame.")
    end_line: int | None = Field(default=None, ge=1, description="Last line to blame.")
    stat: bool = Field(default=False, description="Of show: files and counts, no hunks.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the answer before.")


class ShowOutput(Output):
    commit: CommitOutput | None = Field(default=None, description="The commit; in the first answer.")
    committer: str | None = Field(default=None, description="`name <email> date`, where it is another.")
    files: list[PatchOutput] = Field(description="What it changed, against its first parent.")
    stats: DiffStats | None = Field(default=None, description="Of all files; in the first answer.")
    next_cursor: str | None = Field(default=None, description="Where the next answer goes on.")


class BlameOutput(Output):
    path: str = Field(description="File.")
    lines: list[str] = Field(description="`first-last commit date author: subject`; `-` is not committed.")
    next_line: int | None = Field(default=None, description="`start_line` of the next answer.")


class TagsOutput(Output):
    tags: list[str] = Field(description="`name commit date: message`, newest first.")
    more: int | None = Field(default=None, description="Tags beyond those.")


@tool(Effect.READ, "git")
def git_inspect(call: Call, args: GitInspectInput) -> ShowOutput | BlameOutput | TagsOutput:
    """Shows one commit with its changes, who wrote the lines of a file, or the tags.

    Use when:
    - you need what a commit did, or why a line is there
    Examples:
    - A commit: {"ref": "HEAD~2"}
    - Lines: {"action": "blame", "path": "src/app.py", "start_line": 10, "end_line": 20}
    - Tags: {"action": "tags"}
    """
    with call.repo.checkout.repository.opened() as handle:
        match args.action:
            case "show":
                return _show(call, handle, args)
            case "blame":
                return _blame(call, handle, args)
            case "tags":
                found = tags_of(handle)
                told = [_tag(one) for one in found[:_MOST_TAGS]]
                return TagsOutput(tags=told, more=max(0, len(found) - _MOST_TAGS) or None)


def _show(call: Call, handle: pygit2.Repository, args: GitInspectInput) -> ShowOutput:
    patch = cache(Comparison(call.repo.tree, handle).patch)
    if args.cursor is not None:
        files, left = page(call.session.cursors.resume(args.cursor, Rest), patch)
        return ShowOutput(files=files, next_cursor=call.session.cursors.keep(left) if left else None)
    commit = commit_of(handle, find_commit(handle, args.ref or "HEAD").oid)
    chosen = Selection.of(call.repo.tree.jail, [args.path] if args.path is not None else [])
    parent = next((str(one) for one in commit.parent_ids if one in handle), None)
    before = str(commit_of(handle, parent).tree_id) if parent is not None else None
    every = between(handle, before, str(commit.tree_id))
    found = tuple(one for one in every if one.path in chosen or (one.old_path or one.path) in chosen)
    is_counted = len(found) <= MOST_COUNTED
    files, left = page(Rest(found, 0, not args.stat), patch)
    info = info_of(commit)
    return ShowOutput(
        commit=CommitOutput.model_validate(commit_fields(info, body=True)),
        committer=(
            shown(f"{info.committer.person} {info.committer.when}") if info.committer != info.author else None
        ),
        files=files,
        stats=stats([patch(one) for one in found]) if is_counted else DiffStats(files_changed=len(found)),
        next_cursor=call.session.cursors.keep(left) if left else None,
    )


def _blame(call: Call, handle: pygit2.Repository, args: GitInspectInput) -> BlameOutput:
    if args.path is None:
        raise InvalidArgument("Blame needs a `path`.", hints=['{"action": "blame", "path": "src/app.py"}'])
    path = call.repo.tree.jail.enter(args.path)
    if args.ref is not None:
        origin = Origin(find_commit(handle, args.ref).oid, path)
        data = _content(call, handle, origin)
    else:
        place = place_at(handle, find_commit(handle, "HEAD").oid, path)
        data = cleaned(
            attributes_of(handle, path), call.repo.tree.read(path), place[0] if place is not None else None
        )
        origin = Origin(None, path)
    total = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    first, last = args.start_line or 1, min(args.end_line or total, total)
    if first > last:
        raise InvalidArgument(f"{shown(path)} has {total} lines; there is no line {first} to blame.")
    found = Blame(handle, call.check).of(origin, data, first, last)
    first_ones = found[:_MOST_BLAMED]
    return BlameOutput(
        path=shown(path),
        lines=[_line(handle, one.first, one.length, one.origin, path) for one in first_ones],
        next_line=found[_MOST_BLAMED].first if len(found) > _MOST_BLAMED else None,
    )


def _content(call: Call, handle: pygit2.Repository, origin: Origin) -> bytes:
    assert origin.commit is not None, "BUG: a commit is asked for"
    place = place_at(handle, origin.commit, origin.path)
    blob = handle.get(place[0]) if place is not None else None
    if not isinstance(blob, pygit2.Blob) or kept_back(call.repo.tree.rules(), origin.path):
        told = shown(origin.path)
        raise NotFound(f"{short(origin.commit)} has no file {told} that can be shown.", path=told)
    if blob.size > LARGEST:
        raise InvalidArgument(f"{shown(origin.path)} has {blob.size} bytes; the most is {LARGEST}.")
    return blob.data


def _line(handle: pygit2.Repository, first: int, length: int, origin: Origin, path: RepoPath) -> str:
    lines = f"{first}-{first + length - 1}" if length > 1 else str(first)
    if origin.commit is None:
        return f"{lines} -"
    info = info_of(commit_of(handle, origin.commit))
    moved = f" ({shown(origin.path)})" if origin.path != path else ""
    author = shown(info.author.name)
    return f"{lines} {short(origin.commit)}{moved} {info.author.when} {author}: {shown(info.subject)}"


def _tag(one: TagInfo) -> str:
    when = f" {one.when}" if one.when else ""
    message = f": {shown(one.message)}" if one.message else ""
    return f"{shown(one.name)} {short(one.target)}{when}{message}"
