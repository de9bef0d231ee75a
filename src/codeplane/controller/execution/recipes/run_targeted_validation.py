"""Runs the checks of a node: of a validate node they decide it, of a change node they are told."""

from typing import Any

from pydantic import Field

from codeplane.controller.contract import RunState
from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan
from codeplane.controller.execution.hook_checks import ChangedFile, ValidationReport, run_hooks
from codeplane.controller.execution.nodes import read_hooks
from codeplane.controller.execution.recipes.recipe import RecipeOutcome, RecipeParams
from codeplane.controller.execution.steps import Steps
from codeplane.controller.verb import VerbResult
from codeplane.core.errors import NodeNotReady
from codeplane.core.paths import RepoPath


class Params(RecipeParams):
    """Tests beside those that the node names."""

    tests: list[str] = Field(default_factory=list, max_length=50)


def run(steps: Steps, accepted: AcceptedPlan, one: AcceptedNode, params: Any) -> RecipeOutcome:
    """Runs a validation that is due or has failed, or the hooks of a change."""
    if one.node.kind not in ("validate", "change"):
        raise NodeNotReady(f"Node {one.node_id} is a {one.node.kind} node; there is nothing to validate.")
    if params.tests or one.node.kind == "change":
        report = _run_more(steps, one, params.tests)
    else:
        if waiting := accepted.open_requirements(one):
            names = ", ".join(other.node_id for other in waiting)
            raise NodeNotReady(f"Node {one.node_id} comes after {names}.")
        accepted, report = steps.run_validation(accepted, one)
    result = {
        "planNodeId": one.node_id,
        "nodeState": accepted.node(one.node_id).state,
        "validation": report.to_json(),
        **steps.plan_fields(accepted),
    }
    answer = VerbResult(result, report.render(), state=RunState.EXECUTION_ENABLED)
    return RecipeOutcome(answer, "passed" if report.has_passed else "failed", report.signature)


def _run_more(steps: Steps, one: AcceptedNode, tests: list[str]) -> ValidationReport:
    """Checks that decide nothing: those of a change, or tests that the plan does not name."""
    hooks = read_hooks([f"tests:{name}" for name in tests]) if tests else one.node.hooks
    paths = [one.node.target_file] if one.node.target_file else []
    files = [ChangedFile(RepoPath(path), one.base) for path in paths]
    return run_hooks(steps.turn.call, one.node_id, hooks, files)
