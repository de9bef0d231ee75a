"""Plans and decisions in `state.db`: refactorings that wait, and work planned as a tree."""

from codeplane.plans.decisions import Decision, DecisionStore
from codeplane.plans.document import parse_document, render_json, render_yaml
from codeplane.plans.gates import ClosedGate, Moved
from codeplane.plans.graph_check import check_graph
from codeplane.plans.item import Item, Level, PlanTree
from codeplane.plans.pack_files import build_workflow, read_packs
from codeplane.plans.store import PlanRow, PlanStore
from codeplane.plans.work_plans import PlanSummary, WorkPlans
from codeplane.plans.workflow import Workflow

__all__ = [
    "ClosedGate",
    "Decision",
    "DecisionStore",
    "Item",
    "Level",
    "Moved",
    "PlanRow",
    "PlanStore",
    "PlanSummary",
    "PlanTree",
    "WorkPlans",
    "Workflow",
    "build_workflow",
    "check_graph",
    "parse_document",
    "read_packs",
    "render_json",
    "render_yaml",
]
