import json
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.lists import GitBranches, branches_of
from codeplane.core.errors import InvalidArgument
from codeplane.git.ops.branches import (
    BranchOutcome,
    create_branch,
    delete_branch,
    rename_branch,
    set_upstream,
)
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool


class GitBranchInput(Input):
    action: Literal["list", "create", "delete", "rename", "set_upstream", "unset_upstream"] = Field(
        default="list", description="What to do."
    )
    name: Annotated[str | None, synonyms("branch", "pattern")] = Field(
        default=None, max_length=250, description="Branch; for list, part of the name."
    )
    ref: Annotated[str | None, synonyms("start", "start_point", "from", "base", "upstream", "target")] = (
        Field(default=None, max_length=250, description="Where a new one starts; what set_upstream tracks.")
    )
    new_name: Annotated[str | None, synonyms("to")] = Field(
        default=None, max_length=250, description="For rename."
    )
    remote: Annotated[bool, synonyms("remotes")] = Field(default=False, description="List remote branches.")
    force: bool = Field(
        default=False, description="Delete unmerged work; create or rename over an existing branch."
    )
    limit: int = Field(default=100, ge=1, le=1000, description="Most to list.")


class GitBranchOutput(GitDelta):
    was: str | None = Field(
        default=None, description="Commit it pointed to; `create` with it as `ref` restores it."
    )


@tool(Effect.WRITE, "git")
def git_branch(call: Call, args: GitBranchInput) -> GitBranches | GitBranchOutput:
    """Lists, creates, deletes or renames branches, or sets what one tracks.

    Use when:
    - you look for a branch or clean up
    Not for:
    - switching to a branch, new or not (git_checkout)
    Examples:
    - All: {}
    - New: {"action": "create", "name": "work"}
    - Gone: {"action": "delete", "name": "done"}
    """
    if args.action == "list":
        listing = branches_of(call, remote=args.remote, contains=args.name or "", most=args.limit)
        if (
            args.name
            and "action" not in args.model_fields_set
            and args.name not in {one.name for one in listing.branches}
        ):
            call.warn(f"No branch is named {shown(args.name)}, and none was created: the action was list.")
            call.next_actions.append(f'git_branch {{"action": "create", "name": {json.dumps(args.name)}}}')
        return listing
    result = change(call, "git_branch", _act(call, args), alone=False)
    return GitBranchOutput(**delta_fields(result), was=result.outcome.old_tip)


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
