from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Final, Literal

import pygit2
from pydantic import Field

from codeplane.answers.git.commits import CommitOutput, commit_fields
from codeplane.answers.git.lists import (
    GitBranches,
    GitRemotes,
    GitStashes,
    GitWorktrees,
    branches_of,
    remotes_of,
    stashes_of,
    worktrees_of,
)
from codeplane.answers.git.patches import (
    MOST_COUNTED,
    DiffStats,
    PatchOutput,
    Rest,
    is_stat,
    page,
    patch_lines,
    stats,
    total_lines,
)
from codeplane.answers.output import Output
from codeplane.answers.pages import more, next_page
from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.core.paths import RepoPath
from codeplane.git.history.blame import Blame, Origin
from codeplane.git.history.changes import changes_between
from codeplane.git.history.commit_info import info_of
from codeplane.git.history.patches import LARGEST
from codeplane.git.history.tag_list import TagInfo, list_tags
from codeplane.git.history.walk import commit_of, place_at
from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.outcome import short_oid
from codeplane.git.repo.pathspec import Selection
from codeplane.git.worktree.clean_filter import clean_content
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.working_tree.status.comparison import Comparison, kept_back

_MOST_TAGS = 100
_MOST_BLAMED = 150
_LISTS: Final[Mapping[str, Callable[[Call], GitBranches | GitRemotes | GitStashes | GitWorktrees]]] = {
    "branches": branches_of,
    "remotes": remotes_of,
    "stashes": stashes_of,
    "worktrees": worktrees_of,
}


class GitInspectInput(Input):
    what: Annotated[
        Literal["show", "blame", "tags", "branches", "remotes", "stashes", "worktrees"],
        synonyms("action", "mode"),
    ] = Field(default="show", description="`show` a commit, `blame` a file, or a list.")
    ref: Annotated[str | None, synonyms("commit", "revision", "tag", "name")] = Field(
        default=None,
        max_length=250,
        description="Commit to show, HEAD by default; for blame, the working tree by default.",
    )
    path: Annotated[str | None, synonyms("paths", "file")] = Field(
        default=None, description="File to blame; for show, only this file or directory."
    )
    start_line: int | None = Field(default=None, ge=1, description="First line to blame.")
    end_line: int | None = Field(default=None, ge=1, description="Last line to blame.")
    stat: bool = Field(default=False, description="For show: files and counts, no hunks.")
    cursor: str | None = Field(default=None, description="`next_cursor` of the previous answer.")


class ShowOutput(Output):
    commit: CommitOutput | None = Field(default=None, description="The commit; in the first answer.")
    committer: str | None = Field(default=None, description="`name <email> date`, if not the author.")
    files: list[PatchOutput] = Field(description="What it changed, against its first parent.")
    stats: DiffStats | None = Field(default=None, description="Totals over all files; in the first answer.")
    next_cursor: str | None = Field(default=None, description="Continues the diff.")

    def render(self) -> str:
        lines = self.commit.whole() if self.commit is not None else []
        lines += [f"committed by {self.committer}"] if self.committer else []
        lines += ["", *patch_lines(self.files)] if lines else patch_lines(self.files)
        lines += total_lines(self.stats) if self.next_cursor or is_stat(self.files) else []
        return "\n".join([*lines, *next_page("git_inspect", self.next_cursor)])


class BlameOutput(Output):
    path: str = Field(description="File.")
    lines: list[str] = Field(description="`first-last commit date author: subject`; `-` is not committed.")
    next_line: int | None = Field(default=None, description="`start_line` of the next answer.")

    def render(self) -> str:
        end = [f"… continues at line {self.next_line}: repeat the call with start_line {self.next_line}"]
        return "\n".join([*self.lines, *(end if self.next_line else [])])


class TagsOutput(Output):
    tags: list[str] = Field(description="`name commit date: message`, newest first.")
    more: int | None = Field(default=None, description="Tags beyond those.")

    def render(self) -> str:
        return "\n".join([*(self.tags or ["no tags"]), *more("tags", self.more)])


@tool(Effect.READ, "git")
def git_inspect(
    call: Call, args: GitInspectInput
) -> ShowOutput | BlameOutput | TagsOutput | GitBranches | GitRemotes | GitStashes | GitWorktrees:
    """Shows a commit, who wrote the lines of a file, or lists tags, branches, remotes, stashes, worktrees.

    Use when:
    - you need to know what a commit did, why a line is there, or which branches there are
    Examples:
    - A commit: {"ref": "HEAD~2"}
    - Lines: {"what": "blame", "path": "src/app.py", "start_line": 10, "end_line": 20}
    - Branches: {"what": "branches"}
    """
    if args.what in _LISTS:
        return _LISTS[args.what](call)
    is_blame = (
        args.what == "show" and args.path and (args.start_line or args.end_line)
    )  # only blame has lines
    with call.repo.checkout.repository.opened() as handle:
        match "blame" if is_blame else args.what:
            case "blame":
                return _blame(call, handle, args)
            case "tags":
                tag_info = list_tags(handle)
                lines = [_render_tag(one) for one in tag_info[:_MOST_TAGS]]
                return TagsOutput(tags=lines, more=max(0, len(tag_info) - _MOST_TAGS) or None)
            case _:
                return _show(call, handle, args)


