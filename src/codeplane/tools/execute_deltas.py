from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.delta.execution import Options, PhaseResult, execute_plan
from codeplane.tools._registry import Effect, Input, synonyms, tool

_LONGEST_SEC = 3600
_MOST_FILES = 20


class ExecuteDeltasInput(Input):
    plan: Annotated[str, synonyms("plan_id", "id")] = Field(max_length=100, description="Id of the plan.")
    phase: Annotated[str | None, synonyms("phase_id")] = Field(
        default=None, max_length=200, description="Only this phase."
    )
    confidence: Literal["structural", "validated", "tested"] = Field(
        default="tested",
        description="What every task must have; below tested, no validator has confirmed it.",
    )
    auto_commit: Annotated[bool, synonyms("commit")] = Field(
        default=False, description="Commit each phase; otherwise it is left staged."
    )
    allow_dirty: bool = Field(default=False, description="Accept untracked files.")
    no_git: bool = Field(default=False, description="Accept any changes; stage and commit nothing.")


class ExecutedPhase(Output):
    id: str = Field(description="Id of the phase.")
    title: str = Field(description="Its title.")
    operation: str | None = Field(default=None, description="What undo takes back.")
    commit: str | None = Field(default=None, description="Commit that it became.")
    is_staged: bool | None = Field(default=None, description="Whether it was left staged.")
    files: list[str] = Field(description="Files that were written.")
    more_files: int | None = Field(default=None, description="Files beyond those.")

    def line(self) -> str:
        """The phase in a line."""
        how = f"committed {self.commit[:10]}" if self.commit else "staged" if self.is_staged else "written"
        if self.operation is None:
            return f"{self.id} {self.title}: nothing to change"
        count = len(self.files) + (self.more_files or 0)
        names = ", ".join(self.files[:3]) + (f" and {count - 3} more" if count > 3 else "")
        files = "1 file" if count == 1 else f"{count} files"
        return f"{self.id} {self.title}: {how}, {files} ({names}); undo: {self.operation}"


class ExecuteDeltasOutput(Output):
    summary: str = Field(description="How many phases were executed and how many remain.")
    phases: list[ExecutedPhase] = Field(description="Phases that were executed.")
    notices: list[str] | None = Field(default=None, description="What an execution before had left.")

    def render(self) -> str:
        return "\n".join([*(self.notices or ()), self.summary, *(phase.line() for phase in self.phases)])


@tool(Effect.WRITE, "deltas", timeout_sec=_LONGEST_SEC)
def execute_deltas(call: Call, args: ExecuteDeltasInput) -> ExecuteDeltasOutput:
    """Executes the phases of a plan in order, each whole or not at all.

    Everything is validated again first, validators included. Each phase is one operation; undo takes it back.

    Use when:
    - validate_deltas says that all is green and the user wants the change
    Examples:
    - All phases, a commit each: {"plan": "plan_1a2b3c4d5e6f", "auto_commit": true}
    """
    options = Options(args.phase, args.confidence, args.auto_commit, args.allow_dirty, args.no_git)
    report = execute_plan(call, args.plan, options)
    rest = f", {report.remaining} remain" if report.remaining else ""
    return ExecuteDeltasOutput(
        summary=f"{len(report.results)} {'phase' if len(report.results) == 1 else 'phases'} executed{rest}.",
        phases=[_phase_output(one) for one in report.results],
        notices=report.notices or None,
    )


def _phase_output(result: PhaseResult) -> ExecutedPhase:
    files = [shown(path) for path in result.paths]
    return ExecutedPhase(
        id=result.phase.id,
        title=result.phase.title,
        operation=result.operation,
        commit=result.commit,
        is_staged=result.is_staged or None,
        files=files[:_MOST_FILES],
        more_files=max(0, len(files) - _MOST_FILES) or None,
    )
