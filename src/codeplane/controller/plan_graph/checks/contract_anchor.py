"""A strategy that rests on a contract has an operation of it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Remedy
from codeplane.controller.plan_graph.repairs import escalate_before, waits_for_evidence
from codeplane.core.paths import RepoPath

ANCHOR: Final = "contract_anchor"
_CODE: Final = RejectionCode.PLAN_MISSING_CONTRACT_ANCHOR
_SPEC_NAME: Final = re.compile(r"(?:^|/)(?:[\w-]*(?:openapi|swagger)[\w.-]*)\.(?:json|ya?ml)$", re.IGNORECASE)
_OPERATION: Final = re.compile(r"\b(?:GET|PUT|POST|PATCH|DELETE|HEAD|OPTIONS|TRACE) /\S*")


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """A contract that no operation has been fetched of."""
    facts = lookup.facts
    is_fetched = any(_is_operation(name, record) for name, record in facts.artifacts.items())
    if not facts.needs_contract or is_fetched or waits_for_evidence(plan, ANCHOR):
        return
    message = f"{facts.strategy.strategy_id} rests on an API contract, and no operation has been fetched."
    if (args := _find_contract(lookup)) is not None:
        remedy = Remedy("fetch_api_spec", message, args)
        yield Problem(_CODE, "contract.not_fetched", None, "nodes", message, None, None, remedy)
        return

    def ask_first(draft: PlanDraft) -> None:
        escalate_before(draft, ANCHOR, message)

    fix = {"kind": "escalate", "requestedEvidence": [ANCHOR]}
    yield Problem(_CODE, "contract.not_fetched", None, "nodes", message, fix, ask_first)


def _is_operation(name: str, record: Mapping[str, Any]) -> bool:
    return record.get("kind") == "api_operation" or ("kind" not in record and bool(_OPERATION.match(name)))


def _find_contract(lookup: PlanLookup) -> dict[str, str] | None:
    """What to fetch: an operation of a list that was fetched, else a description in the repository."""
    for name, record in lookup.facts.artifacts.items():
        operations = [match[0] for match in _OPERATION.finditer(str(record.get("text", "")))]
        if record.get("kind") == "api_operations" and operations:
            prompt = lookup.facts.prompt.lower()
            words = [
                [word for word in re.findall(r"\w+", one.lower()) if word in prompt] for one in operations
            ]
            best = max(range(len(operations)), key=lambda number: len(words[number]))
            return {"specUrl": name, "operation": operations[best]}
    for path in sorted(path for path in lookup.facts.snapshot.layout.blobs if _SPEC_NAME.search(path)):
        text = lookup.text(RepoPath(path))
        if text is not None and "paths" in "\n".join(text.lines):
            return {"specUrl": path}
    return None
