"""A plan follows the strategy of its run."""

from collections.abc import Iterator
from typing import Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import PlanDraft
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import Problem
from codeplane.controller.plan_graph.repairs import drop_envelope

_CODE: Final = RejectionCode.PLAN_STRATEGY_MISMATCH


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """A strategy, or a reason for it, that is not the run's."""
    strategy = lookup.facts.strategy
    strategy_id = plan.envelope.get("knowledgeStrategyId", strategy.strategy_id)
    # A refusal may switch the strategy: a plan by the one before it was right when it was written.
    if strategy_id != strategy.strategy_id and strategy_id not in getattr(strategy, "path", ()):
        why = "; ".join(strategy.reasons)[:300] or "nothing calls for another"
        message = f"The strategy is {strategy.strategy_id}, not {strategy_id[:60]}: {why}."
        repair = drop_envelope("knowledgeStrategyId")
        yield Problem(
            _CODE, "strategy.id", None, "knowledgeStrategyId", message, strategy.strategy_id, repair
        )
    for number, item in enumerate(plan.envelope.get("knowledgeStrategyReasons", [])):
        reason = str(item.get("reason", "")) if isinstance(item, dict) else item
        if reason not in strategy.reasons:
            message = f"The strategy was not chosen because of {reason[:120]!r}."
            where = f"knowledgeStrategyReasons[{number}]"
            repair = drop_envelope("knowledgeStrategyReasons")
            yield Problem(_CODE, "strategy.reason", None, where, message, list(strategy.reasons), repair)
