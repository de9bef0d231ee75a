from typing import Annotated, Any

from pydantic import Field

from codeplane.controller.execution.denials import explained_refusals
from codeplane.controller.execution.next_actions import patch_arguments
from codeplane.controller.execution.nodes import read_edits
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


def run(turn: Turn, args: Args) -> VerbResult:
    edits, codemods = read_edits(args.edits)
    with explained_refusals(turn, args.plan_node_id):
        return Steps(turn).apply_change(args.plan_node_id, args.target_file, Content(edits, codemods))
