from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.delta_views import side_by_side_view, unified_view
from codeplane.answers.deltas import DeltaPhase, DeltaTask, counts_text, problem_text, shorten_tasks
from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.session.delta.lock import ExecutionLock
from codeplane.session.delta.preview import preview_task
from codeplane.session.delta.status import Standing, plan_standing
from codeplane.tools._registry import Effect, Input, synonyms, tool

_MOST_EVENTS = 40


class GetDeltaStatusInput(Input):
    plan: Annotated[str, synonyms("plan_id", "id")] = Field(
        max_length=100, description="Id of the plan, or of one of its tasks."
    )
    task: Annotated[str | None, synonyms("task_id", "item")] = Field(
        default=None, max_length=100, description="Show this task, by id or key: why, before and after."
    )
    view: Literal["diff", "side_by_side"] = Field(
        default="diff", description="How before and after are shown."
    )
    events: bool = Field(default=False, description="Also what executions have come to.")


class GetDeltaStatusOutput(Output):
    summary: str = Field(description="How many tasks are green, red, stale and pending.")
    plan: str = Field(description="Id of the plan.")
    execution: str | None = Field(default=None, description="Who executes deltas now, since when.")
    phases: list[DeltaPhase] | None = Field(default=None, description="Phases that remain, with their tasks.")
    views: list[str] | None = Field(default=None, description="Before and after of the task, by file.")
    events: list[str] | None = Field(default=None, description="Events of executions, newest first.")

    def render(self) -> str:
        lines = [f"{self.plan} {self.summary}", *([self.execution] if self.execution else [])]
        lines += [line for phase in self.phases or () for line in phase.lines()]
        return "\n".join([*lines, *(self.views or ()), *(self.events or ())])


@tool(Effect.SESSION, "deltas")
def get_delta_status(call: Call, args: GetDeltaStatusInput) -> GetDeltaStatusOutput:
    """How the deltas of a plan stand: green, red, stale or pending, how well they are known, and why.

    Examples:
    - A plan: {"plan": "plan_1a2b3c4d5e6f"}
    - One task, before and after: {"plan": "plan_1a2b3c4d5e6f", "task": "pt_1a2b3c4d5e6f"}
    """
    standing = plan_standing(call, args.plan)
    standings = standing.standings
    reference = args.task or (args.plan if standing.tree.plan.id != args.plan else None)
    item = standing.tree.find_item(reference) if reference is not None else None
    if item is not None:
        standings = [one for one in standings if item.id in (one.item.id, one.phase.id)]
    lock = ExecutionLock(call.repo.state)
    holder = lock.holder()
    events = call.repo.ledger.events(standing.tree.plan.id, _MOST_EVENTS) if args.events else []
    return GetDeltaStatusOutput(
        summary=counts_text((one.status, one.confidence) for one in standing.standings),
        plan=standing.tree.plan.id,
        execution=holder.text if holder is not None and lock.is_taken() else None,
        phases=_phases(standings, is_detailed=item is not None) or None,
        views=_views(call, args, item.id) if item is not None and item.delta else None,
        events=[_event_line(one) for one in events] or None,
    )


def _phases(standings: list[Standing], *, is_detailed: bool) -> list[DeltaPhase]:
    phases: dict[str, list[Standing]] = {}
    for one in standings:
        phases.setdefault(one.phase.id, []).append(one)
    outputs = []
    for group in phases.values():
        tasks, more = shorten_tasks([_task_output(one, is_detailed=is_detailed) for one in group])
        outputs.append(
            DeltaPhase(id=group[0].phase.id, title=group[0].phase.title, tasks=tasks, more=more or None)
        )
    return outputs


def _task_output(one: Standing, *, is_detailed: bool) -> DeltaTask:
    problems = (
        [problem_text(problem) for problem in one.detail.get("problems", ())] if one.status == "red" else []
    )
    return DeltaTask(
        id=one.item.id,
        title=one.item.title,
        status=one.status,
        confidence=one.confidence if one.status == "green" else None,
        cause=one.cause,
        problems=(problems if is_detailed else problems[:1]) or None,
    )


def _views(call: Call, args: GetDeltaStatusInput, item_id: str) -> list[str]:
    show = unified_view if args.view == "diff" else side_by_side_view
    return [show(element) for element in preview_task(call, item_id).elements]


def _event_line(event: dict[str, object]) -> str:
    body = {key: value for key, value in event.items() if key not in ("event", "plan_id", "timestamp_ms")}
    return f"{event.get('event')} {' '.join(f'{key}={value}' for key, value in body.items())}"[:300]
