from typing import Annotated

from pydantic import Field

from codeplane.answers.ledger import TaskReport, report
from codeplane.answers.pages import clamped
from codeplane.core.globs import Globs
from codeplane.ledger import Limits
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool


class TaskOpenInput(Input):
    label: Annotated[str | None, synonyms("name", "title", "goal", "description")] = Field(
        default=None, max_length=200, description="Name of the work in the log."
    )
    max_mutations: int | None = Field(default=None, ge=1, description="Changes allowed.")
    max_test_runs: int | None = Field(default=None, ge=1, description="Test runs allowed.")
    max_duration_sec: int | None = Field(default=None, ge=1, description="Seconds allowed.")
    working_set: list[str] = Field(
        default=[], max_length=50, description="Globs of the files that may change; all by default."
    )


@tool(Effect.SESSION, "tasks")
def task_open(call: Call, args: TaskOpenInput) -> TaskReport:
    """Begins a task with its own budgets and ends the current one.

    Every session has a task without this call. Limits can't exceed those of the settings.

    Use when:
    - the work should be confined to some files, have a smaller budget or a name in the log
    Examples:
    - Work on the parser only: {"label": "fix the parser", "working_set": ["src/parser/**"]}
    """
    Globs(args.working_set)  # refuses what is no pattern
    tasks = call.repo.tasks
    limits = Limits(
        **{
            name: clamped(call, name, limit, most) if (limit := getattr(args, name)) is not None else most
            for name, most in vars(tasks.limits).items()
        }
    )
    tasks.close(call.session.task, "CLOSED_INTERRUPTED", "another task was opened")
    call.task = tasks.open(call.session.session_id, limits, args.label, args.working_set)
    call.session.task = call.task
    return report(call.task)
