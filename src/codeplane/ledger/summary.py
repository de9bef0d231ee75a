"""Tasks and operations as they are told to people and their programs."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from codeplane.ledger.history import History
from codeplane.ledger.rows import Operation
from codeplane.ledger.task import Task

_MOST_TASKS = 10
_MOST_OPERATIONS = 3


def moment(milliseconds: int) -> str:
    """A time as it is shown, to the second."""
    try:
        date = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return "?"  # a row that somebody made up
    return date.strftime("%Y-%m-%dT%H:%M:%SZ")


def task_summary(task: Task) -> dict[str, Any]:
    """A task with its state and what it has used of its budgets."""
    report = {
        "task_id": task.task_id,
        "state": task.state,
        "label": task.label,
        "reason": task.reason,
        "opened_at": moment(task.opened_ms),
        "closed_at": moment(task.closed_ms) if task.closed_ms is not None else None,
        "mutations": f"{task.mutations}/{task.limits.max_mutations}",
        "test_runs": f"{task.test_runs}/{task.limits.max_test_runs}",
        "max_duration_sec": task.limits.max_duration_sec,
        "working_set": list(task.working_set) or None,
        "flags": list(task.flags) or None,
    }
    return {name: value for name, value in report.items() if value is not None}


def operation_summary(operation: Operation) -> dict[str, Any]:
    """An operation with all that the ledger holds of it."""
    return {"number": operation.number, "at": moment(operation.timestamp_ms), **operation.body()}


def accounts(history: History, open_tasks: Sequence[Task] | None = None) -> dict[str, Any]:
    """What a status tells: the open tasks, the last that ended, the last operations; nothing where there are
    none.

    A server knows its open tasks itself; otherwise they are those that the ledger has as open.
    """
    tasks = history.tasks(_MOST_TASKS, "OPEN") if open_tasks is None else open_tasks[:_MOST_TASKS]
    report = {
        "tasks": [task_summary(task) for task in tasks],
        "last_task": _last_ended(history),
        "operations": [operation_summary(one) for one in history.operations(limit=_MOST_OPERATIONS)],
    }
    return {name: value for name, value in report.items() if value}


def _last_ended(history: History) -> dict[str, Any] | None:
    """A server that has just started, or a client that ran into a limit, left its task behind."""
    tasks = (task for task in history.tasks(_MOST_TASKS) if task.closed_ms is not None)
    last = max(tasks, key=lambda task: task.closed_ms or 0, default=None)
    return task_summary(last) if last is not None else None
