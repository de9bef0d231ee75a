"""Rebasing the current branch: planning, starting, continuing, skipping and aborting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import pygit2

from codeplane.core.errors import GitFailed, GitUnfinished
from codeplane.git.commit.cleanup import clean_message
from codeplane.git.commit.create import move_ref
from codeplane.git.commit.messages import split_conflicts
from codeplane.git.history.commit_info import message_of
from codeplane.git.history.tree_diff import unstaged_paths
from codeplane.git.merge.apply_result import check_nothing_staged, restore_tree, without_force
from codeplane.git.merge.rebase_range import Range, apply_autosquash, check_steps, range_of
from codeplane.git.merge.rebase_todo import (
    DETACHED,
    Progress,
    Step,
    clear_progress,
    read_progress,
    write_progress,
)
from codeplane.git.merge.replay import RebaseOutcome, RebaseState, Replay
from codeplane.git.merge.resolve import resolve_conflicts
from codeplane.git.merge.resume import Resolution
from codeplane.git.repo.objects import SUBMODULE, find_commit
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import (
    MERGE_MSG,
    REBASE_APPLY,
    REBASE_MERGE,
    check_idle,
    check_written,
    clear_merge,
    read_state,
)
from codeplane.git.repo.upstream import find_upstream as followed
from codeplane.git.worktree.checkout_plan import Risk
from codeplane.git.worktree.checkout_tree import work_at_risk
from codeplane.jail import shown
from codeplane.process import Programs

_MOST_NAMED: Final = 20


@dataclass(frozen=True)
class Plan:
    """A planned rebase, with all names resolved to ids."""

    upstream: str
    onto: str
    head: str
    range: Range
    steps: tuple[Step, ...]


def plan_rebase(
    handle: pygit2.Repository, upstream: str | None, onto: str | None, *, autosquash: bool = False
) -> Plan:
    """Plans to replay every commit that `upstream` lacks on `onto`, or on upstream itself."""
    if handle.head_is_unborn:
        raise GitFailed("There is no commit to rebase yet.")
    if upstream is None:
        tracking = followed(handle)
        if tracking is None:
            # Callers who send `onto` alone usually mean `upstream` as well.
            raise GitFailed(
                "The branch tracks nothing: name `upstream`.",
                hints=[Remedy(Fix.REBASE_ONTO, upstream=onto or "main")],
            )
        upstream = tracking.name
    base = find_commit(handle, upstream).oid
    head = str(handle.head.target)
    within = range_of(handle, base, head)
    steps = apply_autosquash(handle, within.steps) if autosquash else within.steps
    return Plan(base, find_commit(handle, onto).oid if onto else base, head, within, tuple(steps))


def start_rebase(
    repository: Repository, programs: Programs, handle: pygit2.Repository, plan: Plan, steps: Sequence[Step]
) -> RebaseOutcome:
    """Runs a plan with the given steps, or with its own."""
    check_idle(handle)
    _check_clean(handle, "A rebase")
    todo = check_steps(steps, plan.range) if steps else list(plan.steps)
    if not steps and todo == plan.range.steps and _is_there(handle, plan):
        return RebaseOutcome("already up to date", completed=0, total=0)
    name = DETACHED if handle.head_is_detached else handle.head.name
    progress = Progress(name, plan.onto, plan.head, todo)
    return Replay(repository, programs, handle, progress, plan.onto).run()


def continue_rebase(repository: Repository, programs: Programs, resolution: Resolution) -> RebaseOutcome:
    """Commits what was resolved or edited, then runs the remaining steps."""
    with repository.opened() as handle:
        progress = _read_stopped(repository, handle)
        check_written(repository)
        waiting = read_state(repository, MERGE_MSG)
        conflicts = resolve_conflicts(repository, handle, resolution.resolved_paths, waiting, resolution.read)
        if conflicts:
            count = len(conflicts)
            return RebaseOutcome(
                f"rebase in progress: conflicts left in {count} path{'s' if count != 1 else ''}",
                conflicts=conflicts,
                state=RebaseState.CONFLICT,
                completed=len(progress.done) - 1,
                total=progress.total,
                current=progress.stopped,
            )
        _check_all_staged(handle)
        replay = Replay(repository, programs, handle, progress, str(handle.head.target))
        _drop_remarks(handle, replay, progress)
        _commit_step(repository, handle, replay, progress, resolution.message)
        progress.stopped = progress.amends = None
        clear_merge(repository)
        _move_head(repository, handle, progress, replay.at)
        return replay.run()


def skip_commit(repository: Repository, programs: Programs) -> RebaseOutcome:
    """Skips the commit at which the rebase stopped; work on it is saved."""
    with repository.opened() as handle:
        progress = _read_stopped(repository, handle)
        head = handle.head.peel(pygit2.Commit)
        put = restore_tree(
            repository, programs, handle, str(head.tree_id), "before a commit was skipped in a rebase"
        )
        replay = Replay(repository, programs, handle, progress, str(head.id))
        _drop_remarks(handle, replay, progress)
        progress.stopped = progress.amends = None
        progress.settle(replay.at)
        clear_merge(repository)
        _move_head(repository, handle, progress, replay.at)
        outcome = replay.run()
        return replace(outcome, saved=put.saved or outcome.saved, notes=(*put.notes, *outcome.notes))


def abort_rebase(repository: Repository, programs: Programs) -> RebaseOutcome:
    """Restores branch, index and files as they were; work done since is saved."""
    with repository.opened() as handle:
        _check_own(repository)
        name, origin = (
            read_state(repository, f"{REBASE_MERGE}/{file}").strip() for file in ("head-name", "orig-head")
        )
        if (repository.git_dir / REBASE_MERGE / "autostash").exists():
            raise GitFailed(
                "Git has stashed local changes for this rebase and must restore them itself.",
                hints=["git rebase --abort"],
            )
        tree = str(find_commit(handle, origin).tree)
        put = restore_tree(repository, programs, handle, tree, "before a rebase was aborted")
        reflog = f"rebase (abort): returning to {name if name != DETACHED else origin}"
        if name != DETACHED:
            branch = handle.references.get(name)
            if branch is not None and str(branch.target) != origin:
                # A rebase interrupted at its very end has moved it; the reflog has where it was.
                move_ref(handle, name, origin, str(branch.target), reflog)
            handle.create_reference_symbolic("HEAD", name, True, message=reflog)
        else:
            handle.create_reference_direct("HEAD", pygit2.Oid(hex=origin), True, message=reflog)
        clear_merge(repository)
        clear_progress(repository)
        return RebaseOutcome("rebase aborted", saved=put.saved, notes=put.notes, state=RebaseState.ABORTED)


def _drop_remarks(handle: pygit2.Repository, replay: Replay, progress: Progress) -> None:
    """Makes a commit anew that git has made of several and would take its own remarks out of at the end."""
    head = handle[replay.at].peel(pygit2.Commit)
    if progress.is_remarked and progress.amends == replay.at:
        message = clean_message(handle, message_of(head), "strip")
        replay.commit(str(head.tree_id), message, head, [str(oid) for oid in head.parent_ids])
        progress.amends = replay.at


def _commit_step(
    repository: Repository, handle: pygit2.Repository, replay: Replay, progress: Progress, message: str | None
) -> None:
    """Commits the index as the step demands at which the rebase stopped."""
    tree, head = str(handle.index.write_tree()), handle[replay.at].peel(pygit2.Commit)
    step = progress.done[-1] if progress.done else None
    is_same = tree == str(head.tree_id)
    if step is None or progress.stopped is None:
        if not is_same:
            raise GitUnfinished("There are staged changes that no step made.", hints=[Remedy(Fix.COMMIT)])
        return
    own_message = message.rstrip() + "\n" if message is not None else None
    if progress.amends is not None:
        if progress.amends != str(head.id):
            if not is_same:
                raise GitUnfinished("HEAD has moved and changes are staged.", hints=[Remedy(Fix.COMMIT)])
        elif step.verb.melds or not is_same or own_message is not None:
            old_message = replay.meld_messages(step) if step.verb.melds else message_of(head)
            replay.commit(tree, own_message or old_message, head, [str(oid) for oid in head.parent_ids])
        replay.settle(step)
    elif not is_same:
        waiting, _ = split_conflicts(read_state(repository, MERGE_MSG))
        like = handle[step.commit].peel(pygit2.Commit)
        replay.commit(tree, own_message or waiting or message_of(like), like, [str(head.id)])
        replay.settle(step)


def _move_head(repository: Repository, handle: pygit2.Repository, progress: Progress, at: str) -> None:
    """Moves HEAD to the new commit, so that a crash from here on loses nothing."""
    write_progress(repository, handle, progress)
    if str(handle.head.target) != at:
        handle.create_reference_direct("HEAD", pygit2.Oid(hex=at), True, message="rebase (continue)")


def _read_stopped(repository: Repository, handle: pygit2.Repository) -> Progress:
    _check_own(repository)
    if not handle.head_is_detached:
        raise GitUnfinished("The rebase was interrupted before HEAD moved.", hints=[Remedy(Fix.ABORT_REBASE)])
    return read_progress(repository, handle)


def _check_own(repository: Repository) -> None:
    if (repository.git_dir / REBASE_APPLY).is_dir():
        raise GitUnfinished(
            "Git started this rebase in a way that only git can continue.",
            hints=["git rebase --continue", "git rebase --abort"],
        )
    if not (repository.git_dir / REBASE_MERGE).is_dir():
        raise GitUnfinished("No rebase is in progress.", hints=[Remedy(Fix.START_REBASE)])


def _check_clean(handle: pygit2.Repository, what: str) -> None:
    check_nothing_staged(handle, what)
    if loose := _unstaged_files(handle):
        raise without_force(work_at_risk(dict.fromkeys(loose, Risk.MODIFIED), what))


def _check_all_staged(handle: pygit2.Repository) -> None:
    if loose := _unstaged_files(handle):
        raise GitUnfinished(
            f"Unstaged changes: {', '.join(map(shown, loose[:_MOST_NAMED]))}.",
            hints=[Remedy(Fix.STAGE_OR_STASH)],
        )


def _unstaged_files(handle: pygit2.Repository) -> list[str]:
    return [path for path in sorted(unstaged_paths(handle)) if int(handle.index[path].mode) != SUBMODULE]


def _is_there(handle: pygit2.Repository, plan: Plan) -> bool:
    """Whether the commits already sit on `onto` in a line."""
    at = plan.head
    while at != plan.onto:
        parents = handle[at].peel(pygit2.Commit).parent_ids
        if len(parents) != 1 or at not in plan.range.commits:
            return False
        at = str(parents[0])
    return not plan.range.equivalents
