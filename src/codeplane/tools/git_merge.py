from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pygit2.enums import MergeFavor

from codeplane.core.errors import InvalidArgument
from codeplane.git.ending import Resolution, abandon, conclude
from codeplane.git.merging import How, merge
from codeplane.git.outcome import Outcome
from codeplane.git.picking import Picking, pick
from codeplane.git.selection import Selection
from codeplane.session import Call
from codeplane.session.git import change, reader
from codeplane.tools._git import GitDelta, delta_fields
from codeplane.tools._registry import Effect, Input, synonyms, tool

MOST_PICKS = 100


class MergeAction(StrEnum):
    MERGE = "merge"
    CHERRY_PICK = "cherry_pick"
    REVERT = "revert"
    CONTINUE = "continue"
    ABORT = "abort"


class Favor(StrEnum):
    OURS = "ours"
    THEIRS = "theirs"


class GitMergeInput(Input):
    action: MergeAction = Field(default=MergeAction.MERGE, description="What to do.")
    ref: Annotated[
        str | list[str] | None, synonyms("refs", "target", "branch", "commit", "commits", "source")
    ] = Field(default=None, description="What is merged; for cherry_pick and revert one or several commits.")
    message: str | None = Field(default=None, max_length=20_000, description="Instead of the usual one.")
    no_ff: bool = Field(default=False, description="Make a commit even where a fast-forward would do.")
    ff_only: Annotated[bool, synonyms("fast_forward_only")] = Field(
        default=False, description="Refuse where a fast-forward will not do."
    )
    squash: bool = Field(default=False, description="Stage the changes as one; commit nothing.")
    favor: Annotated[Favor | None, synonyms("strategy", "strategy_option")] = Field(
        default=None, description="The side that is taken where lines conflict."
    )
    mainline: int | None = Field(
        default=None, ge=1, le=64, description="Which parent counts, for a merge that is picked or reverted."
    )
    resolved: Annotated[list[str], synonyms("paths", "files")] = Field(
        default=[], description="With continue: files to take as they are, or as deleted."
    )


class GitMergeOutput(GitDelta):
    commit: str | None = Field(default=None, description="That was made, where it is not HEAD now.")


@tool(Effect.WRITE, "git")
def git_merge(call: Call, args: GitMergeInput) -> GitMergeOutput:
    """Merges, cherry-picks and reverts; continues or aborts what has stopped on conflicts.

    Conflicts are told with both sides. Edit the marks away, then continue: a text without marks counts as
    resolved; name others, and deletions, in `resolved`. Local changes elsewhere are carried along. Abort
    saves what was done since.

    Use when:
    - commits of another branch are to be part of this one, or a commit is to be undone by another
    Not for:
    - a linear history (git_rebase)
    Examples:
    - A branch: {"ref": "feature"}
    - Two commits: {"action": "cherry_pick", "ref": ["1a2b3c4", "feature~1"]}
    - Undo one: {"action": "revert", "ref": "HEAD~2"}
    - After conflicts: {"action": "continue"}
    """
    checkout = call.repo.checkout
    repository, programs = checkout.repository, checkout.programs

    def act() -> Outcome:
        match args.action:
            case MergeAction.MERGE:
                return merge(repository, programs, _refs(args)[0], _how(args))
            case MergeAction.CHERRY_PICK | MergeAction.REVERT:
                reverts = args.action is MergeAction.REVERT
                picking = Picking(reverts=reverts, mainline=args.mainline, favor=_favor(args))
                return pick(repository, programs, _refs(args), picking)
            case MergeAction.CONTINUE:
                chosen = Selection.of(call.repo.tree.jail, args.resolved)
                resolution = Resolution(reader(call), chosen.paths, args.message)
                return conclude(repository, programs, resolution)
            case MergeAction.ABORT:
                return abandon(repository, programs)

    _check(args)
    changed = change(call, "git_merge", act)
    made = changed.outcome.commit
    return GitMergeOutput(**delta_fields(changed), commit=made if made != changed.after.commit else None)


def _refs(args: GitMergeInput) -> list[str]:
    return [args.ref] if isinstance(args.ref, str) else args.ref or []


def _how(args: GitMergeInput) -> How:
    return How(
        message=args.message,
        no_ff=args.no_ff,
        ff_only=args.ff_only,
        squash=args.squash,
        favor=_favor(args),
    )


def _favor(args: GitMergeInput) -> MergeFavor:
    match args.favor:
        case Favor.OURS:
            return MergeFavor.OURS
        case Favor.THEIRS:
            return MergeFavor.THEIRS
        case None:
            return MergeFavor.NORMAL


def _check(args: GitMergeInput) -> None:
    refs = _refs(args)
    if args.action in (MergeAction.CONTINUE, MergeAction.ABORT):
        return
    if not refs:
        raise InvalidArgument(f"{args.action} needs ref.", hints=['{"ref": "feature"}'])
    if args.action is MergeAction.MERGE and len(refs) > 1:
        raise InvalidArgument("Merge one branch at a time.")
    if len(refs) > MOST_PICKS:
        raise InvalidArgument(f"At most {MOST_PICKS} commits at a time.")
    if args.no_ff and (args.ff_only or args.squash):
        raise InvalidArgument("no_ff goes neither with ff_only nor with squash.")
