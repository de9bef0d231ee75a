from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from pydantic import Field

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import RunState, SuggestedAction
from codeplane.controller.execution.plan_store import store_plan
from codeplane.controller.pack.build import build_pack
from codeplane.controller.plan_graph import PlanCheck, PlanFacts, PlanGraph, check_plan, draft_check
from codeplane.controller.plan_graph.draft import read_draft
from codeplane.controller.plan_graph.fields import NODE_NAMES
from codeplane.controller.plan_graph.light_lane import light_change
from codeplane.controller.plan_sources import DRAFT_PLAN, gather_facts
from codeplane.controller.plan_text import evidence_lines, plan_lines, problem_lines
from codeplane.controller.turn import Turn
from codeplane.controller.verb import Denied, VerbArgs, VerbDescriptor, VerbResult, verb_units
from codeplane.core.errors import CodePlaneError
from codeplane.core.suggest import snake
from codeplane.core.synonyms import synonyms

# Names of a node's fields that the verb itself has no argument for.
_NODE_MARKS: Final = frozenset(("file", "path", "file_path", "target_file", "edits", "delta", "edit"))
DESCRIPTOR = VerbDescriptor(
    'Checks a plan: {"nodes": [{"file", "symbols", "intent", "evidence": [handle | path:lines | prompt]}]};'
    " the server fills in the rest. With draft and targets, it writes such a plan; with quick, a small change"
    " of one file that carries its edits is patched at once.",
    "When the files to change were read; with draft when unsure how to write a plan.",
)


class Args(VerbArgs):
    plan_graph: Annotated[dict[str, Any] | list[Any] | None, synonyms("plan", "graph")] = None
    nodes: Annotated[list[Any] | None, synonyms("steps", "tasks", "changes", "plan_nodes")] = Field(
        default=None, max_length=500
    )
    intent: str = Field(default="", max_length=20_000)
    evidence: list[Any] | None = Field(default=None, max_length=500)
    draft: bool = False
    quick: bool | dict[str, Any] = False
    targets: Annotated[list[str | dict[str, Any]], synonyms("files", "symbols")] = Field(
        default_factory=list, max_length=200
    )


def example(turn: Turn) -> dict[str, Any]:
    """A call that works in any run: it asks for a draft."""
    return {"draft": True, "intent": " ".join(turn.run.body.prompt.split())[:300]}


def reshape(arguments: dict[str, Any]) -> dict[str, Any]:
    """A plan of one node may be sent as its fields, beside what else the verb has."""
    names = {snake(key): key for key in arguments}
    if not _NODE_MARKS & names.keys() or {"nodes", "plan_graph", "plan", "graph"} & names.keys():
        return arguments
    own = {"draft", "quick"}
    node = {key: arguments[key] for name, key in names.items() if name not in own and name in NODE_NAMES}
    rest = {key: arguments[key] for key in arguments if key not in node}
    return {**rest, "nodes": [node]}


def run(turn: Turn, args: Args) -> VerbResult:
    if args.draft:
        return _offer_draft(turn, args)
    document = _document_of(args)
    _ensure_pack(turn, document)
    check = _judge(turn, document, lambda facts: check_plan(document, facts))
    if check.plan is None:
        raise _refusal(turn, check, is_quick=bool(args.quick))
    plan_id = store_plan(turn.call.repo, turn.run, check.plan)
    turn.run.body.extra.pop(DRAFT_PLAN, None)
    result: dict[str, Any] = {
        "accepted": True,
        "planId": plan_id,
        "planGraph": check.plan.to_dict(),
        "memoryRuleResults": [one.to_dict() for one in check.memory_rule_results],
    }
    answer = VerbResult(
        result, "\n".join(["accepted", *plan_lines(check.plan)]), outcome="ok", state=RunState.PLAN_ACCEPTED
    )
    return _apply_at_once(turn, check.plan, answer) if args.quick else answer


def _apply_at_once(turn: Turn, plan: PlanGraph, answer: VerbResult) -> VerbResult:
    """Carries out a small change with its plan; what can't be is left to `apply_code_patch`."""
    change = light_change(plan, turn.call.repo.checkout.settings.controller.quick_max_lines)
    if isinstance(change, str):
        return replace(answer, text=f"{answer.text}\nnot applied yet: {change}")
    unit = verb_units()[Verb.APPLY_CODE_PATCH]
    edits = [one.model_dump(by_alias=True, exclude_defaults=True) for one in change.edits or ()]
    arguments = {"planNodeId": change.node_id, "targetFile": change.target_file, "edits": edits}
    try:
        patch = unit.run(turn, unit.read(arguments))
    except (Denied, CodePlaneError) as error:
        return replace(answer, text=f"{answer.text}\nnot applied: {error}")
    return replace(
        patch,
        result={**answer.result, "patch": patch.result},
        text=f"{answer.text}\n{patch.text}",
        state=patch.state or RunState.EXECUTION_ENABLED,
    )


