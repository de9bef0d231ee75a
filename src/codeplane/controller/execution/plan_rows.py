"""The rows of an accepted plan: nodes read from tasks, and one transaction for each step of a node."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan, NodeState
from codeplane.controller.execution.nodes import read_node
from codeplane.core.ids import ItemId
from codeplane.plans import Item, PlanTree, Workflow, WorkPlans, build_workflow
from codeplane.plans.gates import move_item
from codeplane.session import RepoSession

PACK: Final = "controller"


def controller_plans(repo: RepoSession) -> WorkPlans:
    """The plan store, with the types that plans of runs have."""

    def normalise(document: dict[str, Any]) -> dict[str, Any]:
        # What reads deltas loads the operations of all languages; most plans have none.
        from codeplane.session.delta.workbench import normalise_delta

        return normalise_delta(repo, document)

    return WorkPlans(lambda: repo.state_db, controller_workflow, normalise)


def controller_workflow() -> Workflow:
    """The types of plans of runs."""
    return build_workflow((PACK,))


def read_plan(tree: PlanTree) -> AcceptedPlan:
    """A stored plan as its nodes."""
    nodes = [_node_of(item) for group in tree.phases_in_order() for item in tree.tasks_in_order(group.id)]
    return AcceptedPlan(str(tree.plan.id), tuple(nodes), tree.revision)


def _node_of(item: Item) -> AcceptedNode:
    document = item.fields.get("node")
    node = read_node(document if isinstance(document, Mapping) else {}, item.delta)
    outcome, attempt = item.derived.get("outcome"), item.derived.get("attempt")
    return AcceptedNode(
        node,
        str(item.id),
        cast("NodeState", item.state),
        str(item.fields.get("base") or ""),
        outcome if isinstance(outcome, Mapping) else {},
        attempt if isinstance(attempt, Mapping) else {},
    )


def begin_attempt(repo: RepoSession, one: AcceptedNode, attempt: Mapping[str, Any]) -> None:
    """Notes what is about to be done, so that the next load can tell whether it was."""
    _change_item(repo, one.item_id, None, {"attempt": dict(attempt)})


def finish_node(
    repo: RepoSession, one: AcceptedNode, state: NodeState, outcome: Mapping[str, Any] | None = None
) -> AcceptedPlan:
    """Brings a node to a state with what has come of it, and closes the plan where it was the last."""
    stamp = {"at_ms": int(time.time() * 1000)}
    tree = _change_item(repo, one.item_id, state, {"outcome": {**(outcome or {}), **stamp}})
    return read_plan(tree)


def reopen_node(repo: RepoSession, one: AcceptedNode) -> AcceptedPlan:
    """Brings a node back to where it has to be done again."""
    return read_plan(_change_item(repo, one.item_id, "pending", {}))


def _change_item(
    repo: RepoSession, item_id: str, state: NodeState | None, derived: Mapping[str, Any]
) -> PlanTree:
    """One transaction: the state and the derived fields of a task, and what follows for the plan."""
    plans = controller_plans(repo)
    workflow = plans.workflow

    def edit(tree: PlanTree) -> PlanTree:
        if state is not None:
            tree = move_item(workflow, tree, item_id, state).tree
        tree = tree.with_items(replace(tree.item(item_id), derived=dict(derived)))
        return _follow_up(workflow, tree)

    return plans.change(item_id, edit)


def _follow_up(workflow: Workflow, tree: PlanTree) -> PlanTree:
    """Completes the plan where its last node is done, and opens it again where one is not any more."""
    groups = tree.phases_in_order()
    tasks = [item for group in groups for item in tree.children(group.id)]
    is_complete = all(item.state in ("done", "dropped") for item in tasks)
    state = "completed" if is_complete else "active"
    order: Sequence[ItemId] = [*(group.id for group in groups), tree.plan.id]
    for item_id in order:
        if tree.item(item_id).state not in (state, "dropped"):
            tree = move_item(workflow, tree, item_id, state).tree
    return tree
