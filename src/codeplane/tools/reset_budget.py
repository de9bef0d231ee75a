from pydantic import Field

from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, Output, tool


class ResetBudgetInput(Input):
    pass


class ResetBudgetOutput(Output):
    spent: int = Field(description="Characters of source that were read since the last reset.")
    most: int = Field(description="Characters that may be read until the next one.")


@tool(Effect.READ, "files", standard=True)
def reset_budget(call: Call, args: ResetBudgetInput) -> ResetBudgetOutput:  # noqa: ARG001 - it has none
    """Resets the read budget of this session.

    Use when:
    - a call answered READ_BUDGET_SPENT and you know what you still have to read
    """
    budget = call.session.reading
    return ResetBudgetOutput(spent=budget.reset(), most=budget.most)
