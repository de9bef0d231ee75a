"""What is wrong with a plan, and how it can be put right."""

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codeplane.controller.plan_graph.codes import RejectionCode

if TYPE_CHECKING:
    from codeplane.controller.plan_graph.draft import PlanDraft

Repair = Callable[["PlanDraft"], None]


@dataclass(frozen=True)
class Remedy:
    """A turn that gets what a plan lacks and its author can't write."""

    verb: str
    reason: str
    args: Mapping[str, Any]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where, what was found, and what to send instead."""

    code: RejectionCode
    sub_code: str
    node_id: str | None
    field: str
    message: str
    fix: Any = None
    repair: Repair | None = dataclasses.field(default=None, compare=False, repr=False)
    remedy: Remedy | None = None

    def to_dict(self) -> dict[str, Any]:
        """The problem as an answer has it."""
        body: dict[str, Any] = {
            "code": self.code.value,
            "subCode": self.sub_code,
            "nodeId": self.node_id,
            "field": self.field,
            "message": self.message,
        }
        if self.fix is not None:
            body["fix"] = self.fix
        return body


@dataclass(frozen=True)
class MemoryRuleResult:
    """Whether a plan keeps a rule from memory that applies to it."""

    memory_id: str
    condition: Mapping[str, Any]
    satisfied: bool
    deny_code: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The result as an answer has it."""
        body: dict[str, Any] = {
            "memoryId": self.memory_id,
            "condition": json.dumps(self.condition, sort_keys=True, ensure_ascii=False),
            "satisfied": self.satisfied,
        }
        return {**body, "denyCode": self.deny_code} if self.deny_code else body
