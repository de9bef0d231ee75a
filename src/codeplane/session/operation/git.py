"""One operation of git: alone in the tree, on record, and in the index when it returns."""

import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from typing import Final, Generic, TypeVar

from codeplane.core.edits import FileChange
from codeplane.core.errors import CodePlaneError
from codeplane.core.fingerprint import Fingerprint
from codeplane.core.ids import OperationId, new_operation_id
from codeplane.core.paths import Digest, RepoPath
from codeplane.git import Head
from codeplane.git.repo.fingerprint import git_fingerprint
from codeplane.git.repo.outcome import Outcome
from codeplane.git.repo.state import unfinished_operation
from codeplane.git.repo.unsupported import check_writable
from codeplane.git.staging.conflicts import ConflictDetails, describe_conflicts
from codeplane.graph.diff.repository import State, changed_definitions, structural_diff
from codeplane.graph.tests.impact import Known, affected_tests
from codeplane.ledger import Operation, mutation_fingerprint
from codeplane.names import Snapshot
from codeplane.session.call import Call
from codeplane.session.operation.effects import Effects
from codeplane.session.operation.git_journal import noted

_log = logging.getLogger(__name__)
T = TypeVar("T", bound=Outcome)
T_co = TypeVar("T_co", bound=Outcome, covariant=True)

# Beyond this, what a move of HEAD has done to single definitions is not what anybody reads.
_MOST_COMPARED: Final = 300
_MOST_OFFERED: Final = 20
# The tools that go on with what has begun and not ended.
_GOING_ON: Final[Mapping[str | None, str]] = {
    "merge": "git_merge",
    "cherrypick": "git_merge",
    "revert": "git_merge",
    "rebase": "git_rebase",
}


@dataclass(frozen=True)
class Changed(Generic[T_co]):
    """What an operation of git has changed."""

    operation_id: OperationId
    outcome: T_co
    before: Head
    after: Head
    changes: tuple[FileChange, ...] = ()  # of indexed files
    effects: Effects = field(default_factory=Effects)
    status: str | None = None  # of the tree now, in one line
    conflicts: tuple[ConflictDetails, ...] = ()  # of the outcome, with what the files show
    fingerprint: str | None = None  # of the mutation, as the ledger has it
    repo_fingerprint: str | None = None  # of all files afterwards


def change(
    call: Call, op_type: str, act: Callable[[], T], *, alone: bool = True, undoes: OperationId | None = None
) -> Changed[T]:
    """Has git do something that changes the repository; the row is written and the index knows it.

    `op_type` is the tool's name. Without `alone`, edits may go on meanwhile: for what leaves the tree and
    git's index as they are.
    """
    repo = call.repo
    if alone:
        check_writable(repo.checkout.repository)
    with repo.engine.alone(call.check) if alone else nullcontext():
        before = _Before.look(call, alone=alone)
        row = replace(before.row(call, op_type), undoes=undoes)
        with noted(repo.state, row), repo.states.held(before.state) if alone else nullcontext():
            call.charge("mutation", op_type)
            began = time.perf_counter()
            try:
                outcome = act()
            except Exception as error:  # git may have done a part of it, whatever it is
                before.record(call, before.failed(call, row, error, began))
                raise
            try:
                changed, done = before.compare(call, row, outcome, began)
            except Exception as error:  # noqa: BLE001 - git has done it: that has to be on record, and told
                _log.exception("what git has done could not be looked at", extra={"tool": op_type})
                call.warn(f"Git has done it, but what it affects is not known ({type(error).__name__}).")
                changed, done = before.bare(call, row, outcome, began)
            before.record(call, done)
    call.signal(repo.tasks.note_mutation(call.task, done.mutation_fingerprint or ""))
    for note in outcome.notes:
        call.warn(note)
    call.next_actions += _next(call, changed)
    state = repo.states.now().hex()
    return replace(changed, fingerprint=done.mutation_fingerprint, repo_fingerprint=state)


