from pydantic import Field

from codeplane.core.errors import NotFound
from codeplane.core.ids import TaskId
from codeplane.ledger import Task
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, tool
from codeplane.tools._task import TaskReport, line, report

_LAST = 10


class TaskStatusInput(Input):
    task_id: str | None = Field(default=None, max_length=100, description="The session's own without.")


class TaskStatusOutput(TaskReport):
    operations: list[str] = Field(description="The last operations, newest first, one in a line.")


@tool(Effect.READ, "tasks", standard=True)
def task_status(call: Call, args: TaskStatusInput) -> TaskStatusOutput:
    """Tells how far a task is: state, budgets, flags, the last operations.

    Use when:
    - you want to know what is left of a budget, or what was changed
    """
    task = _find(call, args.task_id)
    done = call.repo.ledger.operations(task=task.task_id, limit=_LAST)
    return TaskStatusOutput(**report(task).model_dump(), operations=[line(one) for one in done])


def _find(call: Call, task_id: str | None) -> Task:
    if task_id in (None, call.task.task_id):
        return call.task
    found = call.repo.tasks.find(TaskId(task_id or ""))
    if found is None:
        raise NotFound(f"There is no task {task_id!r} in the ledger.", hints=["task_status {}", "cpl log"])
    return found
