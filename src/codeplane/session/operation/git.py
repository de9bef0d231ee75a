"""One operation of git: alone in the tree, on record, and in the index when it returns."""

import json
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, Generic, TypeVar

from codeplane.core.edits import FileChange
from codeplane.core.errors import CodePlaneError
from codeplane.core.ids import OperationId
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
from codeplane.session.operation.envelope import Envelope, changed_files, refresh_index

_log = logging.getLogger(__name__)
T = TypeVar("T", bound=Outcome)
T_co = TypeVar("T_co", bound=Outcome, covariant=True)

# Beyond this, what a move of HEAD has done to single definitions is not what anybody reads.
_MOST_COMPARED: Final = 300
_MOST_OFFERED: Final = 20
_MOST_READ_FILES: Final = 20
_MOST_READ_BYTES: Final = 200_000
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
    # Before and after, of a few files that are not large; None for what is not there or not known any more.
    contents: Mapping[RepoPath, tuple[bytes | None, bytes | None]] = field(default_factory=dict)


def change(
    call: Call,
    op_type: str,
    act: Callable[[], T],
    *,
    alone: bool = True,
    undoes: OperationId | None = None,
    phase: str | None = None,
) -> Changed[T]:
    """Has git do something that changes the repository; the row is written and the index knows it.

    `op_type` is the tool's name. Without `alone`, edits may go on meanwhile: for what leaves the tree and
    git's index as they are. What belongs to a `phase` of a plan is taken back with it, not by itself.
    """
    repo = call.repo
    if alone:
        check_writable(repo.checkout.repository)
    with repo.engine.alone(call.check) if alone else nullcontext():
        under_way = _Act(call, op_type, undoes, alone=alone, phase=phase)
        under_way.envelope.charge("mutation")
        with under_way.envelope.journaled(), under_way.held():
            try:
                outcome = act()
            except Exception as error:  # git may have done a part of it, whatever it is
                under_way.record(under_way.failed(error))
                raise
            result, row = under_way.compare(outcome)
            row = under_way.record(row)
    under_way.envelope.signal(row)
    for note in outcome.notes:
        call.warn(note)
    call.next_actions += _next_calls(call, result)
    return replace(result, fingerprint=row.mutation_fingerprint, repo_fingerprint=repo.states.now().hex())


def _next_calls(call: Call, result: Changed[Outcome]) -> list[str]:
    """The calls that go on where an operation has stopped, and the one that brings back what it saved."""
    with call.repo.checkout.repository.opened() as handle:
        operation = unfinished_operation(handle)
    if operation in _GOING_ON:
        return [f'{_GOING_ON[operation]} {{"action": "{action}"}}' for action in ("continue", "abort")]
    if result.conflicts:
        conflict_paths = [one.conflict.path for one in result.conflicts[:_MOST_OFFERED]]
        return [f"git_stage {json.dumps({'paths': conflict_paths}, ensure_ascii=False)}"]
    stash_ref = result.outcome.saved
    return (
        [f'git_stash {{"action": "apply", "ref": "{stash_ref}"}}']
        if stash_ref and stash_ref.startswith("refs/")
        else []
    )


def tree_reader(call: Call) -> Callable[[str], bytes | None]:
    """Files of the working tree; None for what is not there or may not be read."""

    def read(path: str) -> bytes | None:
        try:
            return call.repo.tree.read(RepoPath(path))
        except CodePlaneError:
            return None

    return read


