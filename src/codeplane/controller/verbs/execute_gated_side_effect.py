from typing import Annotated

from pydantic import Field

from codeplane.controller.execution.denials import explained_refusals
from codeplane.controller.execution.steps import Steps
from codeplane.controller.turn import Turn
from codeplane.controller.verb import VerbArgs, VerbDescriptor, VerbResult
from codeplane.core.synonyms import synonyms

DESCRIPTOR = VerbDescriptor(
    "Has git commit, branch or push for a side_effect node of the accepted plan; its gate opens when the"
    " changes and validations behind it are done.",
    "When a side_effect node is next.",
)


class Args(VerbArgs):
    plan_node_id: Annotated[str, synonyms("node_id", "node", "id")] = Field(min_length=1, max_length=200)
    side_effect_type: Annotated[str, synonyms("effect", "type")] = Field(min_length=1, max_length=60)
    commit_gate_id: Annotated[str | None, synonyms("gate", "gate_id")] = Field(default=None, max_length=200)


def run(turn: Turn, args: Args) -> VerbResult:
    with explained_refusals(turn, args.plan_node_id):
        return Steps(turn).run_side_effect(args.plan_node_id, args.side_effect_type, args.commit_gate_id)
