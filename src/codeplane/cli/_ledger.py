"""Tasks and operations in a line or a few. A repository may ship a ledger, so nothing in it is trusted."""

from typing import Any

from codeplane.ledger import History
from codeplane.ledger.summary import accounts
from codeplane.storage import StateDir

_FILES_IN_A_LINE = 3


def history_of(state: StateDir) -> History:
    """The ledger's rows, read where they are; nothing is made."""
    return History(state.ledger if state.exists else state.path / "none" / "ledger")


def recorded_accounts(state: StateDir) -> dict[str, Any]:
    """What a server would tell of tasks and operations, and what is wrong with the ledger."""
    history = history_of(state)
    told = accounts(history)
    mark_ended(state, told.get("tasks", []))
    return told | ({"notices": problems} if (problems := history.all_problems()) else {})


def mark_ended(state: StateDir, tasks: list[dict[str, Any]]) -> None:
    """Says of open tasks that nothing goes on in them, where no server runs that could."""
    if not state.exists or not state.lock().is_taken():
        for task in tasks:
            if task["state"] == "OPEN":
                task["reason"] = "its server has ended"


def task_line(task: dict[str, Any]) -> str:
    """A task at a glance."""
    label = f' "{_one_line(task["label"])}"' if "label" in task else ""
    reason = f" ({_one_line(task['reason'])})" if "reason" in task else ""
    flags = f", {', '.join(task['flags'])}" if "flags" in task else ""
    used = f"{task['mutations']} changes, {task['test_runs']} test runs"
    return f"{task['task_id']}{label} {task['state']}{reason}, {used}{flags}"


def operation_line(operation: dict[str, Any]) -> str:
    """An operation at a glance, its first files included."""
    files = operation.get("short_diff", "").splitlines()
    shown = files[:_FILES_IN_A_LINE] + (["…"] if len(files) > _FILES_IN_A_LINE else [])
    return "  ".join([operation_head(operation), *shown])


def operation_head(operation: dict[str, Any]) -> str:
    """An operation without its files."""
    outcome = "ok" if operation["success"] else operation.get("failure_class", "failed")
    counts = [f"{sign}{operation[name]}" for name, sign in _COUNTS if operation.get(name)]
    notes = [f"{text} {operation[name]}" for name, text in _NOTES if name in operation]
    tests = operation.get("failing_tests", [])
    notes += [f"{len(tests)} failing tests"] if tests else []
    notes += ["recovered"] if operation.get("recovered") else []
    told = [outcome, " ".join(counts), *notes, operation["operation_id"]]
    head = f"{operation['at']}  {_one_line(operation['op_type']):<12}"
    return "  ".join([head, *(_one_line(part) for part in told if part)])


_COUNTS = (("insertions", "+"), ("deletions", "-"))
_NOTES = (("limit_triggered", "limit:"), ("undoes", "undoes"))


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
