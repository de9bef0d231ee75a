"""Every citation holds, and every change has enough distinct sources of each category."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import ValidationError

from codeplane.controller.evidence.citation import parse_citation
from codeplane.controller.evidence.policy import EvidencePolicy, Shortage, find_shortages, is_single_source
from codeplane.controller.evidence.record import PROMPT, Category, category_of_file
from codeplane.controller.evidence.symbols import MODULE, match_symbol
from codeplane.controller.evidence.verification import Flaw, Span, Support
from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Remedy, Repair
from codeplane.controller.plan_graph.repairs import Flag, node_problem, update_fields

_CODE: Final = RejectionCode.PLAN_EVIDENCE_INSUFFICIENT
_GUARD: Final = ("lowEvidenceGuard", "uncertaintyNote", "requiresHumanReview")
_WANTED: Final = {
    Category.REQUIREMENT: "what is asked for (prompt, ticket, API operation)",
    Category.CODE: "source files",
    Category.POLICY: "policy files such as AGENTS.md",
}
_FIRST_LINES: Final = 20


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Citations that do not hold, and changes that rest on too little."""
    policy = policy_of(plan, lookup)
    for node in plan.changes():
        supports: list[Support] = []
        for number, value in enumerate(node.citations()):
            verdict = lookup.check_citation(value)
            if isinstance(verdict, Flaw):
                problem = _flaw_problem(plan, node, number, verdict, lookup)
                yield problem
                # What the fix shows is counted, so that a wrong citation is one problem and not two.
                verdict = lookup.check_citation(problem.fix) if problem.fix else verdict
            supports += [verdict] if isinstance(verdict, Support) else []
        if not node.text("targetFile"):
            continue
        yield from _shortage_problems(plan, node, supports, policy, lookup)


def policy_of(plan: PlanDraft, lookup: PlanLookup) -> EvidencePolicy:
    """The policy that a plan is held to: the server's, or a stricter one that it states."""
    try:
        policy = EvidencePolicy.model_validate(plan.envelope.get("evidencePolicy") or {})
    except ValidationError:
        return lookup.facts.policy
    server = lookup.facts.policy
    return policy if "evidencePolicy" in plan.envelope and not policy.is_weaker_than(server) else server


def supports_of(plan: PlanDraft, lookup: PlanLookup) -> dict[str, list[Support]]:
    """What each change of a plan without problems rests on."""
    return {
        node.node_id: [
            one for value in node.citations() if isinstance(one := lookup.check_citation(value), Support)
        ]
        for node in plan.changes()
    }


def _flaw_problem(plan: PlanDraft, node: NodeDraft, number: int, flaw: Flaw, lookup: PlanLookup) -> Problem:
    value = node.citations()[number]
    instead, target = flaw.instead, _target_span(node, lookup)
    is_vague = flaw.sub_code in ("evidence.lines", "evidence.symbol")
    if instead is not None and target is not None and is_vague and instead.source == target.source:
        instead = target
    record = lookup.give_evidence(instead) if instead is not None else None
    fix = record.handle if record is not None else None
    problem = node_problem(
        plan,
        node,
        f"evidence[{number}]",
        Flag(_CODE, flaw.sub_code),
        flaw.message,
        fix,
        _swap_citation(node.node_id, value, fix),
    )
    if flaw.instead is None or record is not None:
        return problem
    return _with_remedy(problem, flaw.instead)


def _with_remedy(problem: Problem, span: Span) -> Problem:
    args = {"targetFile": span.source, "startLine": span.first_line, "endLine": span.last_line}
    remedy = Remedy("read_file_lines", problem.message, args)
    return Problem(
        problem.code,
        problem.sub_code,
        problem.node_id,
        problem.field,
        problem.message,
        None,
        problem.repair,
        remedy,
    )


def _swap_citation(node_id: str, value: Any, fix: str | None) -> Repair:
    """Puts a citation that holds in the place of one that does not, or drops it."""

    def apply_to(plan: PlanDraft) -> None:
        node = plan.node(node_id)
        if node is not None and node.is_change:
            rest = [one for one in node.citations() if one != value]
            node.body["evidence"] = [*rest, *([fix] if fix and fix not in rest else [])]

    return apply_to


def _shortage_problems(
    plan: PlanDraft, node: NodeDraft, supports: Sequence[Support], policy: EvidencePolicy, lookup: PlanLookup
) -> Iterator[Problem]:
    shortages = find_shortages(policy, supports, is_new_file=node.text("operation") == "create")
    if not shortages:
        return
    flags = [bool(node.body.get(key)) for key in _GUARD]
    if supports and policy.allow_single_source_with_guard and all(flags):
        return
    for shortage in shortages:
        yield _shortage_problem(plan, node, shortage, supports, policy, lookup)
    if any(flags) and not all(flags) and policy.allow_single_source_with_guard and is_single_source(supports):
        lacking = [key for key, is_set in zip(_GUARD, flags, strict=True) if not is_set]
        message = f"The guard for a single source also needs {' and '.join(lacking)}."
        yield node_problem(
            plan,
            node,
            lacking[0],
            Flag(_CODE, "evidence.single_source"),
            message,
            None,
            _complete_guard(node, shortages),
        )