def _next(call: Call, changed: Changed[Outcome]) -> list[str]:
    """The calls that go on where an operation has stopped, and the one that brings back what it saved."""
    with call.repo.checkout.repository.opened() as handle:
        begun = unfinished_operation(handle)
    if begun in _GOING_ON:
        return [f'{_GOING_ON[begun]} {{"action": "{action}"}}' for action in ("continue", "abort")]
    if changed.conflicts:
        torn = [one.conflict.path for one in changed.conflicts[:_MOST_OFFERED]]
        return [f"git_stage {json.dumps({'paths': torn}, ensure_ascii=False)}"]
    saved = changed.outcome.saved
    return (
        [f'git_stash {{"action": "apply", "ref": "{saved}"}}'] if saved and saved.startswith("refs/") else []
    )


def reader(call: Call) -> Callable[[str], bytes | None]:
    """Files of the working tree; None for what is not there or may not be read."""

    def read(path: str) -> bytes | None:
        try:
            return call.repo.tree.read(RepoPath(path))
        except CodePlaneError:
            return None

    return read


@dataclass(frozen=True)
class _Before:
    """The repository before the operation; without `files`, those are left as they are."""

    head: Head
    state: Fingerprint
    stamp: str
    files: "_Files | None"

    @classmethod
    def look(cls, call: Call, *, alone: bool) -> "_Before":
        repository, index = call.repo.checkout.repository, call.repo.index
        with call.repo.states.looking():
            call.repo.refresh(call.progress)
        with call.seen() as snapshot:
            blobs = snapshot.layout.blobs
        files = _Files(index.digests(), blobs) if alone else None
        return cls(repository.head(), call.repo.states.now(), git_fingerprint(repository), files)

    def row(self, call: Call, op_type: str) -> Operation:
        return Operation(
            operation_id=new_operation_id(),
            task_id=call.task.task_id,
            session_id=call.session.session_id,
            timestamp_ms=int(time.time() * 1000),
            duration_ms=0,
            op_type=op_type,
            success=False,
            repo_before=self.state.hex(),
            head_before=self.head.commit,
            branch_before=self.head.branch,
        )

    def bare(self, call: Call, row: Operation, outcome: T, began: float) -> tuple[Changed[T], Operation]:
        """What is known of an operation that was done and cannot be looked at: where HEAD is now."""
        ended = self._ended(call, row, (), began)
        done = replace(ended, success=True, saved=outcome.saved, mode=outcome.mode)
        return Changed(row.operation_id, outcome, self.head, call.repo.checkout.repository.head()), done

    def compare(self, call: Call, row: Operation, outcome: T, began: float) -> tuple[Changed[T], Operation]:
        changes, effects = self._seen(call)
        after = call.repo.checkout.repository.head()
        done = replace(
            self._ended(call, row, changes, began),
            success=True,
            insertions=outcome.insertions,
            deletions=outcome.deletions,
            mutation_fingerprint=self._fingerprint_of(row, changes, outcome, after),
            saved=outcome.saved,
            mode=outcome.mode,
        )
        torn = describe_conflicts(outcome.conflicts, reader(call))
        parts = (self.head, after, changes, effects, _status(call), torn)
        return Changed(row.operation_id, outcome, *parts), done

    def failed(self, call: Call, row: Operation, error: Exception, began: float) -> Operation:
        """Git may have changed files before it failed; the row tells, as far as anybody knows."""
        changes: tuple[FileChange, ...] = ()
        is_same = False
        with suppress(CodePlaneError, RecursionError):
            changes = self._changes(call)
            is_same = git_fingerprint(call.repo.checkout.repository) == self.stamp and not changes
        ended = self._ended(call, row, changes, began)
        name = error.name() if isinstance(error, CodePlaneError) else type(error).__name__
        return replace(ended, failure_class=name, unchanged=is_same)

    def record(self, call: Call, row: Operation) -> None:
        """Writes the row; what leaves the files alone has them before and after as it finds them."""
        repo = call.repo
        if self.files is not None:
            with repo.states.released() as now:
                repo.tasks.record(call.task, replace(row, repo_after=now.hex()))
        else:
            with repo.states.turn(row.operation_id) as (was, is_):
                row = replace(row, repo_before=was.hex(), repo_after=is_.hex())
                repo.tasks.record(call.task, row)

    def _ended(self, call: Call, row: Operation, changes: tuple[FileChange, ...], began: float) -> Operation:
        after = call.repo.checkout.repository.head()
        return replace(
            row,
            duration_ms=round((time.perf_counter() - began) * 1000),
            changes=changes,
            head_after=after.commit,
            branch_after=after.branch,
        )

    def _fingerprint_of(
        self, row: Operation, changes: tuple[FileChange, ...], outcome: Outcome, after: Head
    ) -> str:
        """Two operations are the same change only when they leave HEAD and files the same way."""
        told = (row.op_type, outcome.summary, str(self.head), str(after))
        return mutation_fingerprint(changes, outcome.insertions, outcome.deletions, told)

    def _seen(self, call: Call) -> tuple[tuple[FileChange, ...], Effects]:
        """What differs now. A problem there is told; what git has done is done."""
        try:
            changes = self._changes(call)
            differ = [one.path for one in changes]
            return changes, self.files.effects(call, differ) if self.files is not None else Effects()
        except CodePlaneError as error:
            call.warn(f"Git has done it, but what it affects is not known: {error.message}")
            return (), Effects()

    def _changes(self, call: Call) -> tuple[FileChange, ...]:
        if self.files is None:
            return ()
        call.repo.refresh()
        was, now = self.files.digests, call.repo.index.digests()
        differ = sorted(path for path in was.keys() | now.keys() if was.get(path) != now.get(path))
        return tuple(FileChange(path, was.get(path), now.get(path)) for path in differ)


