"""Plans of controlled runs: how they are read, filled in, checked, repaired and drafted."""

from codeplane.controller.plan_graph.codes import CODES, RejectionCode
from codeplane.controller.plan_graph.drafting import draft_check, draft_plan
from codeplane.controller.plan_graph.facts import ChangeRefusal, PlanFacts, PlanIdentity
from codeplane.controller.plan_graph.models import (
    ChangeNode,
    EscalateNode,
    PlanGraph,
    PlanNode,
    SideEffectNode,
    ValidateNode,
)
from codeplane.controller.plan_graph.problems import MemoryRuleResult, Problem, Remedy
from codeplane.controller.plan_graph.validation import PlanCheck, check_plan

__all__ = [
    "CODES",
    "ChangeNode",
    "ChangeRefusal",
    "EscalateNode",
    "MemoryRuleResult",
    "PlanCheck",
    "PlanFacts",
    "PlanGraph",
    "PlanIdentity",
    "PlanNode",
    "Problem",
    "RejectionCode",
    "Remedy",
    "SideEffectNode",
    "ValidateNode",
    "check_plan",
    "draft_check",
    "draft_plan",
]
