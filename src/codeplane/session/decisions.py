"""Decisions about what names mean, kept for the case that the same question comes up in the same files."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from codeplane.plans import Decision, DecisionStore
from codeplane.refactor import Plan
from codeplane.refactor.evidence import signature
from codeplane.storage.database import Database


class Decisions:
    """The last decisions, by the question that a plan asks."""

    def __init__(self, database: Callable[[], Database]) -> None:
        self._database = database

    def find(self, plan: Plan) -> list[str] | None:
        """The groups that were chosen when the same question was asked about the same contents."""
        decision = DecisionStore(self._database()).find(signature(plan))
        if decision is None or dict(decision.files) != dict(plan.read):
            return None
        group_ids = {group.id for group in plan.groups}
        return [one for one in decision.selected if one in group_ids]

    def keep(self, plan: Plan, selected: Sequence[str], proof: dict[str, Any]) -> None:
        now = int(time.time() * 1000)
        DecisionStore(self._database()).save(signature(plan), Decision(plan.read, selected, proof, now))
