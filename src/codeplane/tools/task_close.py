from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.ledger import TaskReport, report
from codeplane.core.errors import TaskClosed
from codeplane.ledger import TaskState
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool


class TaskCloseInput(Input):
    outcome: Annotated[Literal["success", "failed"], synonyms("state", "result", "status")] = Field(
        description="How the work ended."
    )


@tool(Effect.SESSION, "tasks")
def task_close(call: Call, args: TaskCloseInput) -> TaskReport:
    """Ends the current task; the next call begins another.

    Use when:
    - a piece of work is done, or given up
    Examples:
    - The work is done: {"outcome": "success"}
    """
    task = call.task
    if task.state != "OPEN":
        raise TaskClosed(
            f"Task {task.task_id} is already closed ({task.state}).",
            hints=["task_open {}"],
            task_id=task.task_id,
        )
    state: TaskState = "CLOSED_SUCCESS" if args.outcome == "success" else "CLOSED_FAILED"
    call.repo.tasks.close(task, state, "the client closed it")
    return report(task)
