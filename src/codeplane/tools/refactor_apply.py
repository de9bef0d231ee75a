from typing import Annotated

from pydantic import Field

from codeplane.core.errors import DecisionRefused
from codeplane.refactor import Verdict
from codeplane.session import Call
from codeplane.session.refactoring import apply
from codeplane.tools._delta import Delta, told
from codeplane.tools._plan import decision
from codeplane.tools._registry import Effect, Input, synonyms, tool


class RefactorApplyInput(Input):
    refactor_id: Annotated[str, synonyms("id", "plan_id")] = Field(
        max_length=100, description="`ref_…` of a plan whose outcome is ok or ok_syntactic."
    )


@tool(Effect.WRITE, "refactoring")
def refactor_apply(call: Call, args: RefactorApplyInput) -> Delta:
    """Makes the edits of a plan, all of them, if the files that it rests on are as they were.

    Use when:
    - a preview was right
    Examples:
    - Apply: {"refactor_id": "ref_0123456789ab"}
    """
    pending = call.repo.plans.get(args.refactor_id)
    verdict = pending.plan.verdict
    if verdict not in (Verdict.OK, Verdict.OK_SYNTACTIC):
        hints = [f'refactor_inspect {{"refactor_id": "{pending.id}"}}']
        if verdict is Verdict.NEEDS_DECISION:
            hints.append(f"Without the open groups: {decision(pending)}")
        raise DecisionRefused(f"The outcome of the plan is {verdict}.", hints=hints, outcome=verdict)
    return told(call, apply(call, pending))
