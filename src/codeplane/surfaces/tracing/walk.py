"""The walk from an entry point down, nearest first, with what frameworks mean at each step."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.core.places import Place
from codeplane.core.proof import Tier
from codeplane.graph.calls import run_by
from codeplane.graph.hierarchy import is_class
from codeplane.graph.trace import Region, Step, Steps, Tracer, Way
from codeplane.names import Snapshot
from codeplane.surfaces.definition_facts import Annotation, DefinitionFacts

_MOST_STEPS: Final = 200  # ways on from one node


@dataclass
class Node:
    """Some code on the way: a definition, or a function without a name."""

    region: Region
    depth: int
    step: Step | None  # None for the entry point
    annotations: list[Annotation] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)
    again: list[Place] = field(default_factory=list)  # ways on that are elsewhere in the tree
    handed_over: list[Place] = field(default_factory=list)  # functions that are handed to something
    new_objects: list[Place] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    unproven: list[str] = field(default_factory=list)
    is_recursive: bool = False
    more: int = 0  # ways on that were not followed


@dataclass
class FeatureTrace:
    """The tree; `more` counts definitions that the limit left out, `deeper` those below the depth."""

    roots: list[Node]
    total: int = 0
    more: int = 0
    deeper: int = 0


class Bounds(NamedTuple):
    depth: int
    limit: int


_Key = tuple[Place | Region, Place | None]
_PASSED: Final = Place(RepoPath(""))


class Walk:
    """One walk."""

    def __init__(self, snapshot: Snapshot, facts: DefinitionFacts, bounds: Bounds) -> None:
        self._snapshot, self._facts, self._bounds = snapshot, facts, bounds
        self._tracer, self._registered_at = Tracer(snapshot), 0
        self._keys: set[_Key] = set()
        self._left: set[Place] = set()
        self._below: set[Place] = set()

    def trace(
        self, entries: Sequence[Region], before: Sequence[Step] = (), registered_at: int = 0
    ) -> FeatureTrace:
        """The tree below some code; `before` are steps that run before the first of it does.

        A decorator in the line `registered_at` makes the code a route or a command and is no step.
        """
        self._registered_at = registered_at
        roots = [Node(region, 0, None) for region in entries]
        result = FeatureTrace(roots)
        waiting = deque(roots)
        self._keys.update((node.region.place or node.region, None) for node in roots)
        while waiting:
            node = waiting.popleft()
            result.total += 1
            is_first = node is roots[0]
            waiting.extend(self._visit(node, result, before if is_first else (), len(waiting)))
        places = {key[0] for key in self._keys}
        result.more, result.deeper = len(self._left - places), len(self._below - self._left - places)
        return result

    def _visit(self, node: Node, result: FeatureTrace, before: Sequence[Step], pending: int) -> list[Node]:
        owner = node.step.owner if node.step is not None else None
        steps = self._tracer.steps(node.region, owner)
        node.annotations = self._annotations(node)
        exceptions = {one.target for one in node.annotations if one.kind == "exception"}
        node.new_objects = [one for one in steps.new_objects if one not in exceptions]
        node.is_recursive = steps.is_recursive
        node.outside, node.unproven = list(steps.outside), list(steps.unproven)
        ways = [
            step
            for step in [*before, *self._of_entry(node), *steps.steps]
            if step.callee not in exceptions and not self._is_registration(node, step)
        ]
        is_passed = node.step is not None and node.step.way is Way.PASSED
        room = self._bounds.limit - result.total - pending
        for step in ways[:_MOST_STEPS]:
            key = self._key(step)
            if key in self._keys:
                node.again.append(step.callee)
            elif step.way is Way.PASSED and node.depth:
                node.handed_over.append(step.callee)
            elif node.depth >= self._bounds.depth or is_passed:
                node.more += 1
                self._below.add(step.callee)
            elif len(node.children) >= room:
                node.more += 1
                self._left.add(step.callee)
            else:
                self._keys.add(key)
                node.children.append(Node(self._tracer.region(step.callee), node.depth + 1, step))
        node.more += steps.more_targets + max(0, len(ways) - _MOST_STEPS)
        return node.children

    def _of_entry(self, node: Node) -> list[Step]:
        place = node.region.place
        if node.step is not None or place is None or not is_class(self._snapshot, place):
            return []
        return self._tracer.members(place)

    def _is_registration(self, node: Node, step: Step) -> bool:
        return node.step is None and step.way is Way.DECORATOR and step.line == self._registered_at

    def _key(self, step: Step) -> _Key:
        """What makes two nodes one: a method of a base runs otherwise on another object.

        What is only handed over is not followed, so it doesn't stand for a call of it.
        """
        if step.way is Way.PASSED and (step.callee, None) not in self._keys:
            return step.callee, _PASSED
        own = self._tracer.class_of(step.callee)
        return step.callee, step.owner if step.owner not in (own, step.callee) else None

    def _annotations(self, node: Node) -> list[Annotation]:
        region, place = node.region, node.region.place
        if place is None:
            return self._facts.within(region.path, region.first, region.last)
        annotations = self._facts.at(place)
        if node.step is not None and is_class(self._snapshot, place):
            makers = run_by(self._snapshot, place)
            annotations += [one for maker in makers for one in self._facts.at(maker)]
        return list(dict.fromkeys(annotations))


def tier_of(node: Node) -> Tier:
    """How far the way to a node is proven."""
    return node.step.tier if node.step is not None else Tier.PROVEN


__all__ = ["Bounds", "FeatureTrace", "Node", "Steps", "Walk", "Way", "tier_of"]
