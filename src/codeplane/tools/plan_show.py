from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.work_plan import (
    PlanDocumentOutput,
    PlanListOutput,
    PlanTreeOutput,
    WholeItemOutput,
    list_output,
    tree_output,
    whole_item_output,
)
from codeplane.plans import render_json, render_yaml
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED


class PlanShowInput(Input):
    plan: Annotated[str | None, synonyms("id", "plan_id")] = Field(
        default=None, max_length=100, description="`plan_…`; every plan is listed by default."
    )
    item: Annotated[str | None, synonyms("item_id", "task", "phase")] = Field(
        default=None, max_length=100, description="One item whole, by its id, or by its key with `plan`."
    )
    offset: int = Field(default=0, ge=0, le=1_000_000, description="Items to skip.")
    limit: int = Field(default=100, ge=1, le=20_000, description="Most items to show.")
    format: Literal["yaml", "json"] | None = Field(
        default=None, description="The plan's document instead.", json_schema_extra=UNLISTED
    )


@tool(Effect.READ, "plans")
def plan_show(
    call: Call, args: PlanShowInput
) -> PlanListOutput | PlanTreeOutput | WholeItemOutput | PlanDocumentOutput:
    """Shows a plan as a tree with states and next step, one item whole, or the list of plans.

    Use when:
    - you need the ids, the order or the delta status of a plan's tasks, or why a task cannot go on
    Examples:
    - All plans: {}
    - One plan: {"plan": "plan_0123456789ab"}
    - One task with its delta: {"item": "pt_0123456789ab"}
    """
    plans = call.repo.work_plans
    if args.plan is None and args.item is None:
        return list_output(plans.summaries())
    tree = plans.load(args.plan or args.item or "")
    if args.format is not None:
        document = plans.export(tree.plan.id)
        text = render_yaml(document) if args.format == "yaml" else render_json(document)
        return PlanDocumentOutput(plan=tree.plan.id, format=args.format, document=text)
    reference = args.item or (args.plan if args.plan != tree.plan.id else None)
    if reference is not None:
        return whole_item_output(tree, plans.workflow, tree.find_item(reference))
    return tree_output(tree, plans.workflow, args.offset, args.limit)
