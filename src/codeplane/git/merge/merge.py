"""Merging a commit into the current branch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pygit2
from pygit2.enums import MergeFavor, SortMode

from codeplane.core.errors import GitFailed
from codeplane.git.commit.create import make_commit, move_ref
from codeplane.git.commit.messages import merge_message, split_conflicts, squash_message, with_conflicts
from codeplane.git.history.commit_info import first_line
from codeplane.git.history.tree_diff import count_lines
from codeplane.git.merge.apply_result import check_nothing_staged, write_result
from codeplane.git.merge.merge_base import merge_commits
from codeplane.git.merge.text_merge import MergeDrivers
from codeplane.git.merge.tree_merge import MergeResult
from codeplane.git.repo.config import config_text
from codeplane.git.repo.hooks import run_hook
from codeplane.git.repo.objects import Commit, find_commit
from codeplane.git.repo.outcome import Outcome, short_oid
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import (
    AUTO_MERGE,
    MERGE_HEAD,
    MERGE_MODE,
    MERGE_MSG,
    ORIG_HEAD,
    SQUASH_MSG,
    check_idle,
    clear_merge,
    end_writing,
    read_state,
    write_state,
)
from codeplane.git.worktree.autosave import head_tree
from codeplane.git.worktree.checkout_tree import check_out_tree
from codeplane.process import Programs

_MOST_SQUASHED: Final = 1000


@dataclass(frozen=True)
class MergeOptions:
    """How to merge. `message`, `label` and `action` override those made from the ref's name."""

    message: str | None = None
    label: str | None = None
    action: str | None = None
    no_ff: bool = False
    ff_only: bool = False
    squash: bool = False
    favor: MergeFavor = field(default=MergeFavor.NORMAL)


def merge(repository: Repository, programs: Programs, ref: str, options: MergeOptions) -> Outcome:
    """Merges `ref`: up to date, a fast-forward, or a merge commit; stops at conflicts."""
    with repository.opened() as handle:
        check_idle(handle)
        theirs = find_commit(handle, ref)
        ours = None if handle.head_is_unborn else str(handle.head.target)
        work = _Merging(repository, programs, handle, ref, options)
        if ours is None:
            return work.fast_forward(None, theirs)
        if ours == theirs.oid or handle.descendant_of(ours, theirs.oid):
            return Outcome("already up to date")
        if handle.descendant_of(theirs.oid, ours) and not options.squash and not work.is_never_forward:
            return work.fast_forward(ours, theirs)
        return work.merge_commits_of(ours, theirs)


