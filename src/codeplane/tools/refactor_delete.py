from typing import Annotated

from pydantic import Field

from codeplane.answers.plan import PlanOutput
from codeplane.session import Call
from codeplane.session.plan_execution import execute_plan
from codeplane.session.refactoring import delete
from codeplane.tools._parameters import LONGEST_SEC
from codeplane.tools._registry import Effect, synonyms, tool
from codeplane.tools._settling import RefactoringInput, answered, carried_out, needed


class RefactorDeleteInput(RefactoringInput):
    target: Annotated[str, synonyms("symbol", "path", "name", "at")] = Field(
        default="", max_length=4096, description="Symbol or path."
    )


@tool(Effect.WRITE, "refactoring", standard=True, timeout_sec=LONGEST_SEC)
def refactor_delete(call: Call, args: RefactorDeleteInput) -> PlanOutput:
    """Deletes a symbol, file or directory with its imports if nothing uses it; else lists the uses.

    Examples:
    - A function that nothing uses: {"target": "app.load"}
    """
    if args.plan:
        return carried_out(call, args, lambda: call.repo.plans.get(args.plan))
    needed("refactor_delete", target=args.target)
    pending = delete(call, args.target, args.accept or (), args.verify or ())
    return answered(
        call, execute_plan(call, pending, args.apply), "preview" if args.apply == "never" else "first"
    )