def _document_of(args: Args) -> dict[str, Any]:
    """The plan, whichever way it was sent."""
    if isinstance(args.quick, dict):
        document: dict[str, Any] = {"nodes": [args.quick]}
    elif args.plan_graph is not None:
        document = args.plan_graph if isinstance(args.plan_graph, dict) else {"nodes": args.plan_graph}
    else:
        document = {"nodes": args.nodes or []}
    common = {key: value for key, value in (("intent", args.intent), ("evidence", args.evidence)) if value}
    return {**common, **document}


def _ensure_pack(turn: Turn, document: Mapping[str, Any]) -> None:
    """Builds the context pack that a plan refers to, where the run has none; what it found is not shown."""
    if turn.run.body.pack_ref:
        return
    count = len(turn.new_evidence)
    build_pack(turn, _files_of(document))
    del turn.new_evidence[count:]


def _files_of(document: Mapping[str, Any]) -> list[str]:
    return [node.text("targetFile") for node in read_draft(document)[0].nodes if node.text("targetFile")]


def _judge(turn: Turn, document: Mapping[str, Any], judge: Callable[[PlanFacts], PlanCheck]) -> PlanCheck:
    """Checks on one snapshot; evidence that the answer will not show is not given out."""
    files = _files_of(document)
    count = len(turn.new_evidence)

    def check_once(snapshot: Any) -> PlanCheck:
        del turn.new_evidence[count:]
        return judge(gather_facts(turn, snapshot, files))

    check = turn.call.ask(check_once)
    if check.plan is None and _files_of(check.skeleton) != files:
        check = turn.call.ask(lambda snapshot: _rechecked(turn, snapshot, check))
    handles = {record.handle for record in check.evidence}
    rows = {row.handle: row for row in turn.new_evidence[count:] if row.handle in handles}
    turn.new_evidence[count:] = rows.values()
    return check


def _rechecked(turn: Turn, snapshot: Any, check: PlanCheck) -> PlanCheck:
    """A refusal whose corrected plan names other files: they may call for another strategy and its proofs."""
    second = check_plan(check.skeleton, gather_facts(turn, snapshot, _files_of(check.skeleton)))
    evidence = (*check.evidence, *second.evidence)
    if second.plan is not None:
        return replace(check, evidence=evidence)
    return replace(check, skeleton=second.skeleton, evidence=evidence, remedy=second.remedy)


def _refusal(turn: Turn, check: PlanCheck, *, is_quick: bool) -> Denied:
    """All problems, the evidence that is new, and the one call that brings the plan on."""
    suggestion = _suggestion(check)
    if is_quick and suggestion.verb == Verb.SUBMIT_EXECUTION_PLAN:
        suggestion = suggestion.model_copy(update={"args": {**(suggestion.args or {}), "quick": True}})
    turn.run.body.extra[DRAFT_PLAN] = check.skeleton
    count = len(check.problems)
    lines = [*problem_lines(check.problems), *evidence_lines(check.evidence)]
    return Denied(
        [code.value for code in check.codes],
        f"The plan has {count} problem{'s' if count > 1 else ''}.",
        suggestion,
        {
            "problems": [problem.to_dict() for problem in check.problems],
            "skeleton": check.skeleton,
            "memoryRuleResults": [one.to_dict() for one in check.memory_rule_results],
        },
        "\n".join(lines),
    )


def _suggestion(check: PlanCheck) -> SuggestedAction:
    if (remedy := check.remedy) is not None:
        return SuggestedAction(verb=Verb(remedy.verb), reason=remedy.reason, args=dict(remedy.args))
    return SuggestedAction(
        verb=Verb.SUBMIT_EXECUTION_PLAN,
        reason="The corrected plan is accepted as it is.",
        args=check.skeleton,
    )


def _offer_draft(turn: Turn, args: Args) -> VerbResult:
    """A plan for the targets, which is accepted when it is sent."""
    document = {
        "nodes": [target if isinstance(target, dict) else {"file": target} for target in args.targets]
    }
    check = _judge(turn, document, lambda facts: draft_check(args.targets, args.intent, facts))
    turn.run.body.extra[DRAFT_PLAN] = check.skeleton
    action = _suggestion(check)
    result = {"draft": check.skeleton, "send": {"verb": action.verb, **(action.args or {})}}
    lines = ["A draft; edit it where it is not what you mean.", *evidence_lines(check.evidence)]
    return VerbResult(result, "\n".join(lines), outcome="ok")
