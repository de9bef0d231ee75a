from typing import Annotated, Literal

from pydantic import Field

from codeplane.refactor import Verdict
from codeplane.session import Call
from codeplane.session.refactoring import apply, delete
from codeplane.tools._delta import told
from codeplane.tools._plan import PlanOutput, is_refuted, plan_told
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._verified import LONGEST_SEC, VERIFY
from codeplane.verify import Check


class RefactorDeleteInput(Input):
    target: Annotated[str, synonyms("symbol", "path", "name", "at")] = Field(
        min_length=1, max_length=4096, description="A symbol, or the path of a file or directory."
    )
    accept: Annotated[list[str] | None, synonyms("groups")] = Field(
        default=None, max_length=100, description="Groups of a preview that may be left without a definition."
    )
    verify: Annotated[list[Check] | None, synonyms("checks", "shadow_check")] = VERIFY
    apply: Literal["never", "if_certain"] = Field(
        default="never", description="`if_certain`: at once, where nothing uses it or all is accepted."
    )


@tool(Effect.WRITE, "refactoring", timeout_sec=LONGEST_SEC)
def refactor_delete(call: Call, args: RefactorDeleteInput) -> PlanOutput:
    """Deletes a definition, file or directory that nothing uses; a definition with the imports of it.

    Use when:
    - a function, class, constant or module is not needed any more
    Not for:
    - seeing who uses it: refactor_impact
    Examples:
    - At once where nothing uses it: {"target": "app.load", "apply": "if_certain"}
    """
    pending = delete(call, args.target, args.accept or (), args.verify or ())
    is_wanted = args.apply == "if_certain" and pending.plan.verdict is Verdict.OK
    if is_wanted and not is_refuted(call, pending):
        return plan_told(call, pending, told(call, apply(call, pending)))
    return plan_told(call, pending)
