from typing import Annotated, Any

from pydantic import Field

from codeplane.controller.execution.accepted import AcceptedNode
from codeplane.controller.execution.bundles import Bundles
from codeplane.controller.execution.denials import explained_refusals
from codeplane.controller.execution.recipes.recipe import RecipeOutcome, RecipeParams, find_recipe
from codeplane.controller.execution.steps import Steps
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.errors import CodePlaneError, RecipeInvalid
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


def run(turn: Turn, args: Args) -> VerbResult:
    with explained_refusals(turn, args.plan_node_id):
        recipe = find_recipe(args.recipe_id)
        params = recipe.read_params(args.params)
        steps = Steps(turn)
        accepted = steps.load()
        one = accepted.node(args.plan_node_id)
        _check_refs(steps.bundles, one, args)
        try:
            outcome = recipe.run(steps, accepted, one, params)
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