def _show(call: Call, handle: pygit2.Repository, args: GitInspectInput) -> ShowOutput:
    patch = cache(Comparison(call.repo.tree, handle).patch)
    if args.cursor is not None:
        files, left = page(call.session.cursors.resume(args.cursor, Rest), patch)
        return ShowOutput(files=files, next_cursor=call.session.cursors.keep(left) if left else None)
    commit = commit_of(handle, find_commit(handle, args.ref or "HEAD").oid)
    selection = Selection.of(call.repo.tree.jail, [args.path] if args.path is not None else [])
    parent = next((str(one) for one in commit.parent_ids if one in handle), None)
    before = str(commit_of(handle, parent).tree_id) if parent is not None else None
    every = changes_between(handle, before, str(commit.tree_id))
    changes = tuple(one for one in every if one.path in selection or (one.old_path or one.path) in selection)
    is_counted = len(changes) <= MOST_COUNTED
    files, left = page(Rest(changes, 0, not args.stat), patch)
    info = info_of(commit)
    return ShowOutput(
        commit=CommitOutput.model_validate(commit_fields(info, body=True)),
        committer=(
            shown(f"{info.committer.person} {info.committer.when}") if info.committer != info.author else None
        ),
        files=files,
        stats=stats([patch(one) for one in changes]) if is_counted else DiffStats(files_changed=len(changes)),
        next_cursor=call.session.cursors.keep(left) if left else None,
    )


def _blame(call: Call, handle: pygit2.Repository, args: GitInspectInput) -> BlameOutput:
    if args.path is None:
        raise InvalidArgument("Blame needs a `path`.")
    path = call.repo.tree.jail.enter(args.path)
    if args.ref is not None:
        origin = Origin(find_commit(handle, args.ref).oid, path)
        data = _content(call, handle, origin)
    else:
        place = place_at(handle, find_commit(handle, "HEAD").oid, path)
        data = clean_content(
            Attributes(handle, path), call.repo.tree.read(path), place[0] if place is not None else None
        )
        origin = Origin(None, path)
    total = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    first, last = args.start_line or 1, min(args.end_line or total, total)
    if first > last:
        raise InvalidArgument(f"{shown(path)} has {total} lines; there is no line {first} to blame.")
    lines = Blame(handle, call.check).of(origin, data, first, last)
    first_ones = lines[:_MOST_BLAMED]
    return BlameOutput(
        path=shown(path),
        lines=[_line(handle, one.first, one.length, one.origin, path) for one in first_ones],
        next_line=lines[_MOST_BLAMED].first if len(lines) > _MOST_BLAMED else None,
    )


def _content(call: Call, handle: pygit2.Repository, origin: Origin) -> bytes:
    assert origin.commit is not None, "BUG: a commit is asked for"
    place = place_at(handle, origin.commit, origin.path)
    blob = handle.get(place[0]) if place is not None else None
    if not isinstance(blob, pygit2.Blob) or kept_back(call.repo.tree.rules(), origin.path):
        text = shown(origin.path)
        raise NotFound(f"{short_oid(origin.commit)} has no file {text} that can be shown.", path=text)
    if blob.size > LARGEST:
        raise InvalidArgument(f"{shown(origin.path)} has {blob.size} bytes; the most is {LARGEST}.")
    return blob.data


def _line(handle: pygit2.Repository, first: int, length: int, origin: Origin, path: RepoPath) -> str:
    lines = f"{first}-{first + length - 1}" if length > 1 else str(first)
    if origin.commit is None:
        return f"{lines} -"
    info = info_of(commit_of(handle, origin.commit))
    text = f" ({shown(origin.path)})" if origin.path != path else ""
    author = shown(info.author.name)
    return f"{lines} {short_oid(origin.commit)}{text} {info.author.when} {author}: {shown(info.subject)}"


def _render_tag(one: TagInfo) -> str:
    when = f" {one.when}" if one.when else ""
    message = f": {shown(one.message)}" if one.message else ""
    return f"{shown(one.name)} {short_oid(one.target)}{when}{message}"
