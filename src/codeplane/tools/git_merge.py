from enum import StrEnum
from typing import Annotated

from pydantic import Field
from pygit2.enums import MergeFavor

from codeplane.answers.git.change import GitDelta, StopOutput, delta_fields, stop_of
from codeplane.answers.git.text import counts, stop_lines
from codeplane.answers.output import Output
from codeplane.answers.pages import more
from codeplane.core.errors import InvalidArgument
from codeplane.git.merge.merge import MergeOptions, merge
from codeplane.git.merge.preview import content_in, preview_merge
from codeplane.git.merge.resume import Resolution, abort_merge, continue_merge
from codeplane.git.merge.sequencer import Picking, pick_commits
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.pathspec import Selection
from codeplane.git.staging.conflicts import describe_conflicts
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.operation.git import change, tree_reader
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.working_tree.status.comparison import kept_back

MOST_PICKS = 100
_MOST_FILES = 100


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
    ] = Field(default=None, description="Branch or commit to merge; for cherry_pick and revert, commits.")
    message: str | None = Field(default=None, max_length=20_000, description="Instead of the default.")
    no_ff: bool = Field(default=False, description="Always make a merge commit.")
    ff_only: Annotated[bool, synonyms("fast_forward_only")] = Field(
        default=False, description="Refuse if it can't fast-forward."
    )
    squash: bool = Field(default=False, description="Stage the changes without committing.")
    favor: Annotated[Favor | None, synonyms("strategy", "strategy_option")] = Field(
        default=None, description="Side to take where lines conflict."
    )
    mainline: int | None = Field(
        default=None, ge=1, le=64, description="Parent to compare with, when you pick or revert a merge."
    )
    resolved: Annotated[list[str], synonyms("paths", "files")] = Field(
        default=[], description="With continue: files to take as they are, or as deleted."
    )
    dry_run: Annotated[bool, synonyms("preview")] = Field(
        default=False, description="With merge: only show what it would change, and the conflicts."
    )


class GitMergeOutput(GitDelta):
    commit: str | None = Field(default=None, description="The new commit, if HEAD moved.")


class MergePreview(Output):
    dry_run: bool = Field(default=True, description="Nothing was changed.")
    summary: str = Field(description="What the merge would do.")
    insertions: int | None = Field(default=None, description="Lines added.")
    deletions: int | None = Field(default=None, description="Lines removed.")
    files: list[str] | None = Field(default=None, description="`A`, `M`, `D` or `T`, and the path.")
    more_files: int | None = Field(default=None, description="Files beyond those.")
    conflicts: list[StopOutput] | None = Field(default=None, description="Conflicts it would stop at.")
    in_the_way: list[str] | None = Field(default=None, description="Local changes that would block it.")

    def render(self) -> str:
        paths = {one.path for one in self.conflicts or ()}
        size = "" if paths else counts(self.insertions, self.deletions)  # the markers are not part of it
        lines = [f"{self.summary}{size}", *(one for one in self.files or () if one[2:] not in paths)]
        lines += more("files", self.more_files)
        for one in self.conflicts or ():
            lines += stop_lines(one)
        if self.in_the_way:
            lines.append(f"local changes in the way: {', '.join(self.in_the_way)}")
        return "\n".join(lines)


