"""What the server knows of a plan, so that its author need not write it."""

from collections.abc import Sequence
from typing import Any, Final

from codeplane.controller.evidence.record import Category
from codeplane.controller.evidence.symbols import MODULE
from codeplane.controller.evidence.verification import Support
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.facts import SCHEMA_VERSION, PlanFacts
from codeplane.controller.plan_graph.hooks import LINT, PARSE, REVIEW, TEST_PREFIX, read_hook, test_path
from codeplane.controller.plan_graph.lookup import PlanLookup

_MOST_HOOKS: Final = 20
_CORRECTION: Final = "Undo the node, read the failure, and patch it again."
_SUCCESS: Final = "Every hook passes."
_PAYLOADS: Final = {"git_commit": "message", "git_branch": "name", "git_push": "remote"}


def fill_draft(draft: PlanDraft, lookup: PlanLookup) -> PlanDraft:
    """A copy of a plan with everything that follows from what was stated."""
    plan = draft.copy()
    for node in plan.changes():
        _fill_change(node, lookup)
    _fill_validations(plan)
    for node in plan.nodes:
        _fill_common(node, plan)
    return plan


def _fill_change(node: NodeDraft, lookup: PlanLookup) -> None:
    body = node.body
    path = lookup.path_of(node.text("targetFile"))
    if path is not None:
        body["targetFile"] = path
    if not body.get("operation"):
        edits = body.get("edits") or []
        is_whole = len(edits) == 1 and not (edits[0].get("oldText") or edits[0].get("symbol"))
        is_new = is_whole and lookup.existing_path(path or "") is None
        body["operation"] = "create" if is_new else "modify"
    if body["operation"] == "create" and body.get("targetSymbols"):
        body["newSymbols"] = list(dict.fromkeys([*node.texts("newSymbols"), *body.pop("targetSymbols")]))
    if not body.get("targetSymbols") and (symbols := _implied_symbols(node, lookup)):
        body["targetSymbols"] = symbols
    if not body.get("whyThisFile") and path is not None:
        names = ", ".join(node.texts("targetSymbols") or node.texts("newSymbols")) or "what is to change"
        body["whyThisFile"] = f"{path} {'is to hold' if body['operation'] == 'create' else 'holds'} {names}."
    if "verificationHooks" not in body:
        body["verificationHooks"] = [
            *(f"{TEST_PREFIX}{test}" for test in lookup.node_tests(node)),
            LINT,
            PARSE,
        ]
    else:
        body["verificationHooks"] = [read_hook(text) or text for text in node.texts("verificationHooks")]


def _implied_symbols(node: NodeDraft, lookup: PlanLookup) -> list[str]:
    """The symbols that the edits or the delta of a node are in."""
    path = lookup.existing_path(node.text("targetFile"))
    if path is None:
        return []
    if not lookup.has_code(path):
        return [MODULE]
    names: list[str] = []
    for edit in node.body.get("edits") or []:
        symbol, old = edit.get("symbol"), edit.get("oldText")
        if isinstance(symbol, str) and symbol:
            names.append(symbol)
        elif isinstance(old, str) and old.strip():
            names.append(enclosing_symbol(lookup, node.text("targetFile"), old))
    for transform in _transforms(node.body.get("delta")):
        target = transform.get("target") or transform.get("symbol") or transform.get("inside")
        names.append(target if isinstance(target, str) else MODULE)
    return list(dict.fromkeys(name for name in names if name))


def _transforms(delta: object) -> list[dict[str, Any]]:
    if not isinstance(delta, dict):
        return []
    elements = delta.get("elements", [delta])
    return [
        one
        for element in (elements if isinstance(elements, list) else [])
        if isinstance(element, dict)
        for one in element.get("transforms") or []
        if isinstance(one, dict)
    ]


def enclosing_symbol(lookup: PlanLookup, file: str, text: str) -> str:
    """The innermost definition around the first occurrence of a text; `<module>` for code outside of all."""
    path = lookup.existing_path(file)
    content = lookup.text(path) if path is not None else None
    if path is None or content is None:
        return ""
    at = "\n".join(content.lines).find(text.strip("\n"))
    if at < 0:
        return MODULE
    line = "\n".join(content.lines)[:at].count("\n") + 1
    around = [one for one in lookup.symbols(path) if one.first_line <= line <= one.last_line]
    return min(around, key=lambda one: one.last_line - one.first_line).name if around else MODULE


def _fill_validations(plan: PlanDraft) -> None:
    """Completes validate nodes, and adds one for the changes that none is for."""
    changes = [node.node_id for node in plan.changes()]
    for node in plan.nodes:
        if node.kind != "validate":
            continue
        node.body.setdefault("mapsToNodeIds", changes)
        if "verificationHooks" in node.body:
            node.body["verificationHooks"] = [
                read_hook(text) or text for text in node.texts("verificationHooks")
            ]
        else:
            node.body["verificationHooks"] = _joined_hooks(plan, node.texts("mapsToNodeIds"))
    mapped_ids = {
        name for node in plan.nodes if node.kind == "validate" for name in node.texts("mapsToNodeIds")
    }
    if rest := [name for name in changes if name not in mapped_ids]:
        plan.add_node("validate", verificationHooks=_joined_hooks(plan, rest), mapsToNodeIds=rest)
    for node in plan.nodes:
        if node.kind == "validate":
            names = [name for name in node.texts("mapsToNodeIds") if plan.node(name) is not None]
            node.body.setdefault("dependsOn", names)
            node.body.setdefault("successCriteria", _SUCCESS)


