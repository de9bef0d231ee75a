"""Plans that wait to be carried out, and decisions about them, in `state.db`: they outlive the server."""

from codeplane.plans.decisions import Decision, DecisionStore
from codeplane.plans.store import PlanRow, PlanStore

__all__ = ["Decision", "DecisionStore", "PlanRow", "PlanStore"]
