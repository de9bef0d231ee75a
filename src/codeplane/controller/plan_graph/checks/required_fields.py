"""Every node has what its kind needs and only its author knows."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from codeplane.controller.evidence.symbols import MODULE, match_symbol
from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.edits import make_unique, read_edit
from codeplane.controller.plan_graph.facts import SCHEMA_VERSION
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.models import (
    ChangeNode,
    EscalateNode,
    NodeModel,
    SideEffectNode,
    ValidateNode,
)
from codeplane.controller.plan_graph.problems import Problem
from codeplane.controller.plan_graph.repairs import (
    Flag,
    drop_envelope,
    drop_fields,
    escalate_before,
    escalate_instead,
    node_problem,
    update_fields,
)
from codeplane.controller.plan_graph.targets import guess_nodes, guess_symbols, guess_target
from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
from codeplane.delta.document import Authoring, read_delta

_CODE: Final = RejectionCode.PLAN_MISSING_REQUIRED_FIELDS
_MISSING: Final = Flag(_CODE, "fields.missing")
_OPERATIONS: Final = ("modify", "create", "delete")
_SIDE_EFFECTS: Final = ("git_commit", "git_branch", "git_push")
_PAYLOAD_KEYS: Final[Mapping[str, frozenset[str]]] = {
    "git_commit": frozenset(("message", "text")),
    "git_branch": frozenset(("name", "checkout", "text")),
    "git_push": frozenset(("remote", "branch", "setUpstream", "text")),
}
_MODELS: Final[Mapping[str, type[NodeModel]]] = {
    "change": ChangeNode,
    "validate": ValidateNode,
    "escalate": EscalateNode,
    "side_effect": SideEffectNode,
}
_EVERYWHERE: Final = frozenset(("evidence", "editIntent", "targetFiles"))
_LONGEST_INTENT: Final = 300


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """What is missing or means nothing."""
    if plan.envelope.get("schemaVersion", SCHEMA_VERSION) != SCHEMA_VERSION:
        message = f"The plan is written for schema {plan.envelope['schemaVersion']}, not {SCHEMA_VERSION}."
        yield Problem(
            _CODE,
            "fields.version",
            None,
            "schemaVersion",
            message,
            SCHEMA_VERSION,
            drop_envelope("schemaVersion"),
        )
    if not plan.nodes:
        nodes = guess_nodes(lookup)

        def add_nodes(draft: PlanDraft) -> None:
            for body in nodes:
                draft.add_node("change", **body)
            if not nodes:
                escalate_before(draft, "The file and the symbols to change", "The plan has no nodes.")

        yield Problem(
            _CODE, "fields.no_nodes", None, "nodes", "The plan has no nodes.", nodes or None, add_nodes
        )
    for node in plan.nodes:
        yield from _foreign_fields(plan, node)
        match node.kind:
            case "change":
                yield from _change_problems(plan, node, lookup)
            case "escalate" if not node.texts("requestedEvidence"):
                fix = [node.text("editIntent") or "What is needed to go on"]
                yield node_problem(
                    plan, node, "requestedEvidence", _MISSING, "An escalate node says what is needed.", fix
                )
            case "side_effect":
                yield from _side_effect_problems(plan, node)


def _foreign_fields(plan: PlanDraft, node: NodeDraft) -> Iterator[Problem]:
    """Fields of another kind of node."""
    model = _MODELS[node.kind]
    names = {field.alias for field in model.model_fields.values()} | _EVERYWHERE
    for key in [key for key in node.body if key not in names]:
        message = f"A {node.kind} node has no {key}."
        yield node_problem(
            plan, node, key, Flag(_CODE, "fields.unknown"), message, None, drop_fields(node.node_id, key)
        )


def _change_problems(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    operation = node.text("operation")
    if operation not in _OPERATIONS:
        fix = next(iter(nearest(operation, _OPERATIONS)), "modify")
        message = f"There is no operation {operation[:60]!r}: {', '.join(_OPERATIONS)}."
        yield node_problem(plan, node, "operation", Flag(_CODE, "fields.kind"), message, fix)
    if not node.text("targetFile"):
        if not node.texts("targetFiles"):
            yield _missing_file(plan, node, lookup)
        return
    if not node.text("editIntent"):
        fix = _guess_intent(node, lookup)
        yield node_problem(
            plan, node, "editIntent", _MISSING, "The node does not say what is to change: intent.", fix
        )
    path = lookup.existing_path(node.text("targetFile"))
    if path is not None and not node.texts("targetSymbols") and operation == "modify":
        symbols = guess_symbols(node, path, lookup)
        there = ", ".join(one.name for one in lookup.symbols(path)[:8])
        message = f"The node names no symbols. {path} has {there}; `<module>` is the code around them."
        yield node_problem(plan, node, "targetSymbols", _MISSING, message, symbols)
    yield from _carrier_problems(plan, node, lookup)


def _missing_file(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Problem:
    target = guess_target(node, lookup)
    message = "The node does not say which file is to change: file."
    if target is None:
        repair = escalate_instead(node.node_id, message)
        return node_problem(plan, node, "targetFile", _MISSING, message, None, repair)
    path, symbols = target
    repair = update_fields(node.node_id, targetFile=path, targetSymbols=symbols)
    return node_problem(plan, node, "targetFile", _MISSING, message, path, repair)


def _guess_intent(node: NodeDraft, lookup: PlanLookup) -> str:
    prompt = " ".join(lookup.facts.prompt.split())
    names = ", ".join(node.texts("targetSymbols")) or "the code"
    file = "".join(character for character in node.text("targetFile") if character.isprintable())
    return prompt[:_LONGEST_INTENT] or f"Change {names} in {file}."


def _carrier_problems(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """What a node carries to be applied can be read, and there is one of it."""
    if node.body.get("delta") and node.body.get("edits"):
        repair = drop_fields(node.node_id, "edits")
        message = "A node has a delta or edits, not both."
        yield node_problem(plan, node, "edits", Flag(_CODE, "fields.edits"), message, None, repair)
    if (delta := node.body.get("delta")) is not None:
        facts = lookup.facts

        def first_bytes(path: RepoPath) -> bytes:
            return facts.snapshot.source(path)[:4096] if facts.snapshot.exists(path) else b""

        try:
            read_delta(delta, Authoring(facts.enter, facts.packs, first_bytes))
        except CodePlaneError as error:
            repair = drop_fields(node.node_id, "delta")
            yield node_problem(plan, node, "delta", Flag(_CODE, "fields.delta"), error.message, None, repair)
    yield from _edit_problems(plan, node, lookup)


def _edit_problems(plan: PlanDraft, node: NodeDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Every edit can be read, its old text is in the file once, and its codemod can be run."""
    edits: list[dict[str, Any]] = node.body.get("edits") or []
    path = lookup.existing_path(node.text("targetFile"))
    if path is None and node.text("operation") == "create":
        yield from _creation_problems(plan, node, edits)
        return
    text = lookup.text(path) if path is not None else None
    content = "\n".join(text.lines) if text is not None else ""
    for number, edit in enumerate(edits):
        better: dict[str, Any] | None = None
        if read_edit(edit) is None:
            message = "An edit is {oldText, newText}, {symbol, newText} or {codemodId, params}."
        elif "codemodId" in edit:
            # A codemod after other edits works on a file that is not there yet.
            refusal = lookup.facts.try_codemod(path, edit["codemodId"], edit["params"]) if path else ""
            if number or not refusal:
                continue
            message = refusal
        elif lookup.path_of(edit.get("path", path or "")) != path or text is None:
            continue  # of another file, or of a new one: other checks look at that
        elif content.count(edit["oldText"]) == 1 or (edit.get("symbol") and not edit["oldText"]):
            continue
        elif not edit["oldText"]:
            message = f"{path} is there already, and the edit has no oldText."
        elif (count := content.count(edit["oldText"])) == 0:
            message = f"{path} does not contain {edit['oldText'][:80]!r}."
        else:
            message = f"{edit['oldText'][:80]!r} occurs {count} times in {path}."
            if (pair := _widen_edit(edit, node, content, lookup)) is not None:
                better = {**edit, "oldText": pair[0], "newText": pair[1]}
        rest = [*edits[:number], *([better] if better else []), *edits[number + 1 :]]
        repair = update_fields(node.node_id, edits=rest or None)
        yield node_problem(
            plan, node, f"edits[{number}]", Flag(_CODE, "fields.edits"), message, better, repair
        )
        return  # the next one is looked at when this one is right


