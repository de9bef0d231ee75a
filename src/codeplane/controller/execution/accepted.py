"""An accepted plan as it stands: which nodes are done, which come next, and what a gate still waits for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from codeplane.controller.execution.nodes import PlanNode
from codeplane.core.errors import NotFound
from codeplane.core.suggest import nearest

NodeState = Literal["pending", "done", "failed", "dropped"]


@dataclass(frozen=True)
class AcceptedNode:
    """A node, the task that it is stored as, and what has come of it."""

    node: PlanNode
    item_id: str
    state: NodeState = "pending"
    base: str = ""  # digest of the file when the plan was accepted; "" where there was none
    outcome: Mapping[str, Any] = field(default_factory=dict)
    attempt: Mapping[str, Any] = field(default_factory=dict)

    @property
    def node_id(self) -> str:
        return self.node.node_id

    @property
    def is_over(self) -> bool:
        """Whether nothing waits for it any more."""
        return self.state in ("done", "dropped")


@dataclass(frozen=True)
class AcceptedPlan:
    """A plan at one revision; its nodes are in an order in which they can be executed."""

    plan_id: str
    nodes: Sequence[AcceptedNode]
    revision: int = 0

    @cached_property
    def _by_id(self) -> dict[str, AcceptedNode]:
        return {one.node_id: one for one in self.nodes}

    def node(self, node_id: str) -> AcceptedNode:
        """The node of an id; an error with the nearest where the plan has none."""
        if (one := self._by_id.get(node_id)) is not None:
            return one
        near = nearest(node_id[:60], self._by_id, most=1)
        ending = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(self._by_id)}."
        raise NotFound(f"The accepted plan has no node {node_id[:60]!r}{ending}", nodes=list(self._by_id))

    def of_kind(self, kind: str) -> Iterator[AcceptedNode]:
        """The nodes of a kind, in order."""
        return (one for one in self.nodes if one.node.kind == kind)

    def open_requirements(self, one: AcceptedNode) -> list[AcceptedNode]:
        """The nodes that have to be done before this one and are not."""
        names = self._gate_ids(one) if one.node.kind == "side_effect" else one.node.waits_for
        return [self._by_id[name] for name in names if name in self._by_id and not self._by_id[name].is_over]

    def _gate_ids(self, one: AcceptedNode) -> list[str]:
        """The nodes behind a gate: what it depends on with their validations; all where it names none."""
        if not one.node.depends_on:
            return [other.node_id for other in self.nodes if other.node.kind in ("change", "validate")]
        ids, waiting = dict.fromkeys(one.node.depends_on), list(one.node.depends_on)
        while waiting:
            other = self._by_id.get(waiting.pop())
            more = [*other.node.waits_for, *self.validation_ids(other)] if other is not None else []
            waiting += [name for name in more if name not in ids]
            ids |= dict.fromkeys(more)
        return [name for name in ids if name != one.node_id]

    def gated_changes(self, one: AcceptedNode) -> list[AcceptedNode]:
        """The change nodes behind the gate of a side effect."""
        names = set(self._gate_ids(one))
        return [other for other in self.of_kind("change") if other.node_id in names]

    def validations_of(self, one: AcceptedNode) -> list[AcceptedNode]:
        """The validate nodes that check a change."""
        return [other for other in self.of_kind("validate") if one.node_id in other.node.maps_to]

    def validation_ids(self, one: AcceptedNode) -> list[str]:
        """Names of the validate nodes that check a change."""
        return [other.node_id for other in self.validations_of(one)]

    def ready_nodes(self) -> Iterator[AcceptedNode]:
        """Pending nodes that nothing stands before, in order."""
        return (one for one in self.nodes if one.state == "pending" and not self.open_requirements(one))

    def ready_validations(self) -> list[AcceptedNode]:
        """Validate nodes whose changes are done."""
        return [one for one in self.ready_nodes() if one.node.kind == "validate"]

    def failed_nodes(self) -> list[AcceptedNode]:
        """Nodes that did not come to their end."""
        return [one for one in self.nodes if one.state == "failed"]

    def next_node(self) -> AcceptedNode | None:
        """The node to go on with: one that failed before one that is still to be done."""
        failures = self.failed_nodes()
        return failures[0] if failures else next(self.ready_nodes(), None)

    @property
    def is_complete(self) -> bool:
        """Whether every node is done or dropped."""
        return all(one.is_over for one in self.nodes)

    def may_be_corrected(self, one: AcceptedNode) -> bool:
        """Whether a change that is done may be changed again: only where a check of it has failed."""
        return one.state == "failed" or any(other.state == "failed" for other in self.validations_of(one))

    def progress(self) -> dict[str, int]:
        """Counts of nodes, dropped ones left out."""
        nodes = [one for one in self.nodes if one.state != "dropped"]
        done_count = sum(one.state == "done" for one in nodes)
        validations = sum(one.node.kind == "validate" and one.state != "done" for one in nodes)
        return {
            "totalNodes": len(nodes),
            "completedNodes": done_count,
            "remainingNodes": len(nodes) - done_count,
            "pendingValidations": validations,
        }
