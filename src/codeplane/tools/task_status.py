from pydantic import Field

from codeplane.answers.ledger import TaskReport, line, report
from codeplane.core.errors import NotFound
from codeplane.core.ids import TaskId
from codeplane.ledger import Task
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, tool

_LAST = 10


class TaskStatusInput(Input):
    task_id: str | None = Field(
        default=None, max_length=100, description="Task to show; by default the session's own."
    )


class TaskStatusOutput(TaskReport):
    operations: list[str] = Field(description="The last operations, newest first, one per line.")

    def render(self) -> str:
        """The task, then its operations, newest first."""
        return "\n".join([super().render(), *(self.operations or ["nothing changed in it yet"])])


@tool(Effect.READ, "tasks")
def task_status(call: Call, args: TaskStatusInput) -> TaskStatusOutput:
    """Shows a task: state, budgets, flags, last operations.

    Use when:
    - you want to know what is left of a budget, or what was changed
    """
    task = _find_task(call, args.task_id)
    operations = call.repo.ledger.operations(task=task.task_id, limit=_LAST)
    return TaskStatusOutput(**report(task).model_dump(), operations=[line(one) for one in operations])


def _find_task(call: Call, task_id: str | None) -> Task:
    if task_id in (None, call.task.task_id):
        return call.task
    task = call.repo.tasks.find(TaskId(task_id or ""))
    if task is None:
        raise NotFound(f"The ledger has no task {task_id!r}.", hints=["task_status {}", "cpl log"])
    return task
