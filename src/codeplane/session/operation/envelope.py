"""The envelope of an operation: charged before it acts, on record whatever comes of it, told afterwards.

Edits, git and test runs act in it. Each says what it has done and which states of the files lie around it;
ids, times, rows, failures and signals are the envelope's.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from typing import Any

from codeplane.core.edits import FileChange
from codeplane.core.errors import CodePlaneError
from codeplane.core.fingerprint import Fingerprint
from codeplane.core.ids import OperationId, new_operation_id
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown
from codeplane.ledger import TEST_RUN, Operation
from codeplane.ledger.tasks import Charge
from codeplane.session.call import Call
from codeplane.session.operation.aftermath import Made, afterwards

States = AbstractContextManager[tuple[Fingerprint, Fingerprint]]
"""The states before and after an operation, from `StateSequence`; its row is written in the block."""


class Envelope:
    """One operation, from the moment that it is certain to be tried until its row is written."""

    def __init__(self, call: Call, op_type: str, **known: Any) -> None:
        """`known` are the fields of its row that are known before it acts."""
        self.call = call
        self.is_recorded = False
        self.row = Operation(
            operation_id=new_operation_id(),
            task_id=call.task.task_id,
            session_id=call.session.session_id,
            timestamp_ms=int(time.time() * 1000),
            duration_ms=0,
            op_type=op_type,
            success=False,
            **known,
        )
        self._began = time.perf_counter()

    @property
    def id(self) -> OperationId:
        return self.row.operation_id

    def charge(self, kind: Charge) -> None:
        """Counts the operation against the budgets of its task, or refuses it."""
        self.call.charge(kind, self.row.op_type)

    @contextmanager
    def journaled(self) -> Iterator[None]:
        """For what no engine of ours carries out: while the block runs, the journal has the row as far as it
        is known. Where the block ends without a row, the next start writes one."""
        engine, states = self.call.repo.engine, self.call.repo.states
        try:
            engine.announce(self.id, self.row.body())
        except CodePlaneError as error:
            with suppress(CodePlaneError):
                self.record(self.failed(error, unchanged=True), states.turn(self.id))
            raise
        try:
            yield
        finally:
            if self.is_recorded:
                engine.conclude(self.id)

    def ended(self, **known: Any) -> Operation:
        """The row of the operation as it ends now."""
        took = round((time.perf_counter() - self._began) * 1000)
        return replace(self.row, duration_ms=took, **known)

    def failed(self, error: Exception, **known: Any) -> Operation:
        """The row of an operation that an error has ended."""
        name = error.name() if isinstance(error, CodePlaneError) else type(error).__name__
        return self.ended(failure_class=name, **known)

    def record(self, row: Operation, states: States) -> Operation:
        """Writes the row, with the states around it. From here on a change stays, whatever fails."""
        with states as (before, after):
            row = replace(row, repo_before=before.hex(), repo_after=after.hex())
            self.call.repo.tasks.record(self.call.task, row)
        self.is_recorded = True
        if row.success and _can_be_undone(row):
            self.call.lasting_changes.append(
                Made(row.operation_id, tuple(shown(one.path) for one in row.changes))
            )
        return row

    def signal(self, row: Operation) -> None:
        """Tells the client whether a change that is on record is progress."""
        tasks, fingerprint = self.call.repo.tasks, row.mutation_fingerprint or ""
        signals = afterwards(
            self.call.warn,
            "it is unknown whether it is progress",
            lambda: tasks.note_mutation(self.call.task, fingerprint),
            None,
        )
        if signals is not None:
            self.call.signal(signals)


def _can_be_undone(row: Operation) -> bool:
    """Whether it has changed files, moved HEAD, or put something aside."""
    if row.op_type == TEST_RUN:
        return False  # what tests change is no edit
    is_head_moved = (row.branch_before, row.head_before) != (row.branch_after, row.head_after)
    return bool(row.changes) or (row.is_git and is_head_moved) or row.saved is not None


def refresh_index(call: Call) -> None:
    """Takes into the index what is in the tree now; rows that come later need not reckon with it."""
    with call.repo.states.looking():
        call.repo.refresh(call.progress)


def changed_files(
    before: Mapping[RepoPath, Digest], after: Mapping[RepoPath, Digest]
) -> tuple[FileChange, ...]:
    """The files that differ between two states of the index."""
    differ = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return tuple(FileChange(path, before.get(path), after.get(path)) for path in differ)
