import json
from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from codeplane.core.errors import InvalidArgument
from codeplane.git.worktree_removal import remove_worktree
from codeplane.git.worktrees import (
    Roots,
    Worktree,
    WorktreeOutcome,
    add_worktree,
    find_worktree,
    list_worktrees,
    lock_worktree,
    plan_goal,
    prune_worktrees,
    unlock_worktree,
    where,
)
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.git import change
from codeplane.tools._git import GitDelta, delta_fields, short
from codeplane.tools._registry import Effect, Input, Output, synonyms, tool

_MOST = 100


class GitWorktreeInput(Input):
    action: Literal["list", "add", "remove", "lock", "unlock", "prune"] = Field(
        default="list", description="What to do."
    )
    path: Annotated[str | None, synonyms("name", "worktree")] = Field(
        default=None, max_length=4000, description="Name, or path below a directory for worktrees."
    )
    ref: Annotated[str | None, synonyms("branch", "commit", "start")] = Field(
        default=None, max_length=250, description="Branch or commit. Default: a branch named as the path."
    )
    create: Annotated[str | None, synonyms("new_branch", "create_branch")] = Field(
        default=None, max_length=250, description="New branch, at ref or HEAD."
    )
    force: bool = Field(default=False, description="Remove with its changes, which are saved first.")
    reason: str | None = Field(default=None, max_length=500, description="Why it is locked.")


class WorktreeLine(Output):
    path: str = Field(description="Directory.")
    branch: str | None = Field(default=None, description="None when detached.")
    head: str | None = Field(default=None, description="Commit.")
    primary: bool | None = Field(default=None, description="Where the repository itself is.")
    here: bool | None = Field(default=None, description="Where this server works.")
    locked: str | None = Field(default=None, description="Why, if it is.")
    gone: bool | None = Field(default=None, description="Its directory is not there.")


class GitWorktrees(Output):
    worktrees: list[WorktreeLine] = Field(description="The primary checkout first.")
    roots: list[str] = Field(description="Directories that worktrees may be made in.")
    where: str | None = Field(default=None, description="Where you are, in a linked one.")


class GitWorktreeOutput(GitDelta):
    path: str | None = Field(default=None, description="Directory that was made.")


@tool(Effect.WRITE, "git")
def git_worktree(call: Call, args: GitWorktreeInput) -> GitWorktrees | GitWorktreeOutput:
    """Lists, makes, removes, locks or forgets linked worktrees of this repository.

    To work in one, start CodePlane there: this server stays in its own directory.

    Use when:
    - two branches are needed at once, or experiments must not touch this checkout
    Not for:
    - switching branches here (git_checkout)
    Examples:
    - New branch beside: {"action": "add", "path": "fix-login"}
    - Drop it: {"action": "remove", "path": "fix-login"}
    """
    checkout = call.repo.checkout
    roots = Roots.of(checkout.repository, checkout.settings.git.worktree_roots)
    if args.action == "list":
        return _listing(call, roots)
    changed = change(call, "git_worktree", _act(call, args, roots), alone=False)
    return GitWorktreeOutput(**delta_fields(changed), path=changed.outcome.path)


def _act(call: Call, args: GitWorktreeInput, roots: Roots) -> Callable[[], WorktreeOutcome]:
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    if args.action == "prune":
        return lambda: prune_worktrees(repository)
    if args.path is None:
        name = (args.create or args.ref or "fix-login").rpartition("/")[2]
        corrected = {**args.model_dump(exclude_unset=True), "path": name}
        raise InvalidArgument(
            f"The action {args.action} needs path.",
            hints=[f"git_worktree {json.dumps(corrected, ensure_ascii=False)}"],
        )
    if args.action == "add":
        place = roots.enter(args.path)
        goal = plan_goal(repository, place, args.ref, args.create)
        return lambda: add_worktree(repository, programs, place, goal)
    found = find_worktree(repository, args.path)
    match args.action:
        case "lock":
            return lambda: lock_worktree(found, args.reason or "")
        case "unlock":
            return lambda: unlock_worktree(found)
        case _:
            return lambda: remove_worktree(repository, roots, found, force=args.force)


def _listing(call: Call, roots: Roots) -> GitWorktrees:
    repository = call.repo.checkout.repository
    found = list_worktrees(repository)
    if len(found) > _MOST:
        call.warn(f"{len(found) - _MOST} more worktrees.")
    return GitWorktrees(
        worktrees=[_line(one, one.path == repository.root) for one in found[:_MOST]],
        roots=[str(one) for one in roots.places],
        where=where(repository),
    )


def _line(one: Worktree, is_here: bool) -> WorktreeLine:
    return WorktreeLine(
        path=shown(str(one.path)),
        branch=shown(one.branch) if one.branch else None,
        head=short(one.commit) if one.commit else None,
        primary=True if one.name is None else None,
        here=True if is_here else None,
        locked=(shown(one.locked) or "yes") if one.locked is not None else None,
        gone=one.gone or None,
    )
