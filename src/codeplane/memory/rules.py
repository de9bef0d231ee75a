"""Plan rules and strategy signals: conditions as data, evaluated on what a plan says."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from codeplane.core.globs import Globs
from codeplane.core.ids import MemoryId
from codeplane.memory.anchors import is_below
from codeplane.memory.records import Feature, MemoryRecord, RuleCondition

_HOOK_KEYS: Final = ("target", "targets", "test", "tests", "command", "name", "path", "file", "files")


@dataclass(frozen=True)
class NodeView:
    """What rules read of a node: its kind, its file, and everything that it names (files, hooks, types)."""

    kind: str
    file: str = ""
    subjects: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanView:
    """What rules read of a plan."""

    features: Mapping[str, Feature]
    nodes: tuple[NodeView, ...]

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(node.file for node in self.nodes if node.file))


@dataclass(frozen=True)
class ActiveRule:
    """A plan rule that is enforced now."""

    memory_id: MemoryId
    condition: RuleCondition
    required_steps: tuple[str, ...]
    deny_code: str
    anchors: tuple[str, ...] = ()
    note: str = ""

    @classmethod
    def of_record(cls, record: MemoryRecord) -> "ActiveRule":
        rule = record.content.plan_rule
        assert rule is not None, f"BUG: {record.id} has no rule"
        return cls(
            record.id,
            rule.condition,
            rule.required_steps,
            rule.deny_code,
            record.content.domain_anchor_ids,
            record.content.note,
        )

    def condition_text(self) -> str:
        """The condition in one line, as results of rules have it."""
        parts = [f"{name}={value}" for name, value in self.condition.features.items()]
        parts += [f"file {glob}" for glob in self.condition.files]
        parts += [f"{kind} node" for kind in self.condition.node_kinds]
        parts += [f"below {anchor}" for anchor in self.anchors]
        return "; ".join(parts) or "every plan"


@dataclass(frozen=True)
class RuleOutcome:
    """What a rule says about a plan. A rule that does not apply is satisfied."""

    rule: ActiveRule
    applies: bool
    missing_steps: tuple[str, ...] = ()

    @property
    def is_satisfied(self) -> bool:
        return not self.applies or (bool(self.rule.required_steps) and not self.missing_steps)

    def to_dict(self) -> dict[str, Any]:
        """The entry of `memoryRuleResults`."""
        result: dict[str, Any] = {
            "memoryId": self.rule.memory_id,
            "condition": self.rule.condition_text(),
            "satisfied": self.is_satisfied,
        }
        if not self.is_satisfied:
            result |= {"denyCode": self.rule.deny_code, "missingSteps": list(self.missing_steps)}
        return result


@dataclass(frozen=True)
class ActiveSignal:
    """A strategy signal that holds now."""

    memory_id: MemoryId
    feature_flag: str
    value: Feature
    reason: str

    @classmethod
    def of_record(cls, record: MemoryRecord) -> "ActiveSignal":
        signal = record.content.strategy_signal
        assert signal is not None, f"BUG: {record.id} has no signal"
        return cls(record.id, signal.feature_flag, signal.value, signal.reason)


def rule_applies(rule: ActiveRule, view: PlanView) -> bool:
    """Whether the condition of a rule holds for a plan: every part of it that is given.

    Files and node kinds have to hold for one node together; features for the plan.
    """
    features = rule.condition.features
    if any(view.features.get(name) != value for name, value in features.items()):
        return False
    if not rule.anchors and not rule.condition.files and not rule.condition.node_kinds:
        return True
    return any(_node_matches(node, rule) for node in view.nodes)


def check_rule(rule: ActiveRule, view: PlanView) -> RuleOutcome:
    """Evaluates a rule: without required steps it denies every plan that its condition holds for."""
    if not rule_applies(rule, view):
        return RuleOutcome(rule, applies=False)
    missing = tuple(step for step in rule.required_steps if not _has_step(step, view))
    return RuleOutcome(rule, applies=True, missing_steps=missing)


def check_rules(rules: Iterable[ActiveRule], view: PlanView) -> list[RuleOutcome]:
    """Evaluates every rule on a plan."""
    return [check_rule(rule, view) for rule in rules]


def view_plan(document: Mapping[str, Any], features: Mapping[str, Feature]) -> PlanView:
    """What rules read of a plan's document; what has another form is passed over."""
    nodes = document.get("nodes")
    entries = [node for node in nodes if isinstance(node, Mapping)] if isinstance(nodes, list) else []
    return PlanView(features, tuple(view_node(node) for node in entries))


def view_node(node: Mapping[str, Any]) -> NodeView:
    """What rules read of one node of a plan's document."""
    file = node.get("targetFile")
    path = file if isinstance(file, str) else ""
    subjects = [path] if path else []
    subjects += _list_texts(node.get("verificationHooks"))
    subjects += _list_texts(node.get("sideEffectType"))
    kind = node.get("kind")
    return NodeView(kind if isinstance(kind, str) else "", path, tuple(subjects))


def apply_signals(
    features: Mapping[str, Feature], signals: Sequence[ActiveSignal]
) -> tuple[dict[str, Feature], list[ActiveSignal]]:
    """The features as the signals have them, and the signals that changed one; the first of a flag counts."""
    result, effective = dict(features), dict[str, ActiveSignal]()
    for signal in signals:
        if signal.feature_flag in effective:
            continue
        effective[signal.feature_flag] = signal
        result[signal.feature_flag] = signal.value
    changes = [signal for flag, signal in effective.items() if features.get(flag) != signal.value]
    return result, changes


def _node_matches(node: NodeView, rule: ActiveRule) -> bool:
    condition = rule.condition
    if condition.node_kinds and node.kind not in condition.node_kinds:
        return False
    if not node.file:
        return not rule.anchors and not condition.files
    if rule.anchors and not any(is_below(node.file, anchor) for anchor in rule.anchors):
        return False
    return not condition.files or _compile_globs(condition.files).holds(node.file)


@lru_cache(maxsize=2_048)
def _compile_globs(patterns: tuple[str, ...]) -> Globs:
    return Globs(patterns)


def _has_step(step: str, view: PlanView) -> bool:
    kind, colon, pattern = step.partition(":")
    globs = _compile_globs((pattern,)) if colon and pattern else None
    return any(
        node.kind == kind and (globs is None or any(map(globs.holds, node.subjects))) for node in view.nodes
    )


def _list_texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for key in _HOOK_KEYS for text in _list_texts(value.get(key))]
    if isinstance(value, Sequence):
        return [text for member in value for text in _list_texts(member)]
    return []
