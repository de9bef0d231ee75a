"""Accepted plans in the plan store: one plan of it each, with one task for each node."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from pydantic import BaseModel

from codeplane.controller.execution.accepted import AcceptedPlan
from codeplane.controller.execution.collisions import Reservations
from codeplane.controller.execution.nodes import PlanNode, SourcePlan, read_node
from codeplane.controller.execution.plan_rows import controller_plans, finish_node, read_plan
from codeplane.controller.execution.settlement import digest_now, settle_plan
from codeplane.core.errors import NotFound
from codeplane.plans import Level, PlanTree, Workflow, WorkPlans
from codeplane.plans.gates import move_item
from codeplane.session import RepoSession

__all__ = ["RunRecord", "close_run", "drop_plan", "finish_node", "load_plan", "store_plan"]

_PLAN_TYPE: Final = "plan_graph"
# Plans of runs that have ended; the store has room for 200 of all kinds.
_MOST_ENDED: Final = 50
_KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:/-]{0,59}")
_ID: Final = re.compile(r"(plan|ph|pt|ps)_[0-9a-f]{12}")
_CONTROL: Final = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_LONGEST_TITLE: Final = 200


class RunRecord(Protocol):
    """What a plan has to know of the run that it belongs to."""

    work_id: str
    plan: str | None


def store_plan(repo: RepoSession, run: RunRecord, plan: SourcePlan) -> str:
    """Stores an accepted plan in the place of the run's former one, and returns its id."""
    nodes = [read_node(node) for node in plan.nodes]
    plans = controller_plans(repo)
    _drop_ended(repo, plans)
    tree = plans.create(_document_of(repo, run, plan, nodes))
    if run.plan is not None:
        drop_plan(repo, run.plan)
    run.plan = str(tree.plan.id)
    return run.plan


def _document_of(
    repo: RepoSession, run: RunRecord, plan: SourcePlan, nodes: Sequence[PlanNode]
) -> dict[str, Any]:
    keys = _keys_of(nodes)
    return {
        "title": f"Plan of {run.work_id}",
        "type": _PLAN_TYPE,
        "fields": {"envelope": _envelope_of(plan), "run": {"work_id": run.work_id, **_guidance_of(run)}},
        "phases": [
            {
                "title": "Nodes",
                "type": "node_group",
                "tasks": [_task_of(repo, node, keys) for node in nodes],
            }
        ],
    }


def _task_of(repo: RepoSession, node: PlanNode, keys: Mapping[str, str]) -> dict[str, Any]:
    title = f"{node.kind} {node.target_file or node.side_effect_type or ', '.join(node.maps_to)}"
    base = digest_now(repo, node.target_file) if node.kind == "change" else ""
    task: dict[str, Any] = {
        "title": _CONTROL.sub(" ", title)[:_LONGEST_TITLE].strip(),
        "key": keys[node.node_id],
        "type": node.kind,
        "fields": {"node": node.to_json(), **({"base": base} if base else {})},
        "after": [keys[name] for name in node.waits_for if name in keys and name != node.node_id],
    }
    if node.delta is not None:
        task["delta"] = {name: value for name, value in node.delta.items() if name != "digest"}
    return task


def _keys_of(nodes: Sequence[PlanNode]) -> dict[str, str]:
    """The keys of tasks: the ids of nodes, where they can be keys."""
    return {
        node.node_id: node.node_id
        if _KEY.fullmatch(node.node_id) and not _ID.fullmatch(node.node_id)
        else f"node:{number}"
        for number, node in enumerate(nodes)
    }


def _envelope_of(plan: SourcePlan) -> dict[str, Any]:
    if not isinstance(plan, BaseModel):
        return {}
    return plan.model_dump(mode="json", by_alias=True, exclude={"nodes"}, exclude_none=True)


def _guidance_of(run: RunRecord) -> dict[str, int]:
    """How often guidance was asked for before the plan: escalations are answered by what comes after it."""
    return {"guidance": _guidance_count(run)}


def _guidance_count(run: RunRecord) -> int:
    counts = getattr(getattr(run, "body", None), "verb_counts", {})
    return int(counts.get("request_evidence_guidance", 0))


def _drop_ended(repo: RepoSession, plans: WorkPlans) -> None:
    """Drops the oldest plans of runs that have ended: bundles and the ledger tell what they did."""
    with repo.state_db.read() as connection:
        rows = connection.execute(
            "SELECT work_item.id FROM work_item JOIN work_plan ON work_plan.id = work_item.id"
            " WHERE work_item.type = ? AND work_item.state != 'active' ORDER BY work_plan.changed_ms DESC",
            (_PLAN_TYPE,),
        ).fetchall()
    for (plan_id,) in rows[_MOST_ENDED:]:
        plans.drop(plan_id)


def load_plan(repo: RepoSession, run: RunRecord) -> AcceptedPlan:
    """The plan of a run as it stands, after what a crash or an undo has left is settled."""
    if run.plan is None:
        raise NotFound("The run has no accepted plan.", hints=["submit_execution_plan"])
    tree = controller_plans(repo).load(run.plan)
    return settle_plan(repo, read_plan(tree), _guidance_since(tree, run))


def _guidance_since(tree: PlanTree, run: RunRecord) -> int:
    record = tree.plan.fields.get("run")
    earlier = int(record.get("guidance", 0)) if isinstance(record, Mapping) else 0
    return max(0, _guidance_count(run) - earlier)


def drop_plan(repo: RepoSession, plan_id: str) -> None:
    """Gives a plan up: what is not done stays undone, and what is done stays on record."""
    plans = controller_plans(repo)
    try:
        plans.change(plan_id, lambda tree: _dropped(plans.workflow, tree))
    except NotFound:
        return  # it was dropped by a person


def close_run(repo: RepoSession, run: RunRecord) -> None:
    """Ends what a run holds: its leases, and what is left of its plan."""
    Reservations(lambda: repo.state_db).release(run.work_id)
    if run.plan is not None:
        drop_plan(repo, run.plan)


def _dropped(workflow: Workflow, tree: PlanTree) -> PlanTree:
    for item in list(tree.items.values()):
        if item.level is Level.TASK and item.state in ("pending", "failed"):
            tree = move_item(workflow, tree, item.id, "dropped").tree
    for item in list(tree.items.values()):
        if item.level in (Level.PLAN, Level.PHASE) and item.state == "active":
            tree = move_item(workflow, tree, item.id, "dropped").tree
    return tree
