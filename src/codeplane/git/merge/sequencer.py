"""Cherry-picks and reverts: one by one in memory, then written to the files at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import pygit2
from pygit2.enums import MergeFavor

from codeplane.core.errors import CodePlaneError, GitFailed, InvalidArgument, NothingToCommit
from codeplane.git.commit.create import make_commit, move_ref
from codeplane.git.commit.messages import label_of, revert_message, with_conflicts
from codeplane.git.history.commit_info import first_line, message_of
from codeplane.git.history.tree_diff import count_lines
from codeplane.git.history.tree_edit import EMPTY_TREE
from codeplane.git.merge.apply_result import check_nothing_staged, write_result
from codeplane.git.merge.merge import stopped_outcome
from codeplane.git.merge.text_merge import Labels, MergeDrivers
from codeplane.git.merge.tree_merge import MergeResult, merge_trees
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.outcome import Outcome, short_oid
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import (
    CHERRY_PICK_HEAD,
    MERGE_MSG,
    REVERT_HEAD,
    SEQUENCER,
    check_idle,
    clear_merge,
    clear_sequencer,
    end_writing,
    read_state,
    write_state,
)
from codeplane.process import Programs


@dataclass(frozen=True)
class Picking:
    """Whether to pick or revert. `mainline` is the number of a merge's parent, from one, to diff against."""

    reverts: bool = False
    mainline: int | None = None
    favor: MergeFavor = field(default=MergeFavor.NORMAL)

    @property
    def word(self) -> str:
        return "revert" if self.reverts else "pick"

    @property
    def name(self) -> str:
        return "revert" if self.reverts else "cherry-pick"

    def merged(self, handle: pygit2.Repository, commit: pygit2.Commit, ours: str) -> MergeResult:
        """Applies a commit to the tree `ours`."""
        label, parent = label_of(commit), self._parent(commit)
        before = str(handle[parent].peel(pygit2.Tree).id) if parent is not None else EMPTY_TREE
        after = str(commit.tree_id)
        drivers = MergeDrivers(handle, self.favor)
        if self.reverts:
            return merge_trees(drivers, after, ours, before, Labels("HEAD", f"parent of {label}", label))
        return merge_trees(drivers, before, ours, after, Labels("HEAD", label, f"parent of {label}"))

    def message(self, commit: pygit2.Commit) -> str:
        if not self.reverts:
            return message_of(commit)
        return revert_message(commit, self._parent(commit) if len(commit.parent_ids) > 1 else None)

    def _parent(self, commit: pygit2.Commit) -> str | None:
        parents, number = commit.parent_ids, self.mainline or 1
        if len(parents) > 1 and self.mainline is None:
            raise InvalidArgument(
                f"{commit.id} is a merge: name the parent in `mainline`.", hints=['{"mainline": 1}']
            )
        if number > max(1, len(parents)):
            raise InvalidArgument(f"{commit.id} has no parent {number}.")
        return str(parents[number - 1]) if parents else None


def pick_commits(
    repository: Repository, programs: Programs, refs: Sequence[str], picking: Picking
) -> Outcome:
    """Picks or reverts commits in order; stops at the first that conflicts."""
    with repository.opened() as handle:
        check_idle(handle)
        if handle.head_is_unborn:
            raise GitFailed("There are no commits yet.")
        commits = [find_commit(handle, ref).oid for ref in refs]
        check_nothing_staged(handle, f"A {picking.name}")
        head = str(handle.head.target)
        return continue_picks(repository, programs, handle, commits, picking, head)


def continue_picks(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    commits: Sequence[str],
    picking: Picking,
    origin: str,
) -> Outcome:
    """Runs the remaining commits of a sequence that started at `origin`."""
    run = _Run(repository, programs, handle, picking, origin)
    todo = read_state(repository, f"{SEQUENCER}/todo")
    try:
        for number, oid in enumerate(commits):
            if stop := run.step(handle[oid].peel(pygit2.Commit)):
                return run.stop(stop, commits[number:], is_sequence=len(commits) > 1 or run.at != origin)
        return run.finish()
    except CodePlaneError:
        # HEAD has not moved, and the sequence is as before.
        if todo:
            write_state(repository, f"{SEQUENCER}/todo", todo)
        else:
            clear_sequencer(repository)
        raise


