"""A strategy that rests on a contract has an operation of it."""

import re
from collections.abc import Iterator
from typing import Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Remedy
from codeplane.controller.plan_graph.repairs import escalate_before, waits_for_evidence

ANCHOR: Final = "contract_anchor"
_CODE: Final = RejectionCode.PLAN_MISSING_CONTRACT_ANCHOR
_SPEC_NAME: Final = re.compile(r"(?:^|/)(?:[\w-]*(?:openapi|swagger)[\w.-]*)\.(?:json|ya?ml)$", re.IGNORECASE)
_SPEC_URL: Final = re.compile(r"https?://\S*(?:openapi|swagger)\S*", re.IGNORECASE)


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """A contract that nothing has been fetched of."""
    facts = lookup.facts
    is_fetched = any(
        "operation" in str(item.get("kind", item.get("source", ""))) or _is_operation(name)
        for name, item in facts.artifacts.items()
    )
    if not facts.needs_contract or is_fetched or waits_for_evidence(plan, ANCHOR):
        return
    message = f"{facts.strategy.strategy_id} rests on an API contract, and no operation has been fetched."
    if (spec := find_spec(lookup)) is not None:
        remedy = Remedy("fetch_api_spec", message, {"specUrl": spec})
        yield Problem(_CODE, "contract.not_fetched", None, "nodes", message, None, None, remedy)
        return

    def ask_first(draft: PlanDraft) -> None:
        escalate_before(draft, ANCHOR, message)

    fix = {"kind": "escalate", "requestedEvidence": [ANCHOR]}
    yield Problem(_CODE, "contract.not_fetched", None, "nodes", message, fix, ask_first)


def _is_operation(name: str) -> bool:
    return bool(
        re.match(
            r"(?:api:|openapi:|operation:|(?:GET|PUT|POST|PATCH|DELETE|HEAD|OPTIONS)\s)", name, re.IGNORECASE
        )
    )


def find_spec(lookup: PlanLookup) -> str | None:
    """An API description that can be fetched: one that the prompt names, or a file of the repository."""
    if match := _SPEC_URL.search(lookup.facts.prompt):
        return match[0].rstrip(".,)")
    return min((path for path in lookup.facts.snapshot.layout.blobs if _SPEC_NAME.search(path)), default=None)
