"""A plan does not weaken the policy that it is checked by."""

from collections.abc import Iterator
from typing import Final

from pydantic import ValidationError

from codeplane.controller.evidence.policy import EvidencePolicy
from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem
from codeplane.controller.plan_graph.repairs import drop_envelope

_CODE: Final = RejectionCode.PLAN_POLICY_VIOLATION


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Versions and minima that are not the server's."""
    versions = dict(lookup.facts.identity.policy_version_set)
    names = plan.envelope.get("policyVersionSet")
    if names is not None and names != versions:
        message = "The plan names other versions of the policies than are in force."
        yield Problem(
            _CODE,
            "policy.version",
            None,
            "policyVersionSet",
            message,
            versions,
            drop_envelope("policyVersionSet"),
        )
    minima = plan.envelope.get("evidencePolicy")
    if minima is None:
        return
    server = lookup.facts.policy
    try:
        is_weaker = EvidencePolicy.model_validate(minima).is_weaker_than(server)
        message = "The evidence policy asks for less than the one in force."
    except ValidationError as error:
        is_weaker = True
        message = f"The evidence policy can't be read: {error.errors()[0]['msg']}."
    if is_weaker:
        fix = server.model_dump(mode="json", by_alias=True)
        repair = drop_envelope("evidencePolicy")
        yield Problem(_CODE, "policy.weakened", None, "evidencePolicy", message, fix, repair)