class _Run:
    def __init__(
        self,
        repository: Repository,
        programs: Programs,
        handle: pygit2.Repository,
        picking: Picking,
        origin: str,
    ) -> None:
        self._repository, self._programs, self._handle = repository, programs, handle
        self._how, self._origin = picking, origin
        self._start = self.at = str(handle.head.target)
        self._tree = str(handle.head.peel(pygit2.Tree).id)
        self._commits: list[tuple[str, str]] = []  # ids and subjects
        self._notes: dict[str, None] = {}

    def step(self, commit: pygit2.Commit) -> MergeResult | None:
        """Applies one commit in memory; returns the merge if it conflicts."""
        result = self._how.merged(self._handle, commit, self._tree)
        self._notes |= dict.fromkeys(result.notes)
        if result.conflicts:
            return result
        message = self._how.message(commit)
        if result.tree == self._tree:
            self._notes[f"{short_oid(str(commit.id))} changes nothing here and was skipped."] = None
            return None
        self.at, notes = make_commit(
            self._repository,
            self._programs,
            self._handle,
            tree=result.tree,
            parents=[self.at],
            message=message,
            ref=None,
            reflog="",
            author=None if self._how.reverts else commit.author,
        )
        self._notes |= dict.fromkeys(notes)
        self._tree = result.tree
        self._commits.append((self.at, first_line(message)))
        return None

    def stop(self, result: MergeResult, remaining: Sequence[str], *, is_sequence: bool) -> Outcome:
        commit = self._handle[remaining[0]].peel(pygit2.Commit)
        if is_sequence:
            self._note_sequence(remaining)
        state = {
            REVERT_HEAD if self._how.reverts else CHERRY_PICK_HEAD: f"{commit.id}\n",
            MERGE_MSG: with_conflicts(self._how.message(commit), result.conflicts),
        }
        put = write_result(self._repository, self._programs, self._handle, result, state)
        if is_sequence:
            (self._repository.git_dir / SEQUENCER / "abort-safety").unlink(missing_ok=True)
        self._move_head()
        if is_sequence:
            write_state(self._repository, f"{SEQUENCER}/abort-safety", f"{self.at}\n")
        end_writing(self._repository)
        return stopped_outcome(self._how.name, result, (*self._notes, *put.notes))

    def finish(self) -> Outcome:
        if not self._commits:
            raise NothingToCommit("; ".join(self._notes) or "Nothing is left to do.")
        state = {
            REVERT_HEAD if self._how.reverts else CHERRY_PICK_HEAD: f"{self.at}\n",
            MERGE_MSG: f"{self._commits[-1][1]}\n",
        }
        insertions, deletions = count_lines(
            self._handle, str(self._handle.head.peel(pygit2.Tree).id), self._tree
        )
        put = write_result(self._repository, self._programs, self._handle, MergeResult(self._tree), state)
        self._move_head()
        clear_merge(self._repository)
        clear_sequencer(self._repository)
        count = len(self._commits)
        what = f"{self._how.name}: {count} {'commit' if count == 1 else 'commits'}"
        return Outcome(what, insertions, deletions, commit=self.at, notes=(*self._notes, *put.notes))

    def _move_head(self) -> None:
        """Moves HEAD once, so that a crash never leaves it in the middle of a series."""
        if self._commits:
            reflog = f"{self._how.name}: {self._commits[-1][1]}"
            move_ref(self._handle, "HEAD", self.at, self._start, reflog)

    def _note_sequence(self, remaining: Sequence[str]) -> None:
        """Writes the sequence as git does, so that either can continue it."""
        (self._repository.git_dir / SEQUENCER).mkdir(exist_ok=True)
        lines = [f"{self._how.word} {oid} {self._first_line(oid)}\n" for oid in remaining]
        options = ""
        if self._how.mainline is not None:
            options += f"\tmainline = {self._how.mainline}\n"
        if self._how.favor in _FAVORS:
            options += f"\tstrategy-option = {_FAVORS[self._how.favor]}\n"
        if options:
            write_state(self._repository, f"{SEQUENCER}/opts", f"[options]\n{options}")
        write_state(self._repository, f"{SEQUENCER}/head", f"{self._origin}\n")
        write_state(self._repository, f"{SEQUENCER}/todo", "".join(lines))

    def _first_line(self, oid: str) -> str:
        return first_line(message_of(self._handle[oid].peel(pygit2.Commit)))


_FAVORS: Final = {MergeFavor.OURS: "ours", MergeFavor.THEIRS: "theirs"}