@tool(Effect.WRITE, "git")
def git_merge(call: Call, args: GitMergeInput) -> GitMergeOutput | MergePreview:
    """Merges, cherry-picks and reverts; continues or aborts what has stopped on conflicts.

    Conflicts are shown with both sides. Remove the conflict markers, then continue: a file without markers
    counts as resolved; name other files, and deletions, in `resolved`. Local changes elsewhere are kept.
    Abort saves what was done since.

    Use when:
    - you bring in commits of another branch, or revert a commit
    Not for:
    - a linear history (git_rebase)
    Examples:
    - A branch: {"ref": "feature"}
    - Two commits: {"action": "cherry_pick", "ref": ["1a2b3c4", "feature~1"]}
    - Revert one: {"action": "revert", "ref": "HEAD~2"}
    - What would conflict: {"ref": "feature", "dry_run": true}
    - After conflicts: {"action": "continue"}
    """
    checkout = call.repo.checkout
    repository, programs = checkout.repository, checkout.programs

    def act() -> Outcome:
        match args.action:
            case MergeAction.MERGE:
                return merge(repository, programs, _list_refs(args)[0], _how(args))
            case MergeAction.CHERRY_PICK | MergeAction.REVERT:
                reverts = args.action is MergeAction.REVERT
                picking = Picking(reverts=reverts, mainline=args.mainline, favor=_merge_favor(args))
                return pick_commits(repository, programs, _list_refs(args), picking)
            case MergeAction.CONTINUE:
                selection = Selection.of(call.repo.tree.jail, args.resolved)
                resolution = Resolution(tree_reader(call), selection.paths, args.message)
                return continue_merge(repository, programs, resolution)
            case MergeAction.ABORT:
                return abort_merge(repository, programs)

    _check(args)
    if args.dry_run:
        return _merge_preview(call, args)
    result = change(call, "git_merge", act)
    commit = result.outcome.commit
    return GitMergeOutput(**delta_fields(result), commit=commit if commit != result.after.commit else None)


def _merge_preview(call: Call, args: GitMergeInput) -> MergePreview:
    repository, rules = call.repo.checkout.repository, call.repo.tree.rules()
    preview = preview_merge(repository, _list_refs(args)[0], _how(args))

    def read(path: str) -> bytes | None:
        return None if kept_back(rules, path) else content_in(repository, preview.tree, path)

    for note in preview.notes:
        call.warn(note)
    status = call.repo.tree.git.look()
    local = {one.path for one in (*status.staged, *status.modified)} | set(status.untracked)
    files = [f"{one.kind} {shown(one.path)}" for one in preview.changes]
    return MergePreview(
        summary=preview.summary,
        insertions=preview.insertions or None,
        deletions=preview.deletions or None,
        files=files[:_MOST_FILES] or None,
        more_files=max(0, len(files) - _MOST_FILES) or None,
        conflicts=[stop_of(one) for one in describe_conflicts(preview.conflicts, read)] or None,
        in_the_way=sorted(shown(one.path) for one in preview.changes if one.path in local) or None,
    )


def _list_refs(args: GitMergeInput) -> list[str]:
    return [args.ref] if isinstance(args.ref, str) else args.ref or []


def _how(args: GitMergeInput) -> MergeOptions:
    return MergeOptions(
        message=args.message,
        no_ff=args.no_ff,
        ff_only=args.ff_only,
        squash=args.squash,
        favor=_merge_favor(args),
    )


def _merge_favor(args: GitMergeInput) -> MergeFavor:
    match args.favor:
        case Favor.OURS:
            return MergeFavor.OURS
        case Favor.THEIRS:
            return MergeFavor.THEIRS
        case None:
            return MergeFavor.NORMAL


def _check(args: GitMergeInput) -> None:
    refs = _list_refs(args)
    if args.action in (MergeAction.CONTINUE, MergeAction.ABORT):
        return
    if not refs:
        raise InvalidArgument(f"{args.action} needs ref.", hints=['For example "ref": "feature".'])
    if args.action is MergeAction.MERGE and len(refs) > 1:
        raise InvalidArgument("Merge one branch at a time.")
    if args.dry_run and args.action is not MergeAction.MERGE:
        raise InvalidArgument("Only a merge has a preview.")
    if len(refs) > MOST_PICKS:
        raise InvalidArgument(f"At most {MOST_PICKS} commits at a time.")
    if args.no_ff and (args.ff_only or args.squash):
        raise InvalidArgument("no_ff can't be combined with ff_only or squash.")
