"""What a crash has cut off is finished, taken back or told of at the next start, and put on record."""

import time
from dataclasses import replace
from typing import Final

from codeplane.core.errors import CodePlaneError, EditInDoubt
from codeplane.core.ids import SessionId, TaskId
from codeplane.git import Repository
from codeplane.git.repo.ref_locks import drop_ref_locks
from codeplane.git.worktree.index_writer import drop_own_lock
from codeplane.jail import shown
from codeplane.ledger import Ledger, Operation, mutation_fingerprint
from codeplane.mutation import Engine, Recovered
from codeplane.session.checkout import Checkout
from codeplane.working_tree import Opened, WorkingTree

_CUT_OFF: Final = "CUT_OFF"


def recover(engine: Engine, ledger: Ledger, repository: Repository) -> tuple[str, ...]:
    """Settles every operation that the journal still has; what the operator should know of it."""
    notices = [drop_own_lock(repository)]
    try:
        for one in engine.recover(lambda operation: ledger.find(operation) is not None):
            row = _row_of_git(one, repository) if one.outcome == "cut_off" else _row_of_edit(one)
            notices += _notices(one, row, repository)
            if one.outcome != "doubtful":
                ledger.record(row)
                engine.forget(one.operation)
    except CodePlaneError as error:
        notices.append(f"An operation that was cut off is not settled yet: {error.message}")
    return tuple(notice for notice in notices if notice is not None)


def settle(checkout: Checkout) -> None:
    """Settles what was cut off, as a start does. The caller holds the server's lock."""
    tree = WorkingTree(checkout.root, checkout.repository, Opened(checkout.opened))
    engine = Engine(tree, checkout.repository, checkout.state.path)
    ledger = Ledger.open(checkout.state.ledger, checkout.settings.ledger)
    try:
        recover(engine, ledger, checkout.repository)
    finally:
        engine.close()
        ledger.close()


def _row_in_journal(one: Recovered) -> Operation:
    """The row as it was begun; what the journal has in another form is left out."""
    try:
        return replace(Operation.of(0, {**one.note, "operation_id": one.operation}), recovered=True)
    except ValueError:
        return Operation(
            operation_id=one.operation,
            task_id=TaskId(""),
            session_id=SessionId(""),
            timestamp_ms=int(time.time() * 1000),
            duration_ms=0,
            op_type="",
            success=False,
            recovered=True,
        )


def _row_of_edit(one: Recovered) -> Operation:
    """The row of an edit that was finished or taken back."""
    row = _row_in_journal(one)
    if one.outcome != "finished":
        failure = EditInDoubt.name()
        return replace(
            row,
            repo_after=row.repo_before,
            insertions=0,
            deletions=0,
            failure_class=failure,
            unchanged=True,
            undoes=None,
        )
    fingerprint = mutation_fingerprint(one.changes, row.insertions, row.deletions)
    return replace(row, success=True, changes=one.changes, mutation_fingerprint=fingerprint)


def _row_of_git(one: Recovered, repository: Repository) -> Operation:
    """The row of what git was doing. Where it stands now is all that is known of it."""
    head = repository.head()
    return replace(
        _row_in_journal(one), head_after=head.commit, branch_after=head.branch, failure_class=_CUT_OFF
    )


def _notices(one: Recovered, row: Operation, repository: Repository) -> list[str | None]:
    if one.outcome != "cut_off":
        return [_notice_of_edit(one)]
    branches = sorted({branch for branch in (row.branch_before, row.branch_after) if branch})
    locks = drop_ref_locks(repository, branches, row.timestamp_ms / 1000)
    was = row.head_before or "no commit"
    notice = (
        f"{row.op_type} ({row.operation_id}) was interrupted by a crash. HEAD was {was} before it; "
        "check git_status, then repeat it or go back with git_reset."
    )
    return [notice, *locks]


def _notice_of_edit(one: Recovered) -> str:
    outcome = {
        "finished": "was completed at startup",
        "undone": "was rolled back at startup",
        "doubtful": "could not be resolved: its files are closed to edits",
    }[one.outcome]
    foreign = f" (changed by someone else: {', '.join(map(shown, one.foreign))})" if one.foreign else ""
    return f"Operation {one.operation}, interrupted by a crash, {outcome}{foreign}."
