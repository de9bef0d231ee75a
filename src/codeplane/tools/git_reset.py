from typing import Annotated

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.core.errors import InvalidArgument
from codeplane.git.ops.reset import ResetMode, reset_head, reset_paths
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.pathspec import Selection
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool


class GitResetInput(Input):
    ref: Annotated[str, synonyms("target", "commit", "revision", "to")] = Field(
        default="HEAD", min_length=1, max_length=250, description="Commit, `HEAD~1`, `HEAD@{1}`, a saved ref."
    )
    mode: Annotated[ResetMode, synonyms("type", "kind")] = Field(
        default=ResetMode.MIXED,
        description="soft: branch only; mixed: also the index; hard: also files; keep: hard without loss.",
    )
    paths: Annotated[list[str] | None, synonyms("files", "path")] = Field(
        default=None, min_length=1, max_length=1000, description="Reset only these, in the index."
    )
    force: bool = Field(default=False, description="Save and discard uncommitted work.")


@tool(Effect.WRITE, "git")
def git_reset(call: Call, args: GitResetInput) -> GitDelta:
    """Moves the current branch to a commit, and the index and files with it, depending on `mode`.

    Use when:
    - you undo commits of this branch
    Not for:
    - other branches (git_checkout, git_branch)
    Examples:
    - Undo the last commit, keep its changes: {"ref": "HEAD~1"}
    - Back to where HEAD was: {"ref": "HEAD@{1}", "mode": "keep"}
    """
    if args.paths and args.mode is not ResetMode.MIXED:
        raise InvalidArgument(
            f"A {args.mode} reset takes no paths.",
            hints=["git_checkout with ref and paths restores files."],
        )
    return GitDelta.model_validate(delta_fields(change(call, "git_reset", lambda: _act(call, args))))


def _act(call: Call, args: GitResetInput) -> Outcome:
    checkout = call.repo.checkout
    if args.paths:
        return reset_paths(checkout.repository, args.ref, Selection.of(call.repo.tree.jail, args.paths))
    return reset_head(checkout.repository, checkout.programs, args.ref, args.mode, force=args.force)
