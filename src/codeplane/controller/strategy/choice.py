"""Chooses the strategy of a run: by features alone, in a fixed order, with every reason on record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from codeplane.controller.strategy.book import DEFAULT_STRATEGY, StrategyBook, shipped_book
from codeplane.controller.strategy.documents import Strategy
from codeplane.controller.strategy.history import RunHistory
from codeplane.controller.strategy.signature import (
    ContextSignature,
    FeatureValue,
    explain_condition,
    sign_task,
)
from codeplane.controller.strategy.task_view import LEVELS, view_task
from codeplane.names import Snapshot


class Signal(Protocol):
    """A feature that memory sets to a value."""

    @property
    def memory_id(self) -> str: ...
    @property
    def feature_flag(self) -> str: ...
    @property
    def value(self) -> FeatureValue: ...


@dataclass(frozen=True)
class StrategyChoice:
    """The strategy of a run, why it is that one, and what its plans have to rest on."""

    strategy_id: str
    context_signature: Mapping[str, FeatureValue]
    reasons: tuple[str, ...]
    required_chains: tuple[str, ...] = ()
    needs_contract: bool = False
    approach: tuple[str, ...] = ()
    path: tuple[str, ...] = ()  # every strategy from the first to this one; a plan may name any of them


def context_signature(
    prompt: str,
    artifacts: Mapping[str, Mapping[str, Any]],
    snapshot: Snapshot,
    files: Sequence[str],
    tests_confidence: str = "none",
    *,
    book: StrategyBook | None = None,
) -> ContextSignature:
    """The features of a task, from its prompt, what was fetched for it, and the files that it is about."""
    features = (book or shipped_book()).features
    return sign_task(view_task(prompt, artifacts, snapshot, files, tests_confidence), features)


def choose_strategy(
    features: ContextSignature,
    signals: Sequence[Signal] = (),
    history: RunHistory | None = None,
    *,
    book: StrategyBook | None = None,
) -> StrategyChoice:
    """The first strategy whose condition holds, then the one that its switches lead to.

    What a strategy requires is still required after a switch: a switch changes how to go on, not what has to
    be proven.
    """
    source = book or shipped_book()
    signature, reasons = _apply_signals(features, signals)
    strategy = _match_strategy(signature, source, reasons)
    path = [strategy]
    while (following := _follow_switch(path, history or RunHistory(), source, reasons)) is not None:
        path.append(following)
    return StrategyChoice(
        strategy_id=path[-1].strategy,
        context_signature=signature.features,
        reasons=tuple(reasons),
        required_chains=tuple(dict.fromkeys(chain for item in path for chain in _chains_of(item, signature))),
        needs_contract=any(item.requires.contract for item in path),
        approach=path[-1].approach,
        path=tuple(item.strategy for item in path),
    )


def _apply_signals(
    features: ContextSignature, signals: Sequence[Signal]
) -> tuple[ContextSignature, list[str]]:
    values, reasons = dict(features.features), list[str]()
    flags: set[str] = set()
    for signal in signals:
        flag = signal.feature_flag
        if flag in flags or not _is_value_of(values.get(flag), signal.value):
            continue
        flags.add(flag)
        if values[flag] != signal.value:
            values[flag] = signal.value
            reasons.append(f"memory {signal.memory_id} sets {flag} to {str(signal.value).lower()}")
    return replace(features, features=values), reasons


def _is_value_of(current: FeatureValue | None, value: FeatureValue) -> bool:
    if isinstance(current, bool):
        return isinstance(value, bool)
    return isinstance(current, str) and value in LEVELS


def _match_strategy(signature: ContextSignature, book: StrategyBook, reasons: list[str]) -> Strategy:
    matches: list[tuple[Strategy, str]] = []
    for strategy in book.by_priority():
        if strategy.strategy == DEFAULT_STRATEGY or strategy.when is None:
            continue
        reason = explain_condition(strategy.when, signature.view, signature.features)
        if reason is not None:
            matches.append((strategy, _with_evidence(reason, strategy, signature)))
    if not matches:
        reasons.append("no feature of the task calls for another strategy")
        return book.strategies[DEFAULT_STRATEGY]
    (strategy, reason), *others = matches
    reasons.append(f"{strategy.strategy}: {reason}")
    if others:
        names = ", ".join(other.strategy for other, _ in others)
        reasons.append(f"{names} would fit too and come after it")
    return strategy


def _with_evidence(reason: str, strategy: Strategy, signature: ContextSignature) -> str:
    names = sorted(strategy.when.features()) if strategy.when is not None else []
    evidence = [signature.evidence[name] for name in names if name in signature.evidence and name in reason]
    return f"{reason}: {'; '.join(evidence)}" if evidence else reason


def _follow_switch(
    path: Sequence[Strategy], history: RunHistory, book: StrategyBook, reasons: list[str]
) -> Strategy | None:
    """The strategy that a trigger leads to; one that was left is not come back to."""
    earlier = {strategy.strategy for strategy in path}
    for switch in path[-1].switches:
        if switch.to in earlier:
            continue
        reason = history.explain_trigger(switch)
        if reason is not None:
            reasons.append(f"switched from {path[-1].strategy} to {switch.to} by {switch.trigger}: {reason}")
            return book.strategies[switch.to]
    return None


def _chains_of(strategy: Strategy, signature: ContextSignature) -> list[str]:
    return [
        chain.chain
        for chain in strategy.requires.chains
        if chain.when is None or explain_condition(chain.when, signature.view, signature.features) is not None
    ]