def _shortage_problem(
    plan: PlanDraft,
    node: NodeDraft,
    shortage: Shortage,
    supports: Sequence[Support],
    policy: EvidencePolicy,
    lookup: PlanLookup,
) -> Problem:
    category, sources = shortage.category, shortage.names
    names = ", ".join(sources) or "none"
    count = "a source" if shortage.minimum == 1 else f"{shortage.minimum} distinct sources"
    message = f"The change needs {count} of {category}: {_WANTED[category]}; it has {names}."
    additions = _find_additions(node, shortage, lookup)
    additions = [one for one in additions if one not in node.citations()][: shortage.minimum - len(sources)]
    is_enough = len(sources) + len(additions) >= shortage.minimum

    def add_evidence(draft: PlanDraft) -> None:
        target = draft.node(node.node_id)
        if target is None or not target.is_change:
            return
        target.body["evidence"] = list(dict.fromkeys([*map(_key_of, target.citations()), *additions]))
        if not is_enough and policy.allow_single_source_with_guard:
            _complete_guard(node, [shortage])(draft)

    fix = additions or None
    problem = node_problem(
        plan, node, "evidence", Flag(_CODE, f"evidence.{category}"), message, fix, add_evidence
    )
    if additions or supports or category is not Category.CODE:
        return problem
    span = _target_span(node, lookup)
    return _with_remedy(problem, span) if span is not None else problem


def _key_of(value: Any) -> Any:
    """A citation as a key: the short form of an object."""
    citation = parse_citation(value) if isinstance(value, dict) else None
    return citation.text if citation is not None else str(value)


def _find_additions(node: NodeDraft, shortage: Shortage, lookup: PlanLookup) -> list[str]:
    """Citations that hold and would make up for a shortage."""
    match shortage.category:
        case Category.REQUIREMENT:
            prompt = [PROMPT] if lookup.facts.prompt.strip() and PROMPT not in shortage.names else []
            return [*prompt, *(name for name in lookup.facts.artifacts if name not in shortage.names)]
        case Category.CODE:
            return _code_additions(node, shortage, lookup)
        case _:
            paths = [
                path
                for path in lookup.facts.snapshot.layout.blobs
                if category_of_file(path) is Category.POLICY
            ]
            spans = [Span(path, 1, _FIRST_LINES) for path in sorted(paths) if path not in shortage.names]
            return _handles_of(spans[: shortage.minimum], lookup)


def _code_additions(node: NodeDraft, shortage: Shortage, lookup: PlanLookup) -> list[str]:
    spans = [span] if (span := _target_span(node, lookup)) is not None else []
    path = lookup.existing_path(node.text("targetFile"))
    tests = (
        lookup.tests(path, node.texts("targetSymbols")) if path is not None and shortage.minimum > 1 else []
    )
    spans += [Span(test, 1, _FIRST_LINES) for test in tests]
    reads = [
        record.handle
        for record in lookup.handles()
        if record.category is Category.CODE and record.source not in shortage.names
    ]
    new = _handles_of([span for span in spans if span.source not in shortage.names], lookup)
    return [*new, *(handle for handle in reads if isinstance(lookup.check_citation(handle), Support))]


def _target_span(node: NodeDraft, lookup: PlanLookup) -> Span | None:
    """The lines of the first symbol that a node changes; the first lines of its file without one."""
    path = lookup.existing_path(node.text("targetFile"))
    if path is None:
        return None
    for symbol in node.texts("targetSymbols"):
        if symbol != MODULE and (matches := match_symbol(lookup.facts.snapshot, path, symbol)):
            return Span(path, matches[0].first_line, matches[0].last_line)
    text = lookup.text(path)
    return Span(path, 1, min(_FIRST_LINES, len(text.lines))) if text is not None else None


def _handles_of(spans: Sequence[Span], lookup: PlanLookup) -> list[str]:
    return [record.handle for span in spans if (record := lookup.give_evidence(span)) is not None]


def _complete_guard(node: NodeDraft, shortages: Sequence[Shortage]) -> Repair:
    """States that little is known: the way for a change that has a single source."""
    categories = " and ".join(str(one.category) for one in shortages)
    note = node.text("uncertaintyNote") or f"There is too little evidence of {categories}."
    return update_fields(node.node_id, lowEvidenceGuard=True, uncertaintyNote=note, requiresHumanReview=True)
