from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.deltas import DeltaPhase, DeltaTask, counts_text, problem_text, shorten_tasks
from codeplane.answers.output import Output
from codeplane.delta.validators import ValidatorRun
from codeplane.jail import shown
from codeplane.mutation.diff_preview import counts
from codeplane.session import Call
from codeplane.session.delta.validation import PhaseReport, validate_plan
from codeplane.session.delta.verdicts import Verdict
from codeplane.tools._registry import Effect, Input, synonyms, tool

_LONGEST_SEC = 3600


class ValidateDeltasInput(Input):
    plan: Annotated[str, synonyms("plan_id", "id")] = Field(max_length=100, description="Id of the plan.")
    phase: Annotated[str | None, synonyms("phase_id")] = Field(
        default=None, max_length=200, description="Only this phase."
    )
    level: Literal["validated", "tested"] = Field(
        default="tested", description="validated: simulate only; tested: also run validators."
    )


class ValidateDeltasOutput(Output):
    summary: str = Field(description="How many tasks are green, and how well they are known.")
    plan: str = Field(description="Id of the plan.")
    phases: list[DeltaPhase] = Field(description="Phases in the order of execution.")

    def is_done(self) -> bool:
        return all(task.status == "green" for phase in self.phases for task in phase.tasks)

    def render(self) -> str:
        return "\n".join(
            [f"{self.plan} {self.summary}", *(line for phase in self.phases for line in phase.lines())]
        )


@tool(Effect.SESSION, "deltas", timeout_sec=_LONGEST_SEC)
def validate_deltas(call: Call, args: ValidateDeltasInput) -> ValidateDeltasOutput:
    """Simulates the deltas of a plan in memory, checks their assertions and runs validators in a copy.

    Changes no file. Later phases see what earlier ones would have done.

    Use when:
    - a plan has been written or edited, or files have changed
    Examples:
    - All phases that remain: {"plan": "plan_1a2b3c4d5e6f"}
    """
    report = validate_plan(call, args.plan, phase=args.phase, level=args.level)
    for warning in report.warnings:
        call.warn(warning)
    verdicts = report.verdicts
    output = ValidateDeltasOutput(
        summary=counts_text((one.status, one.confidence) for one in verdicts),
        plan=report.tree.plan.id,
        phases=[_phase_output(phase) for phase in report.phases],
    )
    if verdicts and output.is_done():
        level = min((one.confidence or "structural" for one in verdicts), key=_RANK.index)
        extra = "" if level == "tested" else f', "confidence": "{level}"'
        call.next_actions.append(f'execute_deltas {{"plan": "{output.plan}"{extra}}}')
    return output


_RANK = ("structural", "validated", "tested")


def _phase_output(phase: PhaseReport) -> DeltaPhase:
    tasks, more = shorten_tasks([_task_output(verdict) for verdict in phase.verdicts])
    runs = [_run_text(run) for run in phase.runs]
    return DeltaPhase(
        id=phase.phase.id, title=phase.phase.title, tasks=tasks, more=more or None, validators=runs or None
    )


def _run_text(run: ValidatorRun) -> str:
    outcome = "not installed" if run.is_missing else "passed" if run.is_passed else "failed"
    advisory = "" if run.is_required else " (advisory)"
    return f"{run.title}: {outcome}{advisory} {run.duration_ms / 1000:.1f} s"


def _task_output(verdict: Verdict) -> DeltaTask:
    problems = [
        problem_text({"path": shown(one.path), "text": one.text, "details": one.details})
        for one in verdict.problems
    ]
    outcome = verdict.outcome
    elements = outcome.elements if outcome is not None else ()
    files = {shown(one.path): "+{} -{}".format(*counts(one.before, one.after)) for one in elements}
    notes = list(dict.fromkeys(note for one in elements for note in one.notes))
    is_already = outcome is not None and outcome.is_green and outcome.is_already
    return DeltaTask(
        id=verdict.item.id,
        title=verdict.item.title,
        status=verdict.status,
        confidence=verdict.confidence,
        cause=verdict.cause,
        problems=problems or None,
        notes=notes or None,
        files=files if files and not is_already else None,
        is_already=is_already or None,
    )
