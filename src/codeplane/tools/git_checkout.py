from typing import Annotated

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.core.errors import InvalidArgument
from codeplane.git.ops.checkout import check_out, find_target, new_branch, restore_paths
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.pathspec import Selection
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.session.working_set import check_restored
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST_PATHS = 1000


class GitCheckoutInput(Input):
    ref: Annotated[str | None, synonyms("branch", "target", "name", "commit", "revision")] = Field(
        default=None,
        max_length=250,
        description="Branch, tag, commit or `-`; with paths, their source.",
    )
    create: Annotated[bool, synonyms("create_branch", "new_branch", "b")] = Field(
        default=False, description="Make the branch `ref`."
    )
    start: Annotated[str | None, synonyms("start_point", "base", "from", "from_ref", "start_ref")] = Field(
        default=None,
        max_length=250,
        description="Where a new branch starts; HEAD.",
        json_schema_extra=UNLISTED,
    )
    paths: Annotated[list[str] | None, synonyms("files", "path")] = Field(
        default=None,
        min_length=1,
        max_length=_MOST_PATHS,
        description="Restore these from `ref`, or the index.",
    )
    detach: bool = Field(default=False, description="Detach HEAD at the commit.", json_schema_extra=UNLISTED)
    force: bool = Field(default=False, description="Save and discard work in the way.")


@tool(Effect.WRITE, "git", standard=True)
def git_checkout(call: Call, args: GitCheckoutInput) -> GitDelta:
    """Switches to a branch or commit, keeping local changes, or restores files.

    Use when:
    - you switch or begin a branch, or take files back to a commit
    Examples:
    - A new branch: {"ref": "fix-login", "create": true}
    - Files as in main: {"ref": "main", "paths": ["src/app.py"]}
    """
    _check(args)
    return GitDelta.model_validate(delta_fields(change(call, "git_checkout", lambda: _act(call, args))))


def _act(call: Call, args: GitCheckoutInput) -> Outcome:
    repository, programs = call.repo.checkout.repository, call.repo.checkout.programs
    if args.paths:
        selection = Selection.of(call.repo.tree.jail, args.paths)
        check_restored(call, selection, args.ref)
        return restore_paths(repository, programs, selection, ref=args.ref, force=args.force)
    ref = args.ref or ""
    if args.create:
        goal = new_branch(repository, ref, args.start)
    else:
        goal = find_target(repository, ref, detach=args.detach)
    return check_out(repository, programs, goal, force=args.force)


def _check(args: GitCheckoutInput) -> None:
    if not args.ref and not args.paths:
        raise InvalidArgument("git_checkout needs ref, or paths to restore.")
    if args.paths and (args.create or args.detach):
        raise InvalidArgument("create and detach can't be combined with paths.")
    if args.start is not None and not args.create:
        raise InvalidArgument(
            "start is for a new branch.",
            hints=[f'git_checkout {{"ref": "{args.ref}", "create": true, "start": "{args.start}"}}'],
        )
