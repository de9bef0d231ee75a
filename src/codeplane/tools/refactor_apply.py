from typing import Annotated

from pydantic import Field

from codeplane.answers.plan import PlanOutput, next_calls
from codeplane.core.errors import DecisionRefused
from codeplane.refactor import Verdict
from codeplane.session import Call
from codeplane.session.plan_execution import execute_plan
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._settling import answered


class RefactorApplyInput(Input):
    plan: Annotated[str, synonyms("id", "plan_id", "refactor_id")] = Field(
        max_length=100, description="`ref_…` of a plan whose outcome is ok or ok_syntactic."
    )


@tool(Effect.WRITE, "refactoring")
def refactor_apply(call: Call, args: RefactorApplyInput) -> PlanOutput:
    """Applies a plan, all of its edits or none, if the files it is based on are unchanged.

    Use when:
    - a preview was right
    Examples:
    - Apply: {"plan": "ref_0123456789ab"}
    """
    pending = call.repo.plans.get(args.plan)
    verdict = pending.plan.verdict
    if verdict not in (Verdict.OK, Verdict.OK_SYNTACTIC):
        raise DecisionRefused(
            f"The outcome of the plan is {verdict}.", hints=next_calls(pending), outcome=verdict
        )
    return answered(call, execute_plan(call, pending, "if_certain"))
