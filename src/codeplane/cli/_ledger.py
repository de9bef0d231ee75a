"""The ledger of a repository, read without a server."""

from typing import Any

from codeplane.ledger import History
from codeplane.ledger.summary import accounts
from codeplane.storage import StateDir


def history_of(state: StateDir) -> History:
    """The ledger's rows, read where they are; nothing is made."""
    return History(state.ledger if state.exists else state.path / "none" / "ledger")


def recorded_accounts(state: StateDir) -> dict[str, Any]:
    """What a server would tell of tasks and operations, and what is wrong with the ledger."""
    history = history_of(state)
    report = accounts(history)
    mark_ended(state, report.get("tasks", []))
    return report | ({"notices": problems} if (problems := history.all_problems()) else {})


def mark_ended(state: StateDir, tasks: list[dict[str, Any]]) -> None:
    """Says of open tasks that nothing goes on in them, where no server runs that could."""
    if not state.exists or not state.lock().is_taken():
        for task in tasks:
            if task["state"] == "OPEN":
                task["reason"] = "its server has ended"
