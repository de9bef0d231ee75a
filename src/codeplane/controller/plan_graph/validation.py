"""Checks a plan: all problems at once, and one corrected plan that is accepted when it is sent."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from codeplane.controller.evidence.record import EvidenceRecord
from codeplane.controller.plan_graph.checks import (
    ambiguity,
    atomicity,
    carried,
    confidence,
    contract_anchor,
    evidence,
    expired_memories,
    memory_rules,
    policy,
    proof_chains,
    required_fields,
    scope,
    strategy,
    verification,
)
from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft, read_draft
from codeplane.controller.plan_graph.facts import PlanFacts
from codeplane.controller.plan_graph.filling import accepted_document, fill_draft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.models import PlanGraph
from codeplane.controller.plan_graph.problems import MemoryRuleResult, Problem, Remedy
from codeplane.controller.plan_graph.repairs import escalate_instead

Check = Callable[[PlanDraft, PlanLookup], Iterator[Problem]]

CHECKS: Final[Sequence[Check]] = (
    required_fields.find_problems,
    scope.find_problems,
    carried.find_problems,
    atomicity.find_problems,
    ambiguity.find_problems,
    evidence.find_problems,
    verification.find_problems,
    confidence.find_problems,
    strategy.find_problems,
    policy.find_problems,
    memory_rules.find_problems,
    expired_memories.find_problems,
    contract_anchor.find_problems,
    proof_chains.find_problems,
)
_MOST_ROUNDS: Final = 6


@dataclass(frozen=True)
class PlanCheck:
    """What became of a plan: accepted, or what is wrong with it and what to send instead."""

    problems: tuple[Problem, ...]
    plan: PlanGraph | None
    skeleton: dict[str, Any]
    memory_rule_results: tuple[MemoryRuleResult, ...] = ()
    evidence: tuple[EvidenceRecord, ...] = ()  # new evidence of the skeleton, which the answer has to show
    remedy: Remedy | None = None  # what has to be fetched before the skeleton is accepted
    remaining: tuple[Problem, ...] = field(default=(), repr=False)  # what the skeleton can't repair

    @property
    def is_accepted(self) -> bool:
        return self.plan is not None

    @property
    def codes(self) -> tuple[RejectionCode, ...]:
        """The codes of the problems, each once, in their order."""
        return tuple(dict.fromkeys(problem.code for problem in self.problems))


def check_plan(document: Mapping[str, Any], facts: PlanFacts) -> PlanCheck:
    """Checks a plan as an agent has sent it."""
    lookup = PlanLookup(facts)
    draft, flaws = read_draft(document)
    plan = fill_draft(draft, lookup)
    problems = [*flaws, *_run_checks(plan, draft, lookup)]
    results = memory_rules.rule_results(plan, lookup)
    if not problems:
        graph = _accept(plan, lookup)
        fingerprint = draft.envelope.get("planFingerprint")
        if fingerprint in (None, "", graph.plan_fingerprint):
            return PlanCheck((), graph, draft.to_skeleton(), results)
        message = f"planFingerprint is {graph.plan_fingerprint} for this plan; it may be left out."
        code = RejectionCode.PLAN_SCOPE_VIOLATION
        problems = [
            Problem(code, "scope.fingerprint", None, "planFingerprint", message, graph.plan_fingerprint)
        ]
    return _rejected(draft, problems, lookup, results)


def complete_draft(draft: PlanDraft, facts: PlanFacts) -> PlanCheck:
    """Completes a plan that the server has begun, as far as it can."""
    lookup = PlanLookup(facts)
    plan = fill_draft(draft, lookup)
    problems = list(_run_checks(plan, draft, lookup))
    return _rejected(draft, problems, lookup, memory_rules.rule_results(plan, lookup))


def _run_checks(plan: PlanDraft, draft: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """The problems of what was sent; a node that the server has added only repeats those of others."""
    names = {None, *(node.node_id for node in draft.nodes)}
    for find_problems in CHECKS:
        yield from (problem for problem in find_problems(plan, lookup) if problem.node_id in names)


def _accept(plan: PlanDraft, lookup: PlanLookup) -> PlanGraph:
    supports = evidence.supports_of(plan, lookup)
    return PlanGraph.model_validate(accepted_document(plan, lookup.facts, supports)).with_fingerprint()


def _rejected(
    draft: PlanDraft, problems: Sequence[Problem], lookup: PlanLookup, results: tuple[MemoryRuleResult, ...]
) -> PlanCheck:
    plan, remaining = _repair(draft, problems, lookup)
    handles = {value for node in plan.nodes for value in node.citations() if isinstance(value, str)}
    # A citation by path counts because of a record too: it is read where the answer shows the lines.
    sources = {value.partition(":")[0] for value in handles}
    evidence_shown = tuple(
        record
        for record in lookup.new_evidence.values()
        if record.handle in handles or record.source in sources
    )
    remedy = next((problem.remedy for problem in remaining if problem.remedy is not None), None)
    return PlanCheck(
        tuple(problems), None, plan.to_skeleton(), results, evidence_shown, remedy, tuple(remaining)
    )


def _repair(
    draft: PlanDraft, problems: Iterable[Problem], lookup: PlanLookup
) -> tuple[PlanDraft, list[Problem]]:
    """Applies repairs until nothing is wrong; what can't be repaired becomes a request for evidence."""
    plan = draft.copy()
    plan.envelope.clear()
    remaining = list(problems)
    for turn in range(_MOST_ROUNDS):
        for problem in remaining:
            is_stuck = turn == _MOST_ROUNDS - 2 and problem.remedy is None and problem.node_id is not None
            if is_stuck and problem.node_id is not None:
                escalate_instead(problem.node_id, problem.message)(plan)
            elif problem.repair is not None:
                problem.repair(plan)
        remaining = list(_run_checks(fill_draft(plan, lookup), plan, lookup))
        if not remaining:
            break
    return plan, remaining
