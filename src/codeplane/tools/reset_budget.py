from pydantic import Field

from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, tool


class ResetBudgetInput(Input):
    pass


class ResetBudgetOutput(Output):
    spent: int = Field(description="Characters of source read since the last reset.")
    most: int = Field(description="Characters that may be read before the next one.")

    def render(self) -> str:
        return f"Read {self.spent} characters since the last reset; {self.most} more may be read."


@tool(Effect.READ, "files", reads_state=False)
def reset_budget(call: Call, args: ResetBudgetInput) -> ResetBudgetOutput:  # noqa: ARG001 - it has none
    """Resets the session's read budget.

    Use when:
    - little of the budget is left and you know what you still have to read
    """
    budget = call.session.read_budget
    return ResetBudgetOutput(spent=budget.reset(), most=budget.most)
