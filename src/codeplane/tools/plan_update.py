from typing import Annotated, Any

from pydantic import Field

from codeplane.answers.work_plan import PlanChangeOutput, change_output
from codeplane.core.errors import InvalidArgument
from codeplane.plans import PlanTree, WorkPlans, parse_document
from codeplane.plans.document import LARGEST_DOCUMENT
from codeplane.session import Call
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_MOST_UPDATES = 1000


class PlanItemUpdate(Input):
    item: Annotated[str, synonyms("id", "item_id", "task", "phase")] = Field(
        max_length=100, description="Id, or the key with `plan`."
    )
    state: Annotated[str | None, synonyms("status", "transition")] = Field(
        default=None, max_length=60, description="State to go to: `in_progress`, `done`, `rejected`, …"
    )
    title: str | None = Field(default=None, description="New title.")
    description: str | None = Field(default=None, description="New description; null takes it away.")
    fields: dict[str, Any] | None = Field(default=None, description="Fields to set; null takes one away.")
    delta: dict[str, Any] | None = Field(default=None, description="New code delta; null takes it away.")
    after: list[str] | None = Field(default=None, description="Exactly what comes before it.")
    blocks: list[str] | None = Field(default=None, description="Exactly what waits for it.")
    add: list[dict[str, Any] | str] | None = Field(
        default=None, description="New items below it, as in plan_create."
    )
    position: int | None = Field(default=None, ge=1, description="New place among its siblings, from 1.")
    parent: str | None = Field(default=None, max_length=100, description="Item to move it below.")
    key: str | None = Field(default=None, max_length=60, description="New key.", json_schema_extra=UNLISTED)
    remove: bool = Field(default=False, description="Take it out with everything below it.")


class PlanUpdateInput(Input):
    plan: Annotated[str | None, synonyms("plan_id")] = Field(
        default=None, max_length=100, description="`plan_…`, where items are named by keys."
    )
    updates: list[PlanItemUpdate] = Field(
        default=[], max_length=_MOST_UPDATES, description="Changes in order; all are made, or none."
    )
    document: str | None = Field(
        default=None,
        max_length=LARGEST_DOCUMENT,
        description="A changed document for the whole plan, YAML or JSON.",
        json_schema_extra=UNLISTED,
    )


@tool(Effect.SESSION, "plans", timeout_sec=120)
def plan_update(call: Call, args: PlanUpdateInput) -> PlanChangeOutput:
    """Changes items of a plan: states, fields, deltas, links, order; adds and removes items. No file changes.

    A hard gate refuses a state and says what would open it; a soft one warns. A new delta has to be validated
    again. Removing a `plan_…` drops the plan.

    Use when:
    - a task is begun, done or rejected, or a plan was reviewed and has to change
    Examples:
    - Begin a task: {"item": "pt_0123456789ab", "state": "in_progress"}
    - Reject one and add another: {"updates": [{"item": "pt_0123456789ab", "state": "rejected"},
      {"item": "ph_0123456789ab", "add": [{"title": "Instead"}]}]}
    """
    plans = call.repo.work_plans
    if args.document is not None:
        return _replace_document(plans, args, args.document)
    if not args.updates:
        raise InvalidArgument(
            "plan_update takes at least one update.", hints=['plan_update {"item": "pt_…", "state": "done"}']
        )
    plan_ref = args.plan or args.updates[0].item
    if any(one.remove for one in args.updates) and (drop := _drop_plan(plans, args.updates)) is not None:
        return drop
    before = plans.load(plan_ref)
    result = plans.edit_items(before.plan.id, ((one.item, _edit_of(one)) for one in args.updates))
    for warning in result.warnings:
        call.warn(warning)
    return _report_change(plans, before, result.tree)


def _edit_of(update: PlanItemUpdate) -> dict[str, Any]:
    return {name: getattr(update, name) for name in update.model_fields_set if name != "item"}


def _drop_plan(plans: WorkPlans, updates: list[PlanItemUpdate]) -> PlanChangeOutput | None:
    plan_ids = [one.item for one in updates if one.remove and one.item.startswith("plan_")]
    if not plan_ids:
        return None
    if len(updates) > 1:
        raise InvalidArgument("A plan is dropped by a call of its own.")
    plans.drop(plan_ids[0])
    return PlanChangeOutput(
        plan=plan_ids[0], summary=f"Dropped {plan_ids[0]}; no file has changed.", items=[]
    )


def _replace_document(plans: WorkPlans, args: PlanUpdateInput, text: str) -> PlanChangeOutput:
    if args.plan is None or args.updates:
        raise InvalidArgument("A document takes the place of a whole plan: send plan and document alone.")
    before = plans.load(args.plan)
    tree = plans.replace_document(before.plan.id, parse_document(text))
    return _report_change(plans, before, tree)


def _report_change(plans: WorkPlans, before: PlanTree, after: PlanTree) -> PlanChangeOutput:
    changes = [item for item in after.in_order() if before.items.get(item.id) != item]
    gone = len(before.items.keys() - after.items.keys())
    summary = f"{after.plan.id}: {len(changes)} item{'' if len(changes) == 1 else 's'} changed"
    return change_output(after, plans.workflow, changes, summary + (f", {gone} removed" if gone else ""))
