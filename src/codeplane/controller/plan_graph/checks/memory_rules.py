"""Rules that people have approved hold for the plans that they apply to."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from codeplane.controller.plan_graph.codes import RejectionCode
from codeplane.controller.plan_graph.draft import NodeDraft, PlanDraft
from codeplane.controller.plan_graph.facts import Rule
from codeplane.controller.plan_graph.filling import file_set
from codeplane.controller.plan_graph.hooks import read_hook
from codeplane.controller.plan_graph.lookup import PlanLookup
from codeplane.controller.plan_graph.problems import MemoryRuleResult, Problem, Repair
from codeplane.controller.plan_graph.repairs import escalate_instead
from codeplane.core.errors import CodePlaneError
from codeplane.core.globs import Globs

_FILE_STEP: Final = "file:"


def find_problems(plan: PlanDraft, lookup: PlanLookup) -> Iterator[Problem]:
    """Rules that apply to the plan and are not kept."""
    for rule in lookup.facts.rules:
        nodes = matching_nodes(rule.condition, plan, lookup.facts.features)
        if not nodes:
            continue
        yield from _rule_problems(rule, nodes, plan)


def rule_results(plan: PlanDraft, lookup: PlanLookup) -> tuple[MemoryRuleResult, ...]:
    """Every rule that applies to the plan, and whether it is kept."""
    results = []
    for rule in lookup.facts.rules:
        if nodes := matching_nodes(rule.condition, plan, lookup.facts.features):
            is_kept = not any(True for _ in _rule_problems(rule, nodes, plan))
            results.append(
                MemoryRuleResult(rule.memory_id, rule.condition, is_kept, None if is_kept else rule.deny_code)
            )
    return tuple(results)


def matching_nodes(
    condition: Mapping[str, Any], plan: PlanDraft, features: Mapping[str, Any]
) -> list[NodeDraft]:
    """The nodes that a condition is about: its features are the run's, its kinds and files the node's."""
    wanted = condition.get("features") or {}
    if any(features.get(name) != value for name, value in wanted.items()):
        return []
    kinds = condition.get("nodeKinds") or ["change"]
    nodes = [node for node in plan.nodes if node.kind in kinds]
    if not nodes or not (globs := condition.get("files")):
        return nodes
    patterns = tuple(str(one) for one in globs)
    return [node for node in nodes if any(_is_matched(patterns, file) for file in file_set(node))]


def _is_matched(patterns: tuple[str, ...], file: str) -> bool:
    if not any(one.startswith("!") or file.startswith(_literal_start(one)) for one in patterns):
        return False
    globs = _compile_globs(patterns)
    return globs is not None and globs.holds(file)


@lru_cache(maxsize=4096)
def _literal_start(pattern: str) -> str:
    """What a path that an anchored pattern matches has to begin with."""
    if "/" not in pattern.rstrip("/"):
        return ""
    start = pattern.lstrip("/").removeprefix("./")
    for mark in "*?[{":
        start = start.partition(mark)[0]
    return start.rstrip("/")


@lru_cache(maxsize=4096)
def _compile_globs(patterns: tuple[str, ...]) -> Globs | None:
    try:
        return Globs(patterns)
    except CodePlaneError:
        return None  # a rule that can't be read matches nothing


def _rule_problems(rule: Rule, nodes: Sequence[NodeDraft], plan: PlanDraft) -> Iterator[Problem]:
    code = _code_of(rule)
    node = nodes[0]
    where = f"nodes[{plan.nodes.index(node)}]"
    if not rule.required_steps:
        message = f"The rule {rule.memory_id} refuses this change."
        repair = escalate_instead(node.node_id, message)
        yield Problem(code, "policy.rule", node.node_id, where, message, None, repair)
    for step in rule.required_steps:
        if not _is_included(step, nodes, plan):
            message = f"The rule {rule.memory_id} asks for this step: {step}"
            yield Problem(
                code,
                "policy.rule",
                node.node_id,
                f"{where}.requiredSteps",
                message,
                step,
                _add_step(step, node),
            )


def _is_included(step: str, nodes: Sequence[NodeDraft], plan: PlanDraft) -> bool:
    """Whether a plan has a step: a file that is changed, a hook that is run, or words that a node takes over."""
    if step.startswith(_FILE_STEP):
        return any(step.removeprefix(_FILE_STEP).strip() in file_set(node) for node in plan.changes())
    if (hook := read_hook(step)) is not None:
        return any(hook in node.texts("verificationHooks") for node in plan.nodes)
    return any(step in node.texts("requiredSteps") for node in nodes)


def _add_step(step: str, node: NodeDraft) -> Repair:
    def apply_to(plan: PlanDraft) -> None:
        target = plan.node(node.node_id)
        if target is None:
            return
        if step.startswith(_FILE_STEP):
            body = {key: target.body[key] for key in ("editIntent", "evidence") if key in target.body}
            plan.add_node("change", **body, targetFile=step.removeprefix(_FILE_STEP).strip())
        elif (hook := read_hook(step)) is not None:
            hooks = node.texts("verificationHooks")
            target.body["verificationHooks"] = [*hooks, *([hook] if hook not in hooks else [])]
        else:
            target.body["requiredSteps"] = [*target.texts("requiredSteps"), step]

    return apply_to


def _code_of(rule: Rule) -> RejectionCode:
    try:
        return RejectionCode(rule.deny_code or "")
    except ValueError:
        return RejectionCode.PLAN_POLICY_VIOLATION
