"""A plan of work as values: items on four levels, and the tree that they make."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from codeplane.core.errors import NotFound
from codeplane.core.ids import ItemId, new_phase_id, new_plan_step_id, new_plan_task_id, new_work_plan_id
from codeplane.core.suggest import nearest
from codeplane.plans.links import Edge, order_by_links

DELTA: Final = "delta"
_LONGEST_ECHO: Final = 60


class Level(StrEnum):
    """How deep an item stands in its plan."""

    PLAN = "plan"
    PHASE = "phase"
    TASK = "task"
    STEP = "step"

    @property
    def child(self) -> "Level | None":
        return _CHILDREN.get(self)

    @property
    def children_key(self) -> str:
        """The key of a document that lists the items below: `phases`, `tasks`, `steps`."""
        return f"{self.child}s" if self.child else ""

    def new_id(self) -> ItemId:
        return _NEW_IDS[self]()


_CHILDREN: Final = {Level.PLAN: Level.PHASE, Level.PHASE: Level.TASK, Level.TASK: Level.STEP}
_NEW_IDS: Final[Mapping[Level, Callable[[], ItemId]]] = {
    Level.PLAN: new_work_plan_id,
    Level.PHASE: new_phase_id,
    Level.TASK: new_plan_task_id,
    Level.STEP: new_plan_step_id,
}
LEVEL_BY_PREFIX: Final = {"plan": Level.PLAN, "ph": Level.PHASE, "pt": Level.TASK, "ps": Level.STEP}


@dataclass(frozen=True)
class Item:
    """One item of a plan: the plan itself, a phase, a task or a step."""

    id: ItemId
    level: Level
    type: str
    state: str
    title: str
    parent: ItemId | None = None
    position: int = 0
    description: str | None = None
    key: str | None = None  # the author's own name for it in the document
    fields: Mapping[str, Any] = field(default_factory=dict)
    derived: Mapping[str, Any] = field(default_factory=dict)  # set by the program alone
    # Links as they were written: an edge is the same whichever side has it.
    after: tuple[ItemId, ...] = ()
    blocks: tuple[ItemId, ...] = ()
    layout: tuple[str, ...] = ()  # keys of the author's document, in their order
    written_delta: Mapping[str, Any] | None = None  # as its author spelled it, where the stored form differs

    @property
    def delta(self) -> dict[str, Any] | None:
        value = self.fields.get(DELTA)
        return dict(value) if isinstance(value, dict) else None

    def value_of(self, name: str) -> Any:
        """The value of a field, derived or written; None where it has none."""
        return self.derived[name] if name in self.derived else self.fields.get(name)

    @property
    def edges(self) -> Iterator[Edge]:
        """Pairs of ids: the first blocks the second."""
        yield from ((other, self.id) for other in self.after)
        yield from ((self.id, other) for other in self.blocks)

    @cached_property
    def text(self) -> str:
        """Everything that its digest covers, which is all but its derived fields."""
        links = [list(self.after), list(self.blocks), list(self.layout)]
        place = [self.id, self.level, self.type, self.state, self.parent, self.position]
        content = [self.title, self.description, self.key, dict(self.fields)]
        source = [] if self.written_delta is None else [dict(self.written_delta)]
        return json.dumps([place, content, links, *source], separators=(",", ":"))

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def derived_text(self) -> str:
        return json.dumps(dict(self.derived), separators=(",", ":"))

    @property
    def derived_digest(self) -> str:
        """Of the derived fields and of the item that they were derived from."""
        source = json.dumps([self.id, self.delta, dict(self.derived)], separators=(",", ":"))
        return hashlib.sha256(source.encode()).hexdigest()

    @property
    def size(self) -> int:
        return len(self.text) + len(self.derived_text)


@dataclass(frozen=True)
class PlanTree:
    """A whole plan at one revision. Changes make another tree."""

    items: Mapping[ItemId, Item]
    revision: int = 0
    made_ms: int = 0
    changed_ms: int = 0

    @cached_property
    def plan(self) -> Item:
        return next(item for item in self.items.values() if item.level is Level.PLAN)

    @cached_property
    def _children(self) -> dict[ItemId, tuple[Item, ...]]:
        children: dict[ItemId, list[Item]] = {}
        for item in self.items.values():
            if item.parent is not None:
                children.setdefault(item.parent, []).append(item)
        return {
            parent: tuple(sorted(items, key=lambda item: (item.position, item.id)))
            for parent, items in children.items()
        }

    @cached_property
    def edges(self) -> frozenset[Edge]:
        """Every `blocks` link of the plan: the first of a pair blocks the second."""
        return frozenset(edge for item in self.items.values() for edge in item.edges)

    @cached_property
    def _blockers(self) -> dict[ItemId, tuple[ItemId, ...]]:
        return _group_edges((target, source) for source, target in sorted(self.edges))

    @cached_property
    def _targets(self) -> dict[ItemId, tuple[ItemId, ...]]:
        return _group_edges(sorted(self.edges))

    def item(self, item_id: str) -> Item:
        """The item of an id; an error where this plan has none."""
        item = self.items.get(ItemId(item_id))
        if item is None:
            raise NotFound(f"{self.plan.id} has no item {item_id[:_LONGEST_ECHO]}.")
        return item

    def name_of(self, item_id: ItemId) -> str:
        """An item as its author can recognize it, even before it is stored."""
        item = self.items.get(item_id)
        return f"{item_id} ({item.key or item.title[:_LONGEST_ECHO]})" if item is not None else str(item_id)

    def find_item(self, text: str) -> Item:
        """The item of an id or of a key of the author's."""
        if (item := self.items.get(ItemId(text)) or self._by_key.get(text)) is not None:
            return item
        near = nearest(text[:_LONGEST_ECHO], self._by_key, most=1)
        ending = f"; did you mean {near[0]}?" if near else "."
        raise NotFound(f"{self.plan.id} has no item {text[:_LONGEST_ECHO]}{ending}")

    @cached_property
    def _by_key(self) -> dict[str, Item]:
        return {item.key: item for item in self.items.values() if item.key is not None}

    def children(self, item_id: ItemId) -> tuple[Item, ...]:
        """The items directly below one, by their positions."""
        return self._children.get(item_id, ())

    def descendants(self, item_id: ItemId) -> Iterator[Item]:
        """Everything below an item, parents before children."""
        for child in self.children(item_id):
            yield child
            yield from self.descendants(child.id)

    def in_order(self) -> Iterator[Item]:
        """Every item, as a document lists them."""
        yield self.plan
        yield from self.descendants(self.plan.id)

    def blockers_of(self, item_id: ItemId) -> tuple[ItemId, ...]:
        """What has to come before an item."""
        return self._blockers.get(item_id, ())

    def blocked_by(self, item_id: ItemId) -> tuple[ItemId, ...]:
        """What has to wait for an item."""
        return self._targets.get(item_id, ())

    def phases_in_order(self) -> tuple[Item, ...]:
        """The phases as they are executed: what blocks comes first, then positions decide."""
        return self._ordered(self.plan.id, self.phase_edges)

    def tasks_in_order(self, phase_id: str) -> tuple[Item, ...]:
        """The tasks of a phase as they are executed: what blocks comes first, then positions decide."""
        return self._ordered(ItemId(phase_id), self.edges)

    @cached_property
    def phase_edges(self) -> frozenset[Edge]:
        """Links between phases: those that were written, and those that links of their tasks imply."""
        edges = set()
        for source, target in self.edges:
            first, second = self.items.get(source), self.items.get(target)
            if first is None or second is None:
                continue
            if first.level is Level.PHASE:
                edges.add((source, target))
            elif first.level is Level.TASK and first.parent and second.parent:
                edges.add((first.parent, second.parent))
        return frozenset((source, target) for source, target in edges if source != target)

    def phase_of(self, item_id: str) -> Item:
        """The phase that a phase, a task or a step is in."""
        item = self.item(item_id)
        while item.level is not Level.PHASE:
            if item.parent is None:
                raise NotFound(f"{item.id} is in no phase.")
            item = self.item(item.parent)
        return item

    def with_items(self, *changed: Item) -> "PlanTree":
        """A tree in which these items stand in the place of those with their ids, or are new."""
        return replace(self, items={**self.items, **{item.id: item for item in changed}})

    def without_items(self, ids: set[ItemId]) -> "PlanTree":
        return replace(self, items={key: item for key, item in self.items.items() if key not in ids})

    def _ordered(self, parent: ItemId, edges: frozenset[Edge]) -> tuple[Item, ...]:
        siblings = self.children(parent)
        order = order_by_links([item.id for item in siblings], edges)
        return tuple(self.items[item_id] for item_id in order)


def _group_edges(pairs: Iterable[Edge]) -> dict[ItemId, tuple[ItemId, ...]]:
    groups: dict[ItemId, list[ItemId]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return {key: tuple(values) for key, values in groups.items()}
