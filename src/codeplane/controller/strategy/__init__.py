"""How a run goes about its work: features of the task, strategies and proof chains, all of them data."""

from codeplane.controller.strategy.book import StrategyBook, load_book, shipped_book
from codeplane.controller.strategy.choice import (
    StrategyChoice,
    choose_strategy,
    context_signature,
)
from codeplane.controller.strategy.history import RunHistory
from codeplane.controller.strategy.proof import ChainHop, ChainResult, prove
from codeplane.controller.strategy.signature import ContextSignature
from codeplane.controller.strategy.task_view import rate_confidence

__all__ = [
    "ChainHop",
    "ChainResult",
    "ContextSignature",
    "RunHistory",
    "StrategyBook",
    "StrategyChoice",
    "choose_strategy",
    "context_signature",
    "load_book",
    "prove",
    "rate_confidence",
    "shipped_book",
]
