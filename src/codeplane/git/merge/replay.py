"""Replays commits on another one, in memory; files change only where it stops, and at the end."""

from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import pygit2

from codeplane.core.errors import CodePlaneError, GitBusy, GitUnsupported
from codeplane.git.commit.create import make_commit, move_ref
from codeplane.git.commit.messages import with_conflicts
from codeplane.git.history.commit_info import first_line, message_of
from codeplane.git.history.tree_diff import count_lines
from codeplane.git.merge.apply_result import write_result
from codeplane.git.merge.rebase_todo import DETACHED, Progress, Step, Verb, clear_progress, write_progress
from codeplane.git.merge.sequencer import Picking
from codeplane.git.merge.tree_merge import MergeResult
from codeplane.git.repo.hooks import run_hook
from codeplane.git.repo.outcome import Outcome, short_oid
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import (
    AUTO_MERGE,
    MERGE_MSG,
    ORIG_HEAD,
    REBASE_HEAD,
    REBASE_MERGE,
    begin_writing,
    clear_merge,
    end_writing,
    write_state,
)
from codeplane.process import Programs

_PICK: Final = Picking()


class RebaseState(StrEnum):
    DONE = "done"
    CONFLICT = "conflict"
    EDIT_PAUSE = "edit_pause"
    ABORTED = "aborted"


@dataclass(frozen=True)
class RebaseOutcome(Outcome):
    """The outcome of a rebase: done, stopped or aborted."""

    state: RebaseState = RebaseState.DONE
    completed: int = 0
    total: int = 0
    current: str | None = None  # the commit at which it stopped


