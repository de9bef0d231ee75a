"""Tasks and operations as text. A repository may ship a ledger, so nothing in it is trusted."""

from typing import Any

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.text import cut
from codeplane.jail import shown
from codeplane.ledger import Operation, Task
from codeplane.ledger.summary import moment, task_summary

_LONGEST = 150


class TaskReport(Output):
    """A task as it is now."""

    task_id: str = Field(description="Id of the task.")
    state: str = Field(description="`OPEN` or how it ended.")
    label: str | None = Field(default=None, description="Its name.")
    reason: str | None = Field(default=None, description="Why it ended.")
    opened_at: str = Field(description="When it began.")
    closed_at: str | None = Field(default=None, description="When it ended.")
    mutations: str = Field(description="Changes made and allowed.")
    test_runs: str = Field(description="Test runs made and allowed.")
    max_duration_sec: int = Field(description="Seconds it may stay open.")
    working_set: list[str] | None = Field(default=None, description="Globs of the files that may change.")
    flags: list[str] | None = Field(
        default=None, description="`no_op` or `non_progress` if the last operation led nowhere."
    )

    def render(self) -> str:
        """One line for the task, one each for what confines it and how it ended."""
        name = f' "{self.label}"' if self.label else ""
        reason = f" ({self.reason})" if self.reason else ""
        usage = f"{self.mutations} changes, {self.test_runs} test runs, {self.max_duration_sec} s at most"
        lines = [f"{self.task_id}{name}: {self.state}{reason}", f"{usage}; since {self.opened_at}"]
        if self.working_set:
            lines.append(f"confined to {', '.join(self.working_set)}")
        if self.flags:
            lines.append(f"last operation: {', '.join(self.flags)}")
        return "\n".join(lines)


def report(task: Task) -> TaskReport:
    """The task as the client is shown it."""
    return TaskReport(**task_summary(task))


def line(operation: Operation) -> str:
    """An operation in one line: when, what, how it ended, which files."""
    outcome = "ok" if operation.success else operation.failure_class or "failed"
    files = cut(shown(operation.short_diff).replace("\n", ", "), _LONGEST)
    parts = [moment(operation.timestamp_ms), operation.operation_id, operation.op_type, outcome, files]
    return "  ".join(part for part in parts if part)


_FILES_IN_A_LINE = 3


def task_line(task: dict[str, Any]) -> str:
    """A task at a glance."""
    label = f' "{_one_line(task["label"])}"' if "label" in task else ""
    reason = f" ({_one_line(task['reason'])})" if "reason" in task else ""
    flags = f", {', '.join(task['flags'])}" if "flags" in task else ""
    usage = f"{task['mutations']} changes, {task['test_runs']} test runs"
    return f"{task['task_id']}{label} {task['state']}{reason}, {usage}{flags}"


def operation_line(operation: dict[str, Any]) -> str:
    """An operation at a glance, its first files included."""
    files = operation.get("short_diff", "").splitlines()
    first_files = files[:_FILES_IN_A_LINE] + (["…"] if len(files) > _FILES_IN_A_LINE else [])
    return "  ".join([operation_head(operation), *first_files])


def operation_head(operation: dict[str, Any]) -> str:
    """An operation without its files."""
    outcome = "ok" if operation["success"] else operation.get("failure_class", "failed")
    counts = [f"{sign}{operation[name]}" for name, sign in _COUNTS if operation.get(name)]
    notes = [f"{text} {operation[name]}" for name, text in _NOTES if name in operation]
    tests = operation.get("failing_tests", [])
    notes += [f"{len(tests)} failing tests"] if tests else []
    notes += ["recovered"] if operation.get("recovered") else []
    parts = [outcome, " ".join(counts), *notes, operation["operation_id"]]
    head = f"{operation['at']}  {_one_line(operation['op_type']):<12}"
    return "  ".join([head, *(_one_line(part) for part in parts if part)])


_COUNTS = (("insertions", "+"), ("deletions", "-"))


_NOTES = (("limit_triggered", "limit:"), ("undoes", "undoes"))


def _one_line(text: object) -> str:
    return " ".join(str(text).split())
