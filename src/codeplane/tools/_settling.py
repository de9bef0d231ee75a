"""Parameters and answers of tools that carry a refactoring out."""

from collections.abc import Callable
from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.answers.change import told
from codeplane.answers.plan import PlanOutput, Shape, plan_told
from codeplane.core.errors import InvalidArgument
from codeplane.session import Call
from codeplane.session.plan_execution import Execution, Mode, execute_plan, execute_with
from codeplane.session.plans import Pending, chosen_groups
from codeplane.tools._registry import Input, synonyms
from codeplane.tools._schema import UNLISTED
from codeplane.verify import Check

_MODES: Final = "`never`: preview; `if_verified`: let tests decide; `certain_part`: skip open places."
PLAN: Final[Any] = Field(default="", max_length=100, description="`ref_…` to continue.")


class RefactoringInput(Input):
    """What every refactoring takes."""

    apply: Mode = Field(default="if_certain", description=_MODES)
    plan: Annotated[str, synonyms("plan_id", "refactor_id", "id")] = PLAN
    accept: Annotated[list[str] | None, synonyms("groups", "selected")] = Field(
        default=None, max_length=200, description="Open groups to include, `all` or `none`."
    )
    verify: Annotated[list[Check] | None, synonyms("checks", "shadow_check")] = Field(
        default=None,
        max_length=3,
        description="Run in a scratch copy first.",
        json_schema_extra=UNLISTED,
    )


def carried_out(call: Call, args: RefactoringInput, make: Callable[[], Pending]) -> PlanOutput:
    """Makes a plan, or goes on with one, and carries it out as far as the parameters allow."""
    pending = call.repo.plans.get(args.plan) if args.plan else make()
    shape: Shape = "first" if not args.plan else "again"
    if args.accept is None:
        shape = "preview" if args.apply == "never" else shape
        return answered(call, execute_plan(call, pending, args.apply), shape)
    return answered(call, execute_with(call, pending, chosen_groups(pending.plan, args.accept)), shape)


def answered(call: Call, execution: Execution, shape: Shape = "again") -> PlanOutput:
    """The answer to a plan that was carried out, or not."""
    delta = told(call, execution.result) if execution.result is not None else None
    return plan_told(call, execution.pending, delta, execution.rest, shape)


def needed(tool: str, **given: str) -> None:
    """Refuses a call that names neither a plan nor what a new one needs."""
    if missing := [name for name, value in given.items() if not value]:
        names = ", ".join(f"`{name}`" for name in missing)
        raise InvalidArgument(f"{tool} needs {names}, or the `plan` of an earlier answer.")
