"""Side effects of a plan: commits, branches and pushes by the functions of the git tools, behind a gate."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from codeplane.controller.execution.accepted import AcceptedNode, AcceptedPlan
from codeplane.controller.execution.collisions import HEAD_RESOURCE, Resource
from codeplane.controller.execution.nodes import PlanNode
from codeplane.core.errors import ExecUngatedSideEffect, InvalidArgument
from codeplane.git.commit.commit import CommitRequest, stage_and_commit
from codeplane.git.ops.branches import create_branch
from codeplane.git.ops.checkout import check_out, new_branch
from codeplane.git.remote.push import PushRequest, plan_push, push_all
from codeplane.git.remote.transfer import Connection
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.ref_names import branch_name, remote_name
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.session.staging import staging_rules

_TYPES: Final = {
    **dict.fromkeys(("git_commit", "commit", "git.commit"), "git_commit"),
    **dict.fromkeys(("git_branch", "branch", "git.branch"), "git_branch"),
    **dict.fromkeys(("git_push", "push", "git.push"), "git_push"),
}
_BRANCH_TEXT: Final = re.compile(r"(?:checkout|switch(?: to)?|create)\s+", re.IGNORECASE)


@dataclass(frozen=True)
class EffectResult:
    """What git did."""

    summary: str
    operation: str
    details: dict[str, Any]


def effect_type(text: str) -> str:
    """The side effect that a text names; an error where there is none such."""
    if text.lower() in _TYPES:
        return _TYPES[text.lower()]
    raise ExecUngatedSideEffect(
        f"There is no side effect {text[:60]!r}; there are git_commit, git_branch and git_push."
    )


def check_gate(accepted: AcceptedPlan, one: AcceptedNode, effect: str, gate: str | None) -> None:
    """Refuses a side effect whose node has no gate, another one, or one that is still closed."""
    node = one.node
    if node.kind != "side_effect":
        raise ExecUngatedSideEffect(
            f"Node {node.node_id} is a {node.kind} node; side effects have their own."
        )
    if not node.commit_gate_id:
        raise ExecUngatedSideEffect(f"Node {node.node_id} has no commitGateId.")
    if gate is not None and gate != node.commit_gate_id:
        raise ExecUngatedSideEffect(f"The gate of {node.node_id} is {node.commit_gate_id}, not {gate[:60]}.")
    if effect_type(node.side_effect_type) != effect_type(effect):
        raise ExecUngatedSideEffect(f"Node {node.node_id} is for {node.side_effect_type}, not {effect[:60]}.")
    waiting = accepted.open_requirements(one)
    if waiting:
        names = ", ".join(f"{other.node_id} ({other.state})" for other in waiting)
        raise ExecUngatedSideEffect(
            f"The gate {node.commit_gate_id} is closed: {names} come first.",
            waiting=[other.node_id for other in waiting],
        )


def effect_resources(node: PlanNode) -> list[Resource]:
    """What a side effect holds while it runs."""
    if effect_type(node.side_effect_type) == "git_push":
        return [Resource("side_effect", f"git:push:{_text_of(node) or 'default'}")]
    return [Resource("side_effect", HEAD_RESOURCE)]


def effect_attempt(call: Call, node: PlanNode) -> dict[str, Any]:
    """What is noted before git acts, so that the next load can tell whether it did."""
    head = call.repo.checkout.repository.head().commit
    return {"type": effect_type(node.side_effect_type), "head": head, "message": commit_message(node)}


def run_effect(call: Call, accepted: AcceptedPlan, one: AcceptedNode) -> EffectResult:
    """Has git act; the operation is in the ledger and can be undone like any other."""
    effects: dict[str, Callable[[], EffectResult]] = {
        "git_commit": lambda: _commit(call, accepted, one),
        "git_branch": lambda: _branch(call, one.node),
        "git_push": lambda: _push(call, one.node),
    }
    return effects[effect_type(one.node.side_effect_type)]()


def commit_message(node: PlanNode) -> str:
    """The message of a commit."""
    return str(node.payload.get("message") or _text_of(node)).strip()


def _text_of(node: PlanNode) -> str:
    return str(node.payload.get("text") or "").strip()


def _changed_paths(changes: Sequence[AcceptedNode]) -> list[str]:
    names = [str(name) for one in changes for name in one.outcome.get("files", ())]
    return list(dict.fromkeys([*names, *(one.node.target_file for one in changes)]))


def _commit(call: Call, accepted: AcceptedPlan, one: AcceptedNode) -> EffectResult:
    """Commits the files of the changes behind the gate, and nothing else."""
    checkout = call.repo.checkout
    paths = _changed_paths([node for node in accepted.gated_changes(one) if node.state == "done"])
    message = commit_message(one.node)
    if not message or not paths:
        raise InvalidArgument(f"Node {one.node_id} has no message, or no change to commit.")
    selection = Selection.of(call.repo.tree.jail, paths)
    result = change(
        call,
        "git_stage_and_commit",
        lambda: stage_and_commit(
            checkout.repository, checkout.programs, CommitRequest(message), staging_rules(call), selection
        ),
    )
    details = {"commit": result.after.commit, "branch": result.after.branch, "files": paths}
    return EffectResult(result.outcome.summary, str(result.operation_id), details)


def _branch(call: Call, node: PlanNode) -> EffectResult:
    """Makes a branch at HEAD and checks it out, unless the payload says `checkout: false`."""
    checkout = call.repo.checkout
    text = _BRANCH_TEXT.sub("", str(node.payload.get("name") or _text_of(node))).strip()
    name = branch_name(text)
    if checkout.repository.head().branch == name:
        return EffectResult(f"on branch {name} already", "", {"branch": name})
    if node.payload.get("checkout") is False:
        result = change(call, "git_branch", lambda: create_branch(checkout.repository, name), alone=False)
        return EffectResult(result.outcome.summary, str(result.operation_id), {"branch": name})
    switch = change(
        call,
        "git_checkout",
        lambda: check_out(
            checkout.repository, checkout.programs, new_branch(checkout.repository, name, None)
        ),
    )
    return EffectResult(switch.outcome.summary, str(switch.operation_id), {"branch": name})


def _push(call: Call, node: PlanNode) -> EffectResult:
    """Pushes the branch that is checked out, never by force."""
    checkout = call.repo.checkout
    text = str(node.payload.get("remote") or _text_of(node)).strip()
    remote, _, branch = text.partition("/")
    remotes = _remotes_of(call)
    remote = remote if remote in remotes else ("origin" if "origin" in remotes else remote)
    wanted = node.payload.get("branch") or (branch if branch and text.partition("/")[0] in remotes else None)
    request = PushRequest(
        remote=remote_name(remote) if remote else None,
        branch=branch_name(str(wanted)) if wanted else None,
        follow=bool(node.payload.get("setUpstream", True)),
    )
    seconds = checkout.settings.git.remote_timeout_sec
    line = Connection(checkout.repository, checkout.programs, seconds, call.check, call.progress)
    plan = plan_push(checkout.repository, request)
    result = change(call, "git_push", lambda: push_all(line, plan, request), alone=False)
    details = {"remote": result.outcome.remote, "refs": len(result.outcome.updates)}
    return EffectResult(result.outcome.summary, str(result.operation_id), details)


def _remotes_of(call: Call) -> list[str]:
    with call.repo.checkout.repository.opened() as handle:
        return [str(name) for name in handle.remotes.names()]