class Replay:
    """Replays the steps of a rebase. `at` is the commit that the next goes on; HEAD moves when it stops."""

    def __init__(
        self,
        repository: Repository,
        programs: Programs,
        handle: pygit2.Repository,
        progress: Progress,
        at: str,
    ) -> None:
        self._repository, self._programs, self._handle = repository, programs, handle
        self._progress = progress
        self.at = at
        self._notes: dict[str, None] = {}

    def run(self) -> RebaseOutcome:
        """Runs the remaining steps, to the end or to where somebody has to step in."""
        before = deepcopy(self._progress)
        has_begun = (self._repository.git_dir / REBASE_MERGE).exists()
        try:
            return self._run_steps(self._progress)
        except CodePlaneError:
            # HEAD has not moved, and the remaining steps are as before.
            if has_begun:
                write_progress(self._repository, self._handle, before)
            else:
                clear_progress(self._repository)
            raise

    def _run_steps(self, progress: Progress) -> RebaseOutcome:
        while progress.todo:
            step = progress.todo.pop(0)
            progress.done.append(step)
            conflict = self._apply_step(step)
            if conflict is not None:
                return self._stop_at(step, conflict)
            if step.verb is Verb.EDIT:
                return self._pause_at(step)
        return self._finish_rebase()

    def settle(self, step: Step) -> None:
        """Records that a step is part of `at`."""
        self._progress.pending.append(step.commit)
        self._progress.settle(self.at)

    def meld_messages(self, step: Step) -> str:
        """The message of `at` joined with that of a commit melded into it."""
        own = message_of(self._commit_of(self.at))
        if step.message is not None:
            return step.message.rstrip() + "\n"
        if step.verb is Verb.FIXUP:
            return own
        return f"{own.rstrip()}\n\n{message_of(self._commit_of(step.commit)).strip()}\n"

    def commit(self, tree: str, message: str, like: pygit2.Commit, parents: list[str]) -> None:
        """Makes the next commit, with the author of `like`."""
        self.at, notes = make_commit(
            self._repository,
            self._programs,
            self._handle,
            tree=tree,
            parents=parents,
            message=message,
            ref=None,
            reflog="",
            author=like.author,
        )
        self._notes |= dict.fromkeys(notes)

    def _apply_step(self, step: Step) -> MergeResult | None:
        if step.verb is Verb.DROP:
            return None
        commit, before = self._commit_of(step.commit), self._commit_of(self.at)
        is_next = [str(oid) for oid in commit.parent_ids] == [self.at]
        if step.verb is Verb.REWORD and step.message is None:
            raise GitUnsupported(
                f"There is no message for {short_oid(step.commit)}, which is to be reworded.",
                hints=["git rebase --continue"],
            )
        if is_next and step.verb in (Verb.PICK, Verb.EDIT):
            self.at = step.commit
            if step.verb is Verb.PICK:
                self.settle(step)
            return None
        result = _PICK.merged(self._handle, commit, str(before.tree_id))
        self._notes |= dict.fromkeys(result.notes)
        if result.conflicts:
            return result
        self._add_commit(step, commit, before, result.tree)
        return None

    def _add_commit(self, step: Step, commit: pygit2.Commit, before: pygit2.Commit, tree: str) -> None:
        if step.verb.melds:
            self.commit(tree, self.meld_messages(step), before, [str(oid) for oid in before.parent_ids])
            if _is_empty(self._handle, self._commit_of(self.at)):
                self._notes[f"{short_oid(step.commit)} makes a commit empty; it is kept."] = None
        elif tree == str(before.tree_id) and not _is_empty(self._handle, commit):
            self._notes[f"{short_oid(step.commit)} no longer changes anything and was skipped."] = None
            return
        else:
            message = step.message.rstrip() + "\n" if step.verb is Verb.REWORD and step.message else None
            self.commit(tree, message or message_of(commit), commit, [self.at])
        if step.verb is not Verb.EDIT:
            self.settle(step)

    def _stop_at(self, step: Step, result: MergeResult) -> RebaseOutcome:
        progress, commit = self._progress, self._commit_of(step.commit)
        progress.stopped = step.commit
        progress.amends = self.at if step.verb.melds else None
        message = self.meld_messages(step) if step.verb.melds else step.message or message_of(commit)
        self._write_notes(result.tree, commit, message)
        state = {MERGE_MSG: with_conflicts(message, result.conflicts), ORIG_HEAD: f"{progress.origin}\n"}
        put = write_result(self._repository, self._programs, self._handle, result, state)
        self._detach_head(f"rebase ({step.verb}): {first_line(message)}")
        end_writing(self._repository)
        count = len(result.conflicts)
        return RebaseOutcome(
            f"rebase stopped at {short_oid(step.commit)}: {count} in conflict",
            conflicts=result.conflicts,
            notes=(*self._notes, *put.notes),
            state=RebaseState.CONFLICT,
            completed=len(progress.done) - 1,
            total=progress.total,
            current=step.commit,
        )

    def _pause_at(self, step: Step) -> RebaseOutcome:
        progress, commit = self._progress, self._commit_of(step.commit)
        progress.stopped, progress.amends = step.commit, self.at
        tree = str(self._commit_of(self.at).tree_id)
        self._write_notes(tree, commit, message_of(self._commit_of(self.at)))
        put = write_result(
            self._repository,
            self._programs,
            self._handle,
            MergeResult(tree),
            {ORIG_HEAD: f"{progress.origin}\n"},
        )
        self._detach_head(f"rebase (edit): {first_line(message_of(commit))}")
        end_writing(self._repository)
        (self._repository.git_dir / AUTO_MERGE).unlink(missing_ok=True)
        return RebaseOutcome(
            f"rebase stopped at {short_oid(step.commit)} for editing",
            notes=(*self._notes, *put.notes),
            state=RebaseState.EDIT_PAUSE,
            completed=len(progress.done),
            total=progress.total,
            current=step.commit,
        )

    def _finish_rebase(self) -> RebaseOutcome:
        progress, handle = self._progress, self._handle
        progress.settle(self.at)
        progress.stopped = progress.amends = None
        self._check_branch()
        target = str(self._commit_of(self.at).tree_id)
        insertions, deletions = count_lines(handle, str(self._commit_of(progress.origin).tree_id), target)
        begin_writing(self._repository, target)
        write_progress(self._repository, handle, progress)
        state = {ORIG_HEAD: f"{progress.origin}\n"}
        put = write_result(self._repository, self._programs, handle, MergeResult(target), state)
        self._move_branch()
        clear_merge(self._repository)
        clear_progress(self._repository)
        notes = (*self._notes, *put.notes, *self._tell_rewritten())
        count = len(progress.rewritten)
        return RebaseOutcome(
            f"rebased {count} {'commit' if count == 1 else 'commits'} onto {short_oid(progress.onto)}",
            insertions,
            deletions,
            commit=self.at,
            notes=notes,
            state=RebaseState.DONE,
            completed=len(progress.done),
            total=progress.total,
        )

    def _tell_rewritten(self) -> tuple[str, ...]:
        pairs = "".join(f"{old} {new}\n" for old, new in self._progress.rewritten)
        if not pairs:
            return ()
        return run_hook(self._repository, self._programs, "post-rewrite", ["rebase"], stdin=pairs.encode())

    def _check_branch(self) -> None:
        """Refuses to finish if another program moved the branch."""
        name = self._progress.head_name
        if name == DETACHED:
            return
        branch = self._handle.references.get(name)
        if branch is None or str(branch.target) != self._progress.origin:
            raise GitBusy(
                f"{name} was moved by another program in the meantime.", hints=[Remedy(Fix.ABORT_REBASE)]
            )

    def _move_branch(self) -> None:
        """Moves the branch, and HEAD with it, to the result."""
        progress, name = self._progress, self._progress.head_name
        reflog = f"rebase (finish): {name} onto {progress.onto}"
        if name == DETACHED:
            self._detach_head(f"rebase (finish): onto {progress.onto}")
            return
        move_ref(self._handle, name, self.at, progress.origin, reflog)
        if self._handle.head_is_detached:
            reflog = f"rebase (finish): returning to {name}"
            self._handle.create_reference_symbolic("HEAD", name, True, message=reflog)

    def _detach_head(self, reflog: str) -> None:
        text = reflog.encode("utf-8", "replace").decode()
        self._handle.create_reference_direct("HEAD", pygit2.Oid(hex=self.at), True, message=text)

    def _write_notes(self, tree: str, commit: pygit2.Commit, message: str) -> None:
        begin_writing(self._repository, tree)
        write_progress(self._repository, self._handle, self._progress)
        who = commit.author
        sign, minutes = "-" if who.offset < 0 else "+", abs(who.offset)
        when = f"@{who.time} {sign}{minutes // 60:02}{minutes % 60:02}"
        fields = (("NAME", who.name), ("EMAIL", who.email), ("DATE", when))
        lines = "".join(f"GIT_AUTHOR_{name}={_quote_shell(value)}\n" for name, value in fields)
        write_state(self._repository, f"{REBASE_MERGE}/author-script", lines)
        write_state(self._repository, f"{REBASE_MERGE}/message", message)
        write_state(self._repository, REBASE_HEAD, f"{commit.id}\n")

    def _commit_of(self, oid: str) -> pygit2.Commit:
        return self._handle[oid].peel(pygit2.Commit)


def _quote_shell(value: str) -> str:
    return "'" + value.replace("'", "'\\''") + "'"


def _is_empty(handle: pygit2.Repository, commit: pygit2.Commit) -> bool:
    parents = commit.parent_ids
    return bool(parents) and handle[parents[0]].peel(pygit2.Tree).id == commit.tree_id
