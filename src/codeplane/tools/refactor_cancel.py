from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool


class RefactorCancelInput(Input):
    plan: Annotated[str, synonyms("id", "plan_id", "refactor_id")] = Field(
        max_length=100, description="`ref_…`."
    )


class RefactorCancelOutput(Output):
    summary: str = Field(description="What was dropped.")

    def render(self) -> str:
        return self.summary


@tool(Effect.SESSION, "refactoring")
def refactor_cancel(call: Call, args: RefactorCancelInput) -> RefactorCancelOutput:
    """Drops a plan that is no longer wanted; no file changes.

    Use when:
    - a preview was wrong
    Examples:
    - Drop it: {"plan": "ref_0123456789ab"}
    """
    pending = call.repo.plans.get(args.plan)
    call.repo.plans.drop(pending.id)
    return RefactorCancelOutput(summary=f"Dropped {pending.id}; no file has changed.")
