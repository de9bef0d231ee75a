"""The chains that a strategy needs are whole."""

from collections.abc import Iterator

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Repair
from codeplane.controller.plan_graph.repairs import escalate_before, waits_for_evidence


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Chains that break, unless every change waits for what is missing."""
    for chain_id in lookup.facts.required_chains:
        chain = lookup.facts.chain(chain_id)
        request = f"chain:{chain_id}"
        if (chain is not None and chain.broken_at is None) or waits_for_evidence(plan, request):
            continue
        if chain is None:
            sub_code, message = "chain.not_run", f"The chain {chain_id} has not been traced."
        else:
            sub_code, message = (
                "chain.broken",
                f"The chain {chain_id} breaks at {chain.broken_at}: nothing is known of that hop.",
            )
        fix = {"kind": "escalate", "requestedEvidence": [request]}
        yield Problem(_code_of(chain_id), sub_code, None, "nodes", message, fix, _ask_first(request, message))


def _ask_first(request: str, message: str) -> Repair:
    return lambda draft: escalate_before(draft, request, message)


def _code_of(chain_id: str) -> RejectionCode:
    is_federation = "federation" in chain_id
    return RejectionCode.PLAN_FEDERATION_PROOF_MISSING if is_federation else RejectionCode.PLAN_ORIGIN_UNKNOWN