@dataclass(frozen=True)
class _Merging:
    repository: Repository
    programs: Programs
    handle: pygit2.Repository
    ref: str
    how: MergeOptions

    @property
    def is_never_forward(self) -> bool:
        return self.how.no_ff or (not self.how.ff_only and config_text(self.handle, "merge.ff") == "false")

    @property
    def _action(self) -> str:
        return self.how.action or f"merge {self.ref}"

    def fast_forward(self, ours: str | None, theirs: Commit) -> Outcome:
        insertions, deletions = count_lines(self.handle, head_tree(self.handle), theirs.tree)
        put = check_out_tree(self.repository, self.programs, self.handle, theirs.tree)
        if ours is not None:
            write_state(self.repository, ORIG_HEAD, f"{ours}\n")
        move_ref(self.handle, "HEAD", theirs.oid, ours, f"{self._action}: Fast-forward")
        notes = (*put.notes, *run_hook(self.repository, self.programs, "post-merge", ["0"]))
        return Outcome(f"fast-forward to {short_oid(theirs.oid)}", insertions, deletions, notes=notes)

    def merge_commits_of(self, ours: str, theirs: Commit) -> Outcome:
        if self.how.ff_only or config_text(self.handle, "merge.ff") == "only":
            raise GitFailed(
                "This can't be a fast-forward: both sides have their own commits.",
                hints=[Remedy(Fix.MERGE_WITH_COMMIT), Remedy(Fix.REBASE)],
            )
        drivers = MergeDrivers(self.handle, self.how.favor)
        result = merge_commits(drivers, ours, theirs.oid, ("HEAD", self.how.label or self.ref))
        if result is None:
            raise GitFailed(f"{self.ref} has no history in common with HEAD: it can't be merged.")
        check_nothing_staged(self.handle, "A merge")
        return (
            self._squash_merge(ours, theirs, result)
            if self.how.squash
            else self._commit_merge(ours, theirs, result)
        )

    def _commit_merge(self, ours: str, theirs: Commit, result: MergeResult) -> Outcome:
        into = None if self.handle.head_is_detached else self.handle.head.shorthand
        draft = self.how.message or merge_message(self.handle, self.ref, into)
        message = draft.rstrip("\n") + "\n"
        state = {
            ORIG_HEAD: f"{ours}\n",
            MERGE_HEAD: f"{theirs.oid}\n",
            MERGE_MODE: "no-ff" if self.how.no_ff else "",
            MERGE_MSG: with_conflicts(message, result.conflicts),
        }
        put = write_result(self.repository, self.programs, self.handle, result, state)
        notes = (*result.notes, *put.notes)
        end_writing(self.repository)
        if result.conflicts:
            return stopped_outcome("merge", result, notes)
        notes += run_hook(self.repository, self.programs, "pre-merge-commit")
        reflog = f"{self._action}: Merge made by the 'ort' strategy."
        oid, more = conclude_merge(self.repository, self.programs, self.handle, result.tree, reflog)
        insertions, deletions = count_lines(self.handle, _tree_id(self.handle, ours), result.tree)
        return Outcome(
            f"merged {self.ref} as {short_oid(oid)}", insertions, deletions, commit=oid, notes=(*notes, *more)
        )

    def _squash_merge(self, ours: str, theirs: Commit, result: MergeResult) -> Outcome:
        walker = self.handle.walk(theirs.oid, SortMode.TOPOLOGICAL | SortMode.TIME)
        walker.hide(ours)
        commits = [commit for commit, _ in zip(walker, range(_MOST_SQUASHED), strict=False)]
        message = self.how.message or squash_message(commits)
        put = write_result(self.repository, self.programs, self.handle, result, {SQUASH_MSG: message})
        notes = (*result.notes, *put.notes)
        end_writing(self.repository)
        if result.conflicts:
            return stopped_outcome("squashed merge", result, notes)
        (self.repository.git_dir / AUTO_MERGE).unlink(missing_ok=True)
        notes += run_hook(self.repository, self.programs, "post-merge", ["1"])
        insertions, deletions = count_lines(self.handle, _tree_id(self.handle, ours), result.tree)
        return Outcome(f"{self.ref} is staged as one change: commit it", insertions, deletions, notes=notes)


def conclude_merge(
    repository: Repository, programs: Programs, handle: pygit2.Repository, tree: str, reflog: str | None
) -> tuple[str, tuple[str, ...]]:
    """Commits a merge whose index and files are ready."""
    others = read_state(repository, MERGE_HEAD).split()
    message, notes = checked_message(repository, programs)
    ours = str(handle.head.target)
    oid, more = make_commit(
        repository,
        programs,
        handle,
        tree=tree,
        parents=[ours, *others],
        message=message,
        ref="HEAD",
        reflog=reflog or f"commit (merge): {first_line(message)}",
    )
    clear_merge(repository)
    return oid, (*notes, *more, *run_hook(repository, programs, "post-merge", ["0"]))


def checked_message(repository: Repository, programs: Programs) -> tuple[str, tuple[str, ...]]:
    """The message in MERGE_MSG, after the commit-msg hook."""
    message, _ = split_conflicts(read_state(repository, MERGE_MSG))
    write_state(repository, MERGE_MSG, message)
    notes = run_hook(repository, programs, "commit-msg", [str(repository.git_dir / MERGE_MSG)])
    return read_state(repository, MERGE_MSG), notes


def stopped_outcome(what: str, result: MergeResult, notes: Sequence[str]) -> Outcome:
    """The outcome of an operation that stopped at conflicts."""
    count = len(result.conflicts)
    summary = f"{what} stopped: {count} {'path' if count == 1 else 'paths'} in conflict"
    return Outcome(summary, conflicts=result.conflicts, notes=tuple(notes))


def _tree_id(handle: pygit2.Repository, oid: str) -> str:
    return str(handle[oid].peel(pygit2.Tree).id)
