from typing import Annotated, Any

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.execution.denials import explained_refusals
from codeplane.controller.execution.next_actions import patch_arguments
from codeplane.controller.execution.nodes import is_edit_part, read_edits
from codeplane.controller.execution.patches import Content
from codeplane.controller.execution.plan_store import load_plan
from codeplane.controller.execution.steps import Steps
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.errors import CodePlaneError, NodeNotReady
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Writes the patch of a change node: texts that are replaced, a codemod, or what the node carries. Its"
    " validations run right after it.",
    "When a change node of the accepted plan is next.",
)


class Args(VerbArgs):
    plan_node_id: Annotated[str, synonyms("node_id", "node", "id")] = Field(min_length=1, max_length=200)
    target_file: Annotated[str, synonyms("path", "file", "file_path")] = Field(min_length=1, max_length=4000)
    edits: list[dict[str, Any]] = Field(
        max_length=200,
        description="{oldText, newText} or {codemodId, params}; none for what the node carries.",
    )


def example(turn: Turn) -> dict[str, Any]:
    """The patch of a node that is ready and carries one which can be made now."""
    plan, steps = load_plan(turn.call.repo, turn.run), Steps(turn)
    for one in plan.ready_nodes():
        if one.node.kind == "change" and one.node.has_content:
            try:
                steps.rehearse_change(plan, one)
            except CodePlaneError:
                continue
            return patch_arguments(one.node)
    raise NodeNotReady("No change node is next that says what to write.")


def reshape(arguments: dict[str, Any]) -> dict[str, Any]:
    """One edit may be sent as it is, or its texts beside the file."""
    parts = {key: arguments[key] for key in arguments if is_edit_part(key)}
    if "edits" in arguments or not parts:
        return arguments
    return {**{key: arguments[key] for key in arguments if key not in parts}, "edits": [parts]}


def correct(turn: Turn, values: dict[str, Any]) -> SuggestedAction | None:
    """The patch for the node of its file that is next, where it can be made there."""
    plan, steps = load_plan(turn.call.repo, turn.run), Steps(turn)
    content = Content(*read_edits(values.get("edits") or ()))
    ready_nodes = [one for one in plan.ready_nodes() if one.node.kind == "change"]
    files = {one.node.target_file for one in ready_nodes}
    for one in ready_nodes:
        is_meant = values.get("plan_node_id") == one.node_id and len(files) == 1
        if one.node.target_file != values.get("target_file") and not (
            is_meant and "target_file" not in values
        ):
            continue
        steps.rehearse_change(plan, one, content)
        args = {
            "planNodeId": one.node_id,
            "targetFile": one.node.target_file,
            "edits": values.get("edits") or [],
        }
        return SuggestedAction(verb=Verb.APPLY_CODE_PATCH, reason=f"The patch of {one.node_id}.", args=args)
    return None


def run(turn: Turn, args: Args) -> VerbResult:
    edits, codemods = read_edits(args.edits)
    with explained_refusals(turn, args.plan_node_id):
        return Steps(turn).apply_change(args.plan_node_id, args.target_file, Content(edits, codemods))
