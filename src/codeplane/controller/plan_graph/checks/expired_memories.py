"""A plan does not rest on a memory that nobody approved in time."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem, Repair
from codeplane.memory import cited_memories

_CODE: Final = RejectionCode.MEMORY_PROVISIONAL_EXPIRED
_SUB_CODE: Final = "memory.expired"
_EXPIRED: Final = "a memory that expired"


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Fields of the plan and of its nodes that name an expired memory."""
    bodies = [node.body for node in plan.nodes]
    expired_ids = frozenset(lookup.facts.expired_memories(cited_memories([plan.envelope, *bodies])))
    if not expired_ids:
        return
    yield from _field_problems(plan.envelope, expired_ids, None, "")
    for number, node in enumerate(plan.nodes):
        yield from _field_problems(node.body, expired_ids, node.node_id, f"nodes[{number}].")


def _field_problems(
    body: Mapping[str, Any], expired_ids: Collection[str], node_id: str | None, place: str
) -> Iterator[Problem]:
    for key, value in body.items():
        names = [name for name in cited_memories(value) if name in expired_ids]
        if names:
            message = f"{', '.join(names)} expired without approval: leave it out."
            repair = _strip_names(node_id, key, expired_ids)
            yield Problem(_CODE, _SUB_CODE, node_id, f"{place}{key}", message, None, repair)


def _strip_names(node_id: str | None, key: str, names: Collection[str]) -> Repair:
    """Leaves the memories out of a field: items of a list that name one, and their names in a text."""

    def apply_to(plan: PlanDraft) -> None:
        node = plan.node(node_id) if node_id is not None else None
        body = plan.envelope if node_id is None else node.body if node is not None else {}
        if key in body:
            body[key] = _without_names(body[key], names)

    return apply_to


def _without_names(value: Any, names: Collection[str]) -> Any:
    if isinstance(value, str):
        for name in names:
            value = value.replace(name, _EXPIRED)
        return value
    if isinstance(value, list):
        return [member for member in value if not set(cited_memories(member)) & set(names)]
    if isinstance(value, dict):
        return {key: _without_names(member, names) for key, member in value.items()}
    return value
