"""How a task is shown."""

from pydantic import Field

from codeplane.core.text import cut
from codeplane.jail import shown
from codeplane.ledger import Operation, Task
from codeplane.ledger.summary import moment, task_summary
from codeplane.tools._registry import Output

_LONGEST = 150


class TaskReport(Output):
    """A task as it is now."""

    task_id: str = Field(description="Id of the task.")
    state: str = Field(description="`OPEN` or how it ended.")
    label: str | None = Field(default=None, description="What the client called it.")
    reason: str | None = Field(default=None, description="Why it ended.")
    opened_at: str = Field(description="When it began.")
    closed_at: str | None = Field(default=None, description="When it ended.")
    mutations: str = Field(description="Changes made, of those allowed.")
    test_runs: str = Field(description="Test runs, of those allowed.")
    max_duration_sec: int = Field(description="Seconds that it may take from its beginning.")
    working_set: list[str] | None = Field(default=None, description="Globs that changes are confined to.")
    flags: list[str] | None = Field(
        default=None, description="`no_op` or `non_progress`, where the last operation led nowhere."
    )


def report(task: Task) -> TaskReport:
    """The task as the client is shown it."""
    return TaskReport(**task_summary(task))


def line(operation: Operation) -> str:
    """An operation in one line: when, what, how it ended, which files."""
    outcome = "ok" if operation.success else operation.failure_class or "failed"
    files = cut(shown(operation.short_diff).replace("\n", ", "), _LONGEST)
    told = [moment(operation.timestamp_ms), operation.operation_id, operation.op_type, outcome, files]
    return "  ".join(part for part in told if part)