class _Act:
    """One operation of git in its envelope, and the repository before it.

    Where it is not `alone`, it leaves the files as they are.
    """

    def __init__(
        self, call: Call, op_type: str, undoes: OperationId | None, *, alone: bool, phase: str | None
    ) -> None:
        refresh_index(call)
        with call.seen() as snapshot:
            blobs = snapshot.layout.blobs
        self._call = call
        self._repository = call.repo.checkout.repository
        self._files = _Files(call.repo.index.digests(), blobs) if alone else None
        self._head = self._repository.head()
        self._state = call.repo.states.now()
        self._fingerprint = git_fingerprint(self._repository)
        self.envelope = Envelope(
            call,
            op_type,
            repo_before=self._state.hex(),
            head_before=self._head.commit,
            branch_before=self._head.branch,
            undoes=undoes,
            phase=phase,
        )

    def held(self) -> AbstractContextManager[None]:
        """In the block git changes files; to the rows of others these are as before."""
        return self._call.repo.states.held(self._state) if self._files is not None else nullcontext()

    def compare(self, outcome: T) -> tuple[Changed[T], Operation]:
        """What the operation has changed, and its row. Git has done it, whatever fails here."""
        try:
            return self._look_and_compare(outcome)
        except Exception as error:  # noqa: BLE001 - what git has done has to be on record, and told
            name = self.envelope.row.op_type
            _log.exception("what git has done could not be looked at", extra={"tool": name})
            self._call.warn(
                f"The git operation succeeded, but its effects are unknown ({type(error).__name__})."
            )
            result = Changed(self.envelope.id, outcome, self._head, self._repository.head())
            return result, self._ended((), success=True, saved=outcome.saved, mode=outcome.mode)

    def _look_and_compare(self, outcome: T) -> tuple[Changed[T], Operation]:
        changes, effects = self._changes_and_effects()
        after = self._repository.head()
        row = self._ended(
            changes,
            success=True,
            insertions=outcome.insertions,
            deletions=outcome.deletions,
            mutation_fingerprint=self._fingerprint_of(changes, outcome, after),
            saved=outcome.saved,
            mode=outcome.mode,
        )
        conflicts = describe_conflicts(outcome.conflicts, tree_reader(self._call))
        parts = (self._head, after, changes, effects, _status_line(self._call), conflicts)
        return Changed(self.envelope.id, outcome, *parts, contents=self._contents(changes, outcome)), row

    def _contents(
        self, changes: tuple[FileChange, ...], outcome: Outcome
    ) -> dict[RepoPath, tuple[bytes | None, bytes | None]]:
        """The bytes of the files that differ; those before are in HEAD then, or in what was saved."""
        if len(changes) > _MOST_READ_FILES:
            return {}
        read, names = tree_reader(self._call), [name for name in (outcome.saved, self._head.commit) if name]
        contents: dict[RepoPath, tuple[bytes | None, bytes | None]] = {}
        room = _MOST_READ_BYTES
        for one in changes:
            old = [self._repository.content_at(name, one.path) for name in names] if one.before else []
            before = next((data for data in old if data is not None and _is(data, one.before)), None)
            after = read(one.path) if one.after else None
            after = after if after is not None and _is(after, one.after) else None
            room -= len(before or b"") + len(after or b"")
            if room < 0:
                break
            contents[one.path] = (before, after)
        return contents

    def failed(self, error: Exception) -> Operation:
        """Git may have changed files before it failed; the row tells, as far as anybody knows."""
        changes: tuple[FileChange, ...] = ()
        is_same = False
        with suppress(CodePlaneError, RecursionError):
            changes = self._changes()
            is_same = git_fingerprint(self._repository) == self._fingerprint and not changes
        return self.envelope.failed(error, unchanged=is_same, **self._end(changes))

    def record(self, row: Operation) -> Operation:
        """Writes the row; what leaves the files alone has them before and after as it finds them."""
        states, is_alone = self._call.repo.states, self._files is not None
        return self.envelope.record(
            row, states.released(self._state) if is_alone else states.turn(row.operation_id)
        )

    def _ended(self, changes: tuple[FileChange, ...], **known: Any) -> Operation:
        return self.envelope.ended(**self._end(changes), **known)

    def _end(self, changes: tuple[FileChange, ...]) -> dict[str, Any]:
        after = self._repository.head()
        return {"changes": changes, "head_after": after.commit, "branch_after": after.branch}

    def _fingerprint_of(self, changes: tuple[FileChange, ...], outcome: Outcome, after: Head) -> str:
        """Two operations are the same change only when they leave HEAD and files the same way."""
        parts = (self.envelope.row.op_type, outcome.summary, str(self._head), str(after))
        return mutation_fingerprint(changes, outcome.insertions, outcome.deletions, parts)

    def _changes_and_effects(self) -> tuple[tuple[FileChange, ...], Effects]:
        """What differs now. A problem there is told; what git has done is done."""
        try:
            changes = self._changes()
            differ = [one.path for one in changes]
            effects = self._files.effects(self._call, differ) if self._files is not None else Effects()
        except CodePlaneError as error:
            self._call.warn(f"The git operation succeeded, but its effects are unknown: {error.message}")
            return (), Effects()
        return changes, effects

    def _changes(self) -> tuple[FileChange, ...]:
        if self._files is None:
            return ()
        self._call.repo.refresh()
        return changed_files(self._files.digests, self._call.repo.index.digests())


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
                call.warn(f"{len(differ)} files changed: too many to list definitions and tests.")
                return Effects()
            layout = snapshot.layout.blobs
            if unread := sum(path in layout and layout[path] is None for path in differ):
                call.warn(f"{unread} of the files are not indexed yet; definitions and tests are left out.")
                return Effects()
            return _compare_definitions(snapshot, self.blobs, differ)


def _is(data: bytes, digest: str | None) -> bool:
    return sha256(data).hexdigest() == digest


def _status_line(call: Call) -> str | None:
    try:
        status = call.repo.tree.git.look().in_words()
        with call.repo.checkout.repository.opened() as handle:
            operation = unfinished_operation(handle)
    except CodePlaneError as error:
        call.warn(f"The git operation succeeded, but its status is unknown: {error.message}")
        return None
    return f"{status}; {operation} in progress" if operation is not None else status


def _compare_definitions(
    snapshot: Snapshot, old: Mapping[str, int | None], differ: list[RepoPath]
) -> Effects:
    layout = snapshot.layout.blobs
    then: dict[str, int | None] = {path: old[path] for path in differ if path in old}
    now: dict[str, int | None] = {path: layout[path] for path in differ if path in layout}
    files = list(
        structural_diff(
            State("before", then, snapshot, lambda _: None, snapshot.epoch),
            State("after", now, snapshot, lambda _: None, snapshot.epoch),
        )
    )
    knowledge = Known(changed_definitions(files))
    impact = affected_tests(snapshot, [path for path in differ if path in now], knowledge)
    if removal_count := len(then.keys() - now.keys()):
        impact = replace(
            impact, reasons=[*impact.reasons, f"{removal_count} removed files may be needed by tests"]
        )
    return Effects(tuple(files), impact)
