import json
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from codeplane.core.errors import InvalidArgument
from codeplane.git.branches import (
    Branch,
    BranchOutcome,
    create_branch,
    delete_branch,
    list_branches,
    rename_branch,
    set_upstream,
)
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.git import change
from codeplane.tools._git import GitDelta, delta_fields, short
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

_LONGEST_SUBJECT = 100


class GitBranchInput(Input):
    action: Literal["list", "create", "delete", "rename", "set_upstream", "unset_upstream"] = Field(
        default="list", description="What to do."
    )
    name: Annotated[str | None, synonyms("branch", "pattern")] = Field(
        default=None, max_length=250, description="Branch; for list, a text in the name."
    )
    ref: Annotated[str | None, synonyms("start", "start_point", "from", "base", "upstream", "target")] = (
        Field(default=None, max_length=250, description="Where a new one begins; what set_upstream follows.")
    )
    new_name: Annotated[str | None, synonyms("to")] = Field(
        default=None, max_length=250, description="For rename."
    )
    remote: Annotated[bool, synonyms("remotes")] = Field(default=False, description="List the remotes' ones.")
    force: bool = Field(
        default=False, description="Delete what is not merged; create or rename over one that exists."
    )
    limit: int = Field(default=100, ge=1, le=1000, description="Most to list.")


class BranchOutput(Output):
    name: str = Field(description="Name.")
    commit: str = Field(description="Last commit.")
    subject: str = Field(description="Its first line.")
    current: bool | None = Field(default=None, description="Whether it is checked out here.")
    upstream: str | None = Field(default=None, description="What it follows.")
    ahead: int | None = Field(default=None, description="Commits that the upstream does not have.")
    behind: int | None = Field(default=None, description="Commits that only the upstream has.")
    upstream_gone: bool | None = Field(
        default=None, description="Whether the upstream is not there any more."
    )
    worktree: str | None = Field(default=None, description="Other checkout that has it.")


class GitBranches(Output):
    branches: list[BranchOutput] = Field(description="By name.")
    more: int | None = Field(default=None, description="Branches beyond those.")


class GitBranchOutput(GitDelta):
    was: str | None = Field(
        default=None, description="Commit that the branch had; `create` with it as `ref` brings it back."
    )


@tool(Effect.WRITE, "git")
def git_branch(call: Call, args: GitBranchInput) -> GitBranches | GitBranchOutput:
    """Lists branches, or makes, deletes or renames one, or sets what it follows.

    Use when:
    - you look for a branch, or tidy up
    Not for:
    - switching to a branch, new or not (git_checkout)
    Examples:
    - All: {}
    - New: {"action": "create", "name": "work"}
    - Gone: {"action": "delete", "name": "done"}
    """
    if args.action == "list":
        repository = call.repo.checkout.repository
        found, more = list_branches(repository, remote=args.remote, contains=args.name or "", most=args.limit)
        if (
            args.name
            and "action" not in args.model_fields_set
            and args.name not in {one.name for one in found}
        ):
            call.warn(f"There is no branch {shown(args.name)}, and none was made: the action was list.")
            call.next_actions.append(f'git_branch {{"action": "create", "name": {json.dumps(args.name)}}}')
        return GitBranches(branches=[_told(one) for one in found], more=more or None)
    changed = change(call, "git_branch", _act(call, args), alone=False)
    return GitBranchOutput(**delta_fields(changed), was=changed.outcome.was)


def _act(call: Call, args: GitBranchInput) -> Callable[[], BranchOutcome]:
    repository = call.repo.checkout.repository
    match args.action:
        case "create":
            name = _needed(args, "name", args.name)
            return lambda: create_branch(repository, name, args.ref, force=args.force)
        case "delete":
            name = _needed(args, "name", args.name)
            return lambda: delete_branch(repository, name, force=args.force)
        case "rename":
            new_name = _needed(args, "new_name", args.new_name)
            return lambda: rename_branch(repository, args.name, new_name, force=args.force)
        case "set_upstream":
            upstream = _needed(args, "ref", args.ref)
            return lambda: set_upstream(repository, args.name, upstream)
        case _:
            return lambda: set_upstream(repository, args.name, None)


def _needed(args: GitBranchInput, name: str, value: str | None) -> str:
    if not value:
        raise InvalidArgument(f"git_branch with action {args.action} needs {name}.")
    return value


def _told(one: Branch) -> BranchOutput:
    followed = one.upstream
    return BranchOutput(
        name=shown(one.name),
        commit=short(one.commit),
        subject=shown(one.subject)[:_LONGEST_SUBJECT],
        current=one.is_current or None,
        upstream=shown(followed.name) if followed else None,
        ahead=(followed.ahead or None) if followed else None,
        behind=(followed.behind or None) if followed else None,
        upstream_gone=(followed is not None and followed.ahead is None) or None,
        worktree=one.worktree,
    )