def _creation_problems(plan: PlanDraft, node: NodeDraft, edits: list[dict[str, Any]]) -> Iterator[Problem]:
    """A file that is to be created has one edit, with its whole text; nothing in it can be replaced yet."""
    wholes = [edit for edit in edits if "newText" in (read_edit(edit) or {}) and not edit.get("symbol")]
    if not edits or (len(edits) == 1 and wholes):
        return
    better = {"oldText": "", "newText": wholes[0]["newText"]} if len(wholes) == 1 else None
    message = f"{node.text('targetFile')} is to be created: one edit with its whole text, and no codemod."
    repair = update_fields(node.node_id, edits=[better] if better else None)
    yield node_problem(plan, node, "edits", Flag(_CODE, "fields.edits"), message, better, repair)


def _widen_edit(
    edit: Mapping[str, Any], node: NodeDraft, content: str, lookup: PlanLookup
) -> tuple[str, str] | None:
    path = lookup.existing_path(node.text("targetFile"))
    names = [name for name in node.texts("targetSymbols") if name != MODULE]
    matches = [one for name in names if path for one in match_symbol(lookup.facts.snapshot, path, name)]
    return make_unique(content, edit["oldText"], edit["newText"], matches[0].first_line if matches else 1)


def _side_effect_problems(plan: PlanDraft, node: NodeDraft) -> Iterator[Problem]:
    effect = node.text("sideEffectType")
    if effect not in _SIDE_EFFECTS:
        near = next((name for name in _SIDE_EFFECTS if effect and effect in name), None)
        fix = near or next(iter(nearest(effect, _SIDE_EFFECTS)), None if effect else "git_commit")
        message = f"There is no side effect {effect[:60]!r}: {', '.join(_SIDE_EFFECTS)}."
        # What was not asked for is not done in the place of what can't be.
        repair = escalate_instead(node.node_id, message) if fix is None else None
        yield node_problem(plan, node, "sideEffectType", Flag(_CODE, "fields.kind"), message, fix, repair)
        if fix is None:
            return
    payload = node.body.get("payload")
    surplus_keys = (
        sorted(payload.keys() - _PAYLOAD_KEYS.get(effect, frozenset())) if isinstance(payload, dict) else []
    )
    if surplus_keys and effect in _PAYLOAD_KEYS:
        names = ", ".join(sorted(_PAYLOAD_KEYS[effect]))
        message = f"The payload of {effect} has no {', '.join(surplus_keys)[:80]}: it takes {names}."
        repair = drop_fields(node.node_id, "payload", "sideEffectPayloadRef")
        yield node_problem(plan, node, "payload", Flag(_CODE, "fields.unknown"), message, None, repair)
    if not node.text("sideEffectPayloadRef"):
        intents = [one.text("editIntent") for one in plan.changes() if one.text("editIntent")]
        fix = node.text("editIntent") or (intents or ["Apply the plan"])[0][:72]
        message = "The side effect has no payload: the message, branch or remote."
        yield node_problem(plan, node, "sideEffectPayloadRef", _MISSING, message, fix)
