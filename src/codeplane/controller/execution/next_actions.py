"""What to send next: one call for the node that is due, with arguments that are ready."""

from typing import Any

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import SuggestedAction
from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan
from codeplane.controller.execution.nodes import PlanNode
from codeplane.controller.execution.plan_store import RunRecord

VALIDATION_RECIPE = "run_targeted_validation"


def next_action(accepted: AcceptedPlan, run: RunRecord) -> SuggestedAction:
    """The call that brings a plan on; sent as it is, it is carried out."""
    one = accepted.next_node()
    if one is None:
        return _complete_run(accepted)
    if one.state == "failed":
        return _after_failure(accepted, one, run)
    match one.node.kind:
        case "change":
            return _apply_change(one)
        case "validate":
            return validation_call(one, run, f"Node {one.node_id} checks what is done.")
        case "side_effect":
            return side_effect_call(one.node)
        case _:
            reasons = list(one.node.reasons) or [f"Node {one.node_id} asks for evidence."]
            return _suggest(
                Verb.REQUEST_EVIDENCE_GUIDANCE,
                f"Node {one.node_id} asks for evidence.",
                {"blockingReasons": reasons},
            )


def _complete_run(accepted: AcceptedPlan) -> SuggestedAction:
    if accepted.is_complete:
        return _suggest(Verb.SIGNAL_TASK_COMPLETE, "Every node is done.", {})
    return _suggest(Verb.LIST_AVAILABLE_VERBS, "No node can go on now.", {})


def _apply_change(one: AcceptedNode) -> SuggestedAction:
    node = one.node
    if not node.has_content:
        return _read_target(
            node,
            f"Node {node.node_id} is next: read its file, then apply_code_patch"
            f" {{planNodeId: {node.node_id}, targetFile, edits: [{{oldText, newText}}]}}.",
        )
    reason = f"Node {node.node_id} is next: {node.intent or node.target_file}"
    return _suggest(Verb.APPLY_CODE_PATCH, reason[:200], patch_arguments(node))


def patch_arguments(node: PlanNode) -> dict[str, Any]:
    """Arguments of `apply_code_patch` for what a node carries; a delta stays in the node."""
    return {"planNodeId": node.node_id, "targetFile": node.target_file, "edits": node.edit_documents}


def _after_failure(accepted: AcceptedPlan, one: AcceptedNode, run: RunRecord) -> SuggestedAction:
    if one.node.kind == "validate":
        changes = [other for other in accepted.of_kind("change") if other.node_id in one.node.maps_to]
        if changes and changes[0].node.operation not in ("delete", "move"):
            names = ", ".join(other.node_id for other in changes)
            reason = (
                f"Validation {one.node_id} failed; apply_code_patch corrects {names}, then it runs again."
            )
            return _read_target(changes[0].node, reason)
        return validation_call(one, run, f"Validation {one.node_id} failed: run it again.")
    if one.node.kind == "side_effect":
        return side_effect_call(one.node)
    return _apply_change(one)


def _read_target(node: PlanNode, reason: str) -> SuggestedAction:
    if node.operation == "create":
        return _suggest(Verb.LIST_AVAILABLE_VERBS, reason[:300], {})
    return _suggest(Verb.READ_FILE_LINES, reason[:300], {"targetFile": node.target_file})


def validation_call(one: AcceptedNode, run: RunRecord, reason: str) -> SuggestedAction:
    """The recipe that runs a validate node, with the bundle that its result goes to."""
    bundle = f"{run.work_id}/bundles/{one.node_id}"
    arguments = {
        "recipeId": VALIDATION_RECIPE,
        "planNodeId": one.node_id,
        "artifactBundleRef": bundle,
        "diffSummaryRef": f"{bundle}/diff.summary.json",
    }
    return _suggest(Verb.RUN_AUTOMATION_RECIPE, reason, arguments)


def side_effect_call(node: PlanNode) -> SuggestedAction:
    """The call of a side effect behind its gate."""
    arguments = {
        "planNodeId": node.node_id,
        "sideEffectType": node.side_effect_type,
        "commitGateId": node.commit_gate_id,
    }
    return _suggest(Verb.EXECUTE_GATED_SIDE_EFFECT, f"The gate of {node.node_id} is open.", arguments)


def _suggest(verb: Verb, reason: str, args: dict[str, Any]) -> SuggestedAction:
    return SuggestedAction(verb=verb.value, reason=reason, args=args)
