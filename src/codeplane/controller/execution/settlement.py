"""What a crash or an undo has left of a plan: nodes are brought to what is true of files and git."""

from collections.abc import Mapping
from typing import Any

import pygit2

from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan
from codeplane.controller.execution.plan_rows import finish_node, reopen_node
from codeplane.core.errors import CodePlaneError
from codeplane.git.history.commit_info import info_of
from codeplane.session import RepoSession
from codeplane.working_tree import digest_of


def settle_plan(repo: RepoSession, plan: AcceptedPlan, answers: int) -> AcceptedPlan:
    """A plan whose nodes are as what they name is; `answers` is how often guidance was given since."""
    for one in plan.nodes:
        if one.node.kind == "change" and one.attempt and one.state != "done":
            plan = _settle_change(repo, plan, one)
        elif one.node.kind == "change" and one.state == "done":
            plan = _settle_undone(repo, plan, one)
        elif one.node.kind == "side_effect" and one.attempt and one.state != "done":
            plan = _settle_commit(repo, one)
    return _settle_escalations(repo, plan, answers)


def _settle_change(repo: RepoSession, plan: AcceptedPlan, one: AcceptedNode) -> AcceptedPlan:
    """The digest says whether the edit landed; where others have changed the file since, the ledger does."""
    now, after = digest_now(repo, one.node.target_file), str(one.attempt.get("after", ""))
    operation = repo.ledger.of_plan_item(one.item_id)
    is_landed = operation is not None and any(
        str(change.after or "") == after for change in operation.changes
    )
    if now == after or is_landed:
        name = str(operation.operation_id) if operation is not None else ""
        return finish_node(repo, one, "done", {**one.attempt, "operation": name, "settled": True})
    if repo.engine.has_doubts:
        return plan
    return reopen_node(repo, one)


def _settle_undone(repo: RepoSession, plan: AcceptedPlan, one: AcceptedNode) -> AcceptedPlan:
    """A change that was taken back has to be made again; one that others built upon stays done."""
    if not one.outcome.get("operation") or digest_now(repo, one.node.target_file) in _later_digests(
        plan, one
    ):
        return plan
    if repo.ledger.of_plan_item(one.item_id) is not None:
        return plan
    for other in plan.validations_of(one):
        if other.state != "pending":
            reopen_node(repo, other)
    return reopen_node(repo, one)


def _later_digests(plan: AcceptedPlan, one: AcceptedNode) -> set[str]:
    """What the file was after the change, and after later changes of the plan."""
    position = list(plan.nodes).index(one)
    later = [other for other in plan.nodes[position:] if other.state == "done"]
    paths = {one.node.target_file}
    return {str(other.outcome.get("after", "")) for other in later if other.node.target_file in paths}


def _settle_commit(repo: RepoSession, one: AcceptedNode) -> AcceptedPlan:
    """A commit landed where HEAD has one with its message on top of the one before; others are sent again."""
    if (commit := _landed_commit(repo, one.attempt)) is not None:
        return finish_node(repo, one, "done", {"commit": commit, "settled": True})
    return reopen_node(repo, one)


def _landed_commit(repo: RepoSession, attempt: Mapping[str, Any]) -> str | None:
    if attempt.get("type") != "git_commit":
        return None
    head = repo.checkout.repository.head().commit
    if head is None or head == attempt.get("head"):
        return None
    with repo.checkout.repository.opened() as handle:
        info = info_of(handle[head].peel(pygit2.Commit))
    is_own = info.message.strip() == str(attempt.get("message", "")).strip()
    return head if is_own and attempt.get("head") in (*info.parents, None) else None


def _settle_escalations(repo: RepoSession, plan: AcceptedPlan, answers: int) -> AcceptedPlan:
    """Each time that guidance was given answers the next escalation that is due."""
    while True:
        is_answered = sum(one.state == "done" for one in plan.of_kind("escalate")) < answers
        due = [one for one in plan.ready_nodes() if one.node.kind == "escalate"]
        if not is_answered or not due:
            return plan
        plan = finish_node(repo, due[0], "done", {"answer": "request_evidence_guidance"})


def digest_now(repo: RepoSession, path: str) -> str:
    """The digest of a file as it is; "" where there is none."""
    try:
        return str(digest_of(repo.tree.read(repo.tree.jail.enter(path))))
    except CodePlaneError:
        return ""