def _joined_hooks(plan: PlanDraft, names: Sequence[str]) -> list[str]:
    nodes = [node for name in names if (node := plan.node(name)) is not None]
    hooks = dict.fromkeys(
        hook for node in nodes for hook in node.texts("verificationHooks") if hook != REVIEW
    )
    return sorted(hooks, key=lambda hook: not test_path(hook))[:_MOST_HOOKS] or [PARSE]


def _fill_payload(node: NodeDraft) -> None:
    """The text of a side effect is the message, branch or remote that it takes."""
    name = _PAYLOADS.get(node.text("sideEffectType"), "message")
    payload = node.body.get("payload")
    if isinstance(payload, dict) and not node.text("sideEffectPayloadRef"):
        node.body["sideEffectPayloadRef"] = str(payload.get(name) or next(iter(payload.values()), ""))
    if text := node.text("sideEffectPayloadRef"):
        node.body["payload"] = {name: text, **(payload or {})}


def _fill_common(node: NodeDraft, plan: PlanDraft) -> None:
    body = node.body
    if node.kind == "side_effect":
        _fill_payload(node)
        body.setdefault("commitGateId", f"gate_{node.node_id}")
        body.setdefault("dependsOn", [one.node_id for one in plan.nodes if one.kind == "validate"])
    if node.kind == "escalate":
        body.setdefault("blockingReasons", body.get("requestedEvidence", []))
        body.setdefault("requestedEvidence", body.get("blockingReasons", []))
    body.setdefault("dependsOn", [])
    hooks = node.texts("verificationHooks")
    body.setdefault("expectedFailureSignatures", [f"{hook}:failed" for hook in hooks] or ["refused"])
    body.setdefault("correctionCandidateOnFail", _CORRECTION)
    body["atomicityBoundary"] = {"files": file_set(node)} if node.is_change else {"files": []}


def file_set(node: NodeDraft) -> list[str]:
    """The files that a change writes: its target, and those of its delta."""
    delta = node.body.get("delta")
    elements = delta.get("elements", [delta]) if isinstance(delta, dict) else []
    paths = (
        [one.get("path") for one in elements if isinstance(one, dict)] if isinstance(elements, list) else []
    )
    files = [node.text("targetFile"), *(path for path in paths if isinstance(path, str))]
    return list(dict.fromkeys(path for path in files if path))


def accepted_document(
    plan: PlanDraft, facts: PlanFacts, supports: dict[str, list[Support]]
) -> dict[str, Any]:
    """A plan without problems as the document that is accepted."""
    identity = facts.identity
    nodes = [_accepted_node(node, supports.get(node.node_id, [])) for node in plan.nodes]
    envelope: dict[str, Any] = {
        "workId": identity.work_id,
        "agentId": identity.agent_id,
        "runSessionId": identity.run_session_id,
        "repoSnapshotId": identity.repo_snapshot_id,
        "worktreeRoot": identity.worktree_root,
        "contextPackRef": identity.context_pack_ref,
        "contextPackHash": identity.context_pack_hash,
        "policyVersionSet": dict(identity.policy_version_set),
        "scopeAllowlistRef": identity.scope_allowlist_ref,
        "knowledgeStrategyId": facts.strategy.strategy_id,
        "knowledgeStrategyReasons": [{"reason": reason} for reason in facts.strategy.reasons],
        "evidencePolicy": plan.envelope.get("evidencePolicy")
        or facts.policy.model_dump(mode="json", by_alias=True),
        "sourceTraceRefs": sorted({one.handle or one.source for group in supports.values() for one in group}),
        "schemaVersion": SCHEMA_VERSION,
        "planFingerprint": "",  # of the whole, which is not there yet
        "nodes": nodes,
    }
    return envelope


def _accepted_node(node: NodeDraft, supports: Sequence[Support]) -> dict[str, Any]:
    body = {key: value for key, value in node.body.items() if key not in ("evidence", "targetFiles")}
    if node.kind == "validate":  # the server runs it, and a review is what people do
        body["verificationHooks"] = [hook for hook in body["verificationHooks"] if hook != REVIEW] or [PARSE]
    if not node.is_change:
        drop = {"editIntent", "whyThisFile"}
        return {key: value for key, value in body.items() if key not in drop}
    if body.get("edits"):
        body["edits"] = [{key: edit[key] for key in edit if key != "path"} for edit in body["edits"]]
    sources = [one._asdict() for one in supports]
    for one in sources:
        one["firstLine"], one["lastLine"] = one.pop("first_line"), one.pop("last_line")
    body["citations"] = [one for one in sources if one["category"] is not Category.CODE]
    body["codeEvidence"] = [one for one in sources if one["category"] is Category.CODE]
    return body