@dataclass(frozen=True)
class _Files:
    """The files before the operation."""

    digests: Mapping[RepoPath, Digest]
    blobs: Mapping[str, int | None]

    def effects(self, call: Call, differ: list[RepoPath]) -> Effects:
        if not differ:
            return Effects()
        with call.repo.index.snapshot() as snapshot:
            call.epoch = snapshot.epoch
            if len(differ) > _MOST_COMPARED:
                call.warn(f"{len(differ)} files have changed: too many for a list of definitions and tests.")
                return Effects()
            layout = snapshot.layout.blobs
            if unread := sum(path in layout and layout[path] is None for path in differ):
                call.warn(
                    f"{unread} of the files have not been read yet; definitions and tests are left out."
                )
                return Effects()
            return _compared(snapshot, self.blobs, differ)


def _status(call: Call) -> str | None:
    try:
        told = call.repo.tree.git.look().in_words()
        with call.repo.checkout.repository.opened() as handle:
            begun = unfinished_operation(handle)
    except CodePlaneError as error:
        call.warn(f"Git has done it, but its status is not known: {error.message}")
        return None
    return f"{told}; {begun} in progress" if begun is not None else told


def _compared(snapshot: Snapshot, old: Mapping[str, int | None], differ: list[RepoPath]) -> Effects:
    layout = snapshot.layout.blobs
    then: dict[str, int | None] = {path: old[path] for path in differ if path in old}
    now: dict[str, int | None] = {path: layout[path] for path in differ if path in layout}
    files = list(
        structural_diff(
            State("before", then, snapshot, lambda _: None, snapshot.epoch),
            State("after", now, snapshot, lambda _: None, snapshot.epoch),
        )
    )
    known = Known(changed_definitions(files))
    impact = affected_tests(snapshot, [path for path in differ if path in now], known)
    if gone := len(then.keys() - now.keys()):
        impact = replace(impact, reasons=[*impact.reasons, f"{gone} files are gone that tests may need"])
    return Effects(tuple(files), impact)
