"""A context pack as an agent reads it: plain lines, the spans with their handles."""

from collections.abc import Iterator, Mapping
from typing import Any

from codeplane.controller.pack.sections import Anchor, PackContent, PolicyEntry


def render_pack(content: PackContent) -> str:
    """The whole pack; sections without content take no line."""
    return "\n".join(_lines(content))


def _lines(content: PackContent) -> Iterator[str]:
    yield content.header.context_pack_ref
    yield from _task_lines(content)
    yield from render_findings(content)
    if content.missing.dropped:
        left_out = ", ".join(f"{count} {name}" for name, count in content.missing.dropped.items())
        yield f"left out to fit: {left_out}"


def _task_lines(content: PackContent) -> Iterator[str]:
    task, strategy = content.task, content.strategy
    if task.evidence:
        yield f"requirement {task.evidence} (prompt)"
    yield from (f"must: {line}" for line in task.constraints)
    yield from (f"conflict: {line}" for line in task.conflicts)
    reasons = f": {'; '.join(strategy.reasons)}" if strategy.reasons else ""
    yield f"strategy {strategy.strategy_id}{reasons}"


def render_findings(content: PackContent) -> Iterator[str]:
    """Anchors, rules, tests, memories and gaps, one below the other."""
    for anchor in content.anchors.anchors:
        yield from _anchor_lines(anchor)
    for chain in content.anchors.proof_chains:
        ending = f", broken at {chain.broken_at}" if chain.broken_at else ""
        yield f"chain {chain.chain_id}: {' → '.join(chain.hops)}{ending}"
    for policy in content.policies:
        yield from _policy_lines(policy)
    if content.validation.tests:
        yield f"tests ({content.validation.confidence}): {', '.join(content.validation.tests)}"
    if content.validation.linters:
        yield f"linters: {', '.join(content.validation.linters)}"
    for memory in content.active_memories:
        yield from memory_lines(memory)
    yield from (f"missing: {line}" for line in content.missing.missing)
    yield from (f"conflict: {line}" for line in content.missing.conflicts)


def _anchor_lines(anchor: Anchor) -> Iterator[str]:
    lines = f":{anchor.first_line}-{anchor.last_line}" if anchor.first_line else ""
    name = f" {anchor.symbol}" if anchor.symbol else ""
    handle = f" {anchor.evidence}" if anchor.evidence else ""
    yield f"{anchor.path}{lines}{name}{handle} ({anchor.why})"
    if anchor.text:
        yield anchor.text


def _policy_lines(policy: PolicyEntry) -> Iterator[str]:
    lines = f":{policy.first_line}-{policy.last_line}" if policy.first_line else ""
    handle = f" {policy.evidence}" if policy.evidence else ""
    yield f"rule {policy.source}{lines}{handle} ({policy.why})"
    if policy.text:
        yield policy.text


def memory_lines(memory: Mapping[str, Any]) -> Iterator[str]:
    """One memory: what it says, and of an example what was refused and what was accepted."""
    example, rule = memory.get("fewShot") or {}, memory.get("planRule") or {}
    signal = memory.get("strategySignal") or {}
    parts = [
        str(example.get("instruction") or ""),
        "; ".join(map(str, rule.get("requiredSteps") or ())),
        str(signal.get("reason") or ""),
        str(memory.get("note") or ""),
    ]
    yield f"memory {memory.get('id', '')}: {' '.join(filter(None, parts))}"
    if example.get("before"):
        yield f"  refused: {example['before']}"
    if example.get("after"):
        yield f"  accepted: {example['after']}"
