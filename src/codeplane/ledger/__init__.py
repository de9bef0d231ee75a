"""Tasks, their budgets, and an append-only record of everything that changed the repository."""

from codeplane.ledger.artifacts import Artifacts
from codeplane.ledger.fingerprints import failure_fingerprint, mutation_fingerprint
from codeplane.ledger.history import History
from codeplane.ledger.ledger import Ledger
from codeplane.ledger.rows import TEST_RUN, Operation, short_diff
from codeplane.ledger.task import Limits, Task, TaskState
from codeplane.ledger.tasks import Signals, Tasks

__all__ = [
    "TEST_RUN",
    "Artifacts",
    "History",
    "Ledger",
    "Limits",
    "Operation",
    "Signals",
    "Task",
    "TaskState",
    "Tasks",
    "failure_fingerprint",
    "mutation_fingerprint",
    "short_diff",
]
