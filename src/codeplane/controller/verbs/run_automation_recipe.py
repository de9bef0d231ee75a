from typing import Annotated, Any

from pydantic import Field

from codeplane.controller.contract import SuggestedAction
from codeplane.controller.execution.accepted import AcceptedNode
from codeplane.controller.execution.bundles import Bundles
from codeplane.controller.execution.denials import explained_refusals
from codeplane.controller.execution.next_actions import VALIDATION_RECIPE, validation_call
from codeplane.controller.execution.plan_store import load_plan
from codeplane.controller.execution.recipes.recipe import RecipeOutcome, RecipeParams, find_recipe
from codeplane.controller.execution.steps import Steps
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.errors import CodePlaneError, RecipeInvalid
from codeplane.core.suggest import nearest
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Runs a named recipe for a node, with checked parameters only: replace_lexeme_in_file {lexeme,"
    " replacement} or run_targeted_validation {tests?}.",
    "When a word has to be replaced throughout a file, or a validation has to run again.",
)


class Args(VerbArgs):
    recipe_id: Annotated[str, synonyms("recipe", "name")] = Field(min_length=1, max_length=100)
    plan_node_id: Annotated[str, synonyms("node_id", "node")] = Field(min_length=1, max_length=200)
    artifact_bundle_ref: Annotated[str, synonyms("bundle", "bundle_ref")] = Field(
        min_length=1, max_length=400
    )
    diff_summary_ref: Annotated[str, synonyms("diff", "diff_ref")] = Field(min_length=1, max_length=400)
    params: Annotated[dict[str, Any], synonyms("parameters", "arguments")] = Field(default_factory=dict)


def correct(turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The validation that was asked for, with the bundle of its node."""
    plan = load_plan(turn.call.repo, turn.run)
    one = plan.node(str(values.get("plan_node_id", "")))
    is_due = one.node.kind == "validate" and one.state != "dropped" and not plan.open_requirements(one)
    near = nearest(str(values.get("recipe_id", "")), [VALIDATION_RECIPE], most=1)
    return validation_call(one, turn.run, "With the bundle of the node.") if near and is_due else None


def run(turn: Turn, args: Args) -> VerbResult:
    with explained_refusals(turn, args.plan_node_id):
        recipe = find_recipe(args.recipe_id)
        params = recipe.read_params(args.params)
        steps = Steps(turn)
        plan = steps.load()
        one = plan.node(args.plan_node_id)
        _check_refs(steps.bundles, one, args)
        try:
            outcome = recipe.run(steps, plan, one, params)
        except CodePlaneError as error:
            _note_usage(turn, args, params, "refused", error.name())
            raise
        _note_usage(turn, args, params, outcome.validation, outcome.signature)
        return _with_recipe(outcome, args)


def _check_refs(bundles: Bundles, one: AcceptedNode, args: Args) -> None:
    """The bundle has to be the node's own: what a recipe leaves goes there."""
    refs = {
        "artifactBundleRef": (args.artifact_bundle_ref, bundles.ref_of(one.node_id)),
        "diffSummaryRef": (args.diff_summary_ref, bundles.diff_ref_of(one.node_id)),
    }
    for name, (given_ref, own_ref) in refs.items():
        if given_ref != own_ref:
            raise RecipeInvalid(f"{name} of node {one.node_id} is {own_ref}, not {given_ref[:200]}.")


def _with_recipe(outcome: RecipeOutcome, args: Args) -> VerbResult:
    answer = outcome.result
    fields = {"recipeId": args.recipe_id, "validationOutcome": outcome.validation, **answer.result}
    return VerbResult(fields, answer.text, state=answer.state)


def _note_usage(turn: Turn, args: Args, params: RecipeParams, outcome: str, signature: str) -> None:
    event: dict[str, Any] = {
        "event": "recipe_usage",
        "work_id": turn.run.work_id,
        "recipeId": args.recipe_id,
        "validatedParams": params.model_dump(mode="json", by_alias=True),
        "workId": turn.run.work_id,
        "runSessionId": turn.run.run_session_id,
        "planNodeId": args.plan_node_id,
        "artifactBundleRef": args.artifact_bundle_ref,
        "diffSummaryRef": args.diff_summary_ref,
        "validationOutcome": outcome,
        **({"failureSignature": signature} if signature else {}),
    }
    turn.call.repo.tasks.record_event(turn.call.task, event)
