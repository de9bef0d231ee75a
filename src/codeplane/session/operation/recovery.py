"""What a crash has cut off is finished or taken back at the next start, and put on record."""

import time
from collections.abc import Mapping
from typing import Any

from codeplane.core.errors import CodePlaneError, EditInDoubt
from codeplane.core.ids import SessionId, TaskId
from codeplane.jail import shown
from codeplane.ledger import Ledger, Operation, mutation_fingerprint
from codeplane.mutation import Engine, Recovered
from codeplane.session.checkout import Checkout
from codeplane.working_tree import Opened, WorkingTree


def recover(engine: Engine, ledger: Ledger) -> tuple[str, ...]:
    """Settles every operation that the journal still has; what the operator should know of it."""
    told = []
    try:
        for one in engine.recover(lambda operation: ledger.find(operation) is not None):
            told.append(_told(one))
            if one.outcome != "doubtful":
                ledger.record(_row(one))
                engine.forget(one.operation)
    except CodePlaneError as error:
        told.append(f"An edit that was cut off is not settled yet: {error.message}")
    return tuple(told)


def settle(checkout: Checkout) -> None:
    """As a start does, without starting. The caller holds the server's lock."""
    tree = WorkingTree(checkout.root, checkout.repository, Opened(checkout.opened))
    engine = Engine(tree, checkout.repository, checkout.state.path)
    ledger = Ledger.open(checkout.state.ledger, checkout.settings.ledger)
    try:
        recover(engine, ledger)
    finally:
        engine.close()
        ledger.close()


def noted(row: Operation) -> dict[str, Any]:
    """What the journal keeps of a row, so that a start after a crash can write it."""
    return {
        "task_id": row.task_id,
        "session_id": row.session_id,
        "timestamp_ms": row.timestamp_ms,
        "op_type": row.op_type,
        "repo_before": row.repo_before,
        "insertions": row.insertions,
        "deletions": row.deletions,
        "undoes": row.undoes,
    }


def _row(one: Recovered) -> Operation:
    note, is_done = one.note, one.outcome == "finished"
    changes = one.changes
    insertions, deletions = (_number(note, name) if is_done else 0 for name in ("insertions", "deletions"))
    return Operation(
        operation_id=one.operation,
        task_id=TaskId(str(note.get("task_id", ""))),
        session_id=SessionId(str(note.get("session_id", ""))),
        timestamp_ms=_number(note, "timestamp_ms") or int(time.time() * 1000),
        duration_ms=0,
        op_type=str(note.get("op_type", "")),
        success=is_done,
        repo_before=note.get("repo_before"),
        repo_after=None if is_done else note.get("repo_before"),
        changes=changes,
        insertions=insertions,
        deletions=deletions,
        mutation_fingerprint=mutation_fingerprint(changes, insertions, deletions) if is_done else None,
        failure_class=None if is_done else EditInDoubt.name(),
        unchanged=not is_done,
        undoes=note.get("undoes") if is_done else None,
        recovered=True,
    )


def _number(note: Mapping[str, Any], name: str) -> int:
    value = note.get(name)
    return value if isinstance(value, int) else 0


def _told(one: Recovered) -> str:
    outcome = {
        "finished": "was finished at this start",
        "undone": "was taken back at this start",
        "doubtful": "could not be settled: its files are closed to edits",
    }[one.outcome]
    foreign = f" (changed by somebody else: {', '.join(map(shown, one.foreign))})" if one.foreign else ""
    return f"Operation {one.operation}, cut off by a crash, {outcome}{foreign}."
