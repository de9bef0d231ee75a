from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.lists import GitWorktrees, worktrees_of
from codeplane.core.errors import InvalidArgument
from codeplane.git.ops.worktree_removal import remove_worktree
from codeplane.git.ops.worktrees import (
    Roots,
    WorktreeOutcome,
    add_worktree,
    find_worktree,
    lock_worktree,
    plan_target,
    prune_worktrees,
    unlock_worktree,
)
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool


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
    force: bool = Field(default=False, description="Remove it with its changes, which are saved first.")
    reason: str | None = Field(default=None, max_length=500, description="Why it is locked.")


class GitWorktreeOutput(GitDelta):
    path: str | None = Field(default=None, description="Directory of the new worktree.")


@tool(Effect.WRITE, "git")
def git_worktree(call: Call, args: GitWorktreeInput) -> GitWorktrees | GitWorktreeOutput:
    """Lists, adds, removes, locks or prunes linked worktrees of this repository.

    To work in one, send its name as `workspace` with any call, or start CodePlane there.

    Use when:
    - you need two branches at once, or an experiment must not touch this checkout
    Not for:
    - switching branches here (git_checkout)
    Examples:
    - A new branch: {"action": "add", "path": "fix-login"}
    - Remove it: {"action": "remove", "path": "fix-login"}
    """
    checkout = call.repo.checkout
    roots = Roots.of(checkout.repository, checkout.settings.git.worktree_roots)
    if args.action == "list":
        return worktrees_of(call)
    result = change(call, "git_worktree", _act(call, args, roots), alone=False)
    return GitWorktreeOutput(**delta_fields(result), path=result.outcome.path)


def _act(call: Call, args: GitWorktreeInput, roots: Roots) -> Callable[[], WorktreeOutcome]:
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    if args.action == "prune":
        return lambda: prune_worktrees(repository)
    if args.path is None:
        raise InvalidArgument(f"The action {args.action} needs path, a name such as fix-login.")
    if args.action == "add":
        place = roots.enter(args.path)
        goal = plan_target(repository, place, args.ref, args.create)
        return lambda: add_worktree(repository, programs, place, goal)
    worktree = find_worktree(repository, args.path)
    match args.action:
        case "lock":
            return lambda: lock_worktree(worktree, args.reason or "")
        case "unlock":
            return lambda: unlock_worktree(worktree)
        case _:
            return lambda: remove_worktree(repository, roots, worktree, force=args.force)
