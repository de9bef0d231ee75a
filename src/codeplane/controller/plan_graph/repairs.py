"""Repairs that checks share: each changes the plan as it was sent, so that the next check accepts it."""

from typing import Any, NamedTuple

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.problems import Problem, Repair


class Flag(NamedTuple):
    """What kind of problem a check reports."""

    code: RejectionCode
    sub_code: str


def node_problem(
    plan: PlanDraft,
    node: NodeDraft,
    key: str,
    flag: Flag,
    message: str,
    fix: Any = None,
    repair: Repair | None = None,
) -> Problem:
    """A problem with a field of a node; without a repair of its own, the fix is put into the field."""
    where = f"nodes[{plan.nodes.index(node)}].{key}"
    if repair is None and fix is not None:
        repair = set_field(node.node_id, key, fix)
    return Problem(flag.code, flag.sub_code, node.node_id, where, message, fix, repair)


def set_field(node_id: str, key: str, value: Any) -> Repair:
    """Puts a value into a field of a node."""

    def apply_to(plan: PlanDraft) -> None:
        if (node := plan.node(node_id)) is not None:
            node.body[key] = value

    return apply_to


def update_fields(node_id: str, **values: Any) -> Repair:
    """Puts values into fields of a node; None removes one."""

    def apply_to(plan: PlanDraft) -> None:
        if (node := plan.node(node_id)) is not None:
            node.body.update(values)
            for key in [key for key, value in values.items() if value is None]:
                node.body.pop(key)

    return apply_to


def drop_fields(node_id: str, *keys: str) -> Repair:
    """Removes fields of a node; the server fills in what it knows of them."""

    def apply_to(plan: PlanDraft) -> None:
        if (node := plan.node(node_id)) is not None:
            for key in keys:
                node.body.pop(key, None)

    return apply_to


def drop_envelope(key: str) -> Repair:
    """Removes a field of the envelope, which the server fills in."""
    return lambda plan: plan.envelope.pop(key, None) and None


def escalate_instead(node_id: str, reason: str) -> Repair:
    """Puts a request for evidence in the place of a node that nobody but its author can complete."""

    def apply_to(plan: PlanDraft) -> None:
        if (node := plan.node(node_id)) is not None:
            request = node.text("editIntent") or node.text("targetFile") or "what to change, and where"
            node.body = {
                "nodeId": node_id,
                "kind": "escalate",
                "requestedEvidence": [request],
                "blockingReasons": [reason],
                "dependsOn": node.texts("dependsOn"),
            }

    return apply_to


def escalate_before(plan: PlanDraft, requested: str, reason: str) -> None:
    """Adds a request for evidence that every change waits for."""
    node = plan.add_node("escalate", requestedEvidence=[requested], blockingReasons=[reason])
    for change in plan.changes():
        change.body["dependsOn"] = [*change.texts("dependsOn"), node.node_id]


def waits_for_evidence(plan: PlanDraft, requested: str) -> bool:
    """Whether every change of a plan waits for a node that requests this evidence."""
    names = {
        node.node_id
        for node in plan.nodes
        if node.kind == "escalate" and requested in node.texts("requestedEvidence")
    }
    return bool(names) and all(names & set(node.texts("dependsOn")) for node in plan.changes())
