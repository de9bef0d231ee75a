"""Rules that people have approved hold for the plans that they apply to."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

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
    for rule, nodes in _applying_rules(plan, lookup):
        yield from _rule_problems(rule, nodes, plan)


def rule_results(plan: PlanDraft, lookup: PlanLookup) -> tuple[MemoryRuleResult, ...]:
    """Every rule that applies to the plan, and whether it is kept."""
    results = []
    for rule, nodes in _applying_rules(plan, lookup):
        is_kept = next(_rule_problems(rule, nodes, plan), None) is None
        deny_code = None if is_kept else rule.deny_code
        results.append(MemoryRuleResult(rule.memory_id, rule.condition, is_kept, deny_code))
    return tuple(results)


def _applying_rules(plan: PlanDraft, lookup: PlanLookup) -> Iterator[tuple[Rule, list[NodeDraft]]]:
    """The rules with the nodes that they are about: features are the run's, kinds and files the node's."""
    features = lookup.facts.features
    subjects = [(node, file_set(node)) for node in plan.nodes] if lookup.facts.rules else []
    paths = sorted({file for _, files in subjects for file in files})
    for rule in lookup.facts.rules:
        condition = rule.condition
        if any(features.get(name) != value for name, value in (condition.get("features") or {}).items()):
            continue
        patterns = tuple(condition.get("files") or ())
        matches = frozenset(_matching_paths(patterns, paths)) if patterns else frozenset(paths)
        if patterns and not matches:
            continue
        kinds = condition.get("nodeKinds") or ("change", "side_effect")  # what does something
        nodes = [
            node
            for node, files in subjects
            if node.kind in kinds and (not patterns or not matches.isdisjoint(files))
        ]
        if nodes:
            yield rule, nodes


def _matching_paths(patterns: tuple[str, ...], paths: Sequence[str]) -> list[str]:
    """The paths that some globs match; most globs are ruled out by what they begin with."""
    if not any(_has_start(paths, _literal_start(pattern)) for pattern in patterns):
        return []
    globs = _compile_globs(patterns)
    return [path for path in paths if globs is not None and globs.holds(path)]


def _has_start(paths: Sequence[str], start: str) -> bool:
    at = bisect_left(paths, start)
    return at < len(paths) and paths[at].startswith(start)


@lru_cache(maxsize=4096)
def _literal_start(pattern: str) -> str:
    """What a path that an anchored pattern matches has to begin with."""
    if pattern.startswith("!") or "/" not in pattern.rstrip("/"):
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
    """Whether a plan has a step: a file that it changes, a hook that it runs, or words of a node."""
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
