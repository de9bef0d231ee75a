"""The features of one task, each with what it was seen by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from codeplane.controller.strategy.documents import Condition, Feature
from codeplane.controller.strategy.predicates import PREDICATES
from codeplane.controller.strategy.task_view import LEVELS, TaskView

FeatureValue = bool | str


@dataclass(frozen=True)
class ContextSignature:
    """What a task is like: a value for each feature, and the evidence for it."""

    features: Mapping[str, FeatureValue]
    evidence: Mapping[str, str] = field(default_factory=dict)
    view: TaskView = field(default_factory=TaskView, compare=False, repr=False)

    def to_wire(self) -> dict[str, Any]:
        return dict(self.features)


def sign_task(view: TaskView, features: Mapping[str, Feature]) -> ContextSignature:
    """Computes every feature of a task by its predicates."""
    values: dict[str, FeatureValue] = {}
    evidence: dict[str, str] = {}
    for name, feature in features.items():
        if feature.when is None:
            values[name] = view.test_confidence if view.test_confidence in LEVELS else LEVELS[0]
            continue
        reason = explain_condition(feature.when, view, {})
        values[name] = reason is not None
        if reason is not None:
            evidence[name] = reason
    return ContextSignature(values, evidence, view)


def explain_condition(
    condition: Condition, view: TaskView, features: Mapping[str, FeatureValue]
) -> str | None:
    """Why a condition holds, in one clause; None where it does not."""
    if condition.predicate is not None:
        return PREDICATES[condition.predicate](view, condition.values)
    if condition.feature is not None:
        return _compare_feature(condition, features.get(condition.feature))
    if condition.not_ is not None:
        is_met = explain_condition(condition.not_, view, features) is not None
        return None if is_met else "nothing speaks against it"
    reasons = [explain_condition(part, view, features) for part in condition.parts()]
    if condition.any_ is not None:
        return next((reason for reason in reasons if reason is not None), None)
    texts = [reason for reason in reasons if reason is not None]
    return " and ".join(dict.fromkeys(texts)) if len(texts) == len(reasons) else None


def _compare_feature(condition: Condition, value: FeatureValue | None) -> str | None:
    name = condition.feature
    if condition.is_ is not None:
        return f"{name} is {_render_value(value)}" if value == condition.is_ else None
    if not isinstance(value, str) or value not in LEVELS:
        return None
    for limit, holds in ((condition.at_least, int.__ge__), (condition.at_most, int.__le__)):
        if limit is not None and limit in LEVELS and holds(LEVELS.index(value), LEVELS.index(limit)):
            return f"{name} is {value}"
    return None


def _render_value(value: FeatureValue | None) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
