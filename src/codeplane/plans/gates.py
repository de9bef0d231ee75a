"""Transitions of items, and the gates that stand in their way."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from codeplane.core.errors import TransitionRefused
from codeplane.core.ids import ItemId
from codeplane.core.suggest import nearest
from codeplane.plans.item import DELTA, Item, PlanTree
from codeplane.plans.workflow import Gate, ItemType, Transition, Workflow

_MOST_NAMED: Final = 10


@dataclass(frozen=True)
class ClosedGate:
    """A gate that does not let an item through: why, because of which items, and what would open it."""

    gate: str
    problem: str
    items: tuple[ItemId, ...]
    opens: str


@dataclass(frozen=True)
class Moved:
    """A plan after a transition, and what soft gates had to say."""

    tree: PlanTree
    warnings: tuple[str, ...] = ()


def move_item(workflow: Workflow, tree: PlanTree, item_id: str, target: str) -> Moved:
    """Brings an item to a state, or says which gate is closed."""
    item = tree.item(item_id)
    transition = find_transition(workflow, item, target)
    if transition is None:
        return Moved(tree, (f"{item.id} is {target} already.",))
    gates = closed_gates(workflow, tree, item, transition)
    problems = "; ".join(gate.problem for gate in gates)
    if gates and transition.enforcement == "hard":
        raise TransitionRefused(
            f"{item.id} cannot go from {item.state} to {target}: {problems}.",
            hints=list(dict.fromkeys(gate.opens for gate in gates)),
            item=item.id,
            gates=[{**asdict(gate), "items": list(gate.items)} for gate in gates],
        )
    warnings = (f"{item.id} went from {item.state} to {target} although {problems}.",) if gates else ()
    return Moved(tree.with_items(replace(item, state=target)), warnings)


def find_transition(workflow: Workflow, item: Item, target: str) -> Transition | None:
    """The way from the state that an item is in; None where it is there already, an error where none is."""
    item_type = workflow.find_type(item.type)
    if item_type.state(target) is None:
        states = [state.name for state in item_type.states]
        near = nearest(target[:60], states, most=1)
        ending = f"; did you mean {near[0]}?" if near else f"; it has {', '.join(states)}."
        raise TransitionRefused(f"A {item.type} has no state {target[:60]}{ending}", item=item.id)
    if item.state == target:
        return None
    ways = item_type.transitions_from(item.state)
    for way in ways:
        if way.target == target:
            return way
    path = _find_path(item_type, item.state, target)
    names = ", ".join(way.target for way in ways) or "no other state"
    raise TransitionRefused(
        f"{item.id} is {item.state} and cannot go to {target} directly; it can go to {names}.",
        hints=[_render_update(item, state=path[0])] if path else [],
        item=item.id,
    )


def closed_gates(workflow: Workflow, tree: PlanTree, item: Item, transition: Transition) -> list[ClosedGate]:
    """The gates of a transition that do not let an item through now."""
    return [
        result for gate in transition.gates if (result := _check_gate(workflow, tree, item, gate)) is not None
    ]


def _find_path(item_type: ItemType, source: str, target: str) -> list[str]:
    """The shortest way over other states; empty where there is none."""
    paths: dict[str, list[str]] = {source: []}
    pending = [source]
    for state in pending:
        for way in item_type.transitions_from(state):
            if way.target not in paths:
                paths[way.target] = [*paths[state], way.target]
                pending.append(way.target)
    return paths.get(target, [])


def is_unset(value: Any) -> bool:
    """Whether a field counts as not set: null, "", {} and [] do; false and 0 don't."""
    return value is None or (isinstance(value, str | dict | list) and not value)


def is_equal(value: Any, other: Any) -> bool:
    """Whether two values are one in JSON, where true is not 1."""
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _check_gate(workflow: Workflow, tree: PlanTree, item: Item, gate: Gate) -> ClosedGate | None:
    if gate.link_type is None:
        name, value = gate.field or "", item.value_of(gate.field or "")
        if gate.type == "field_set":
            problem = f"{name} is not set" if is_unset(value) else ""
        else:
            is_open = is_equal(value, gate.value)
            problem = "" if is_open else f"{name} is {_render_value(value)}, not {_render_value(gate.value)}"
        if not problem:
            return None
        return ClosedGate(str(gate), problem, (item.id,), _opening_call(workflow, tree, [item], gate))
    others = [
        other
        for other in _linked_items(tree, item, gate)
        if other.state not in gate.ignore_states and not workflow.is_dropped(other)
    ]
    culprits = [other for other in others if not _is_through(workflow, other, gate)]
    if not culprits:
        return None
    names = _render_items(culprits, gate)
    return ClosedGate(
        str(gate),
        f"{len(culprits)} of {len(others)} items have no {_render_condition(gate)}: {names}",
        tuple(one.id for one in culprits),
        _opening_call(workflow, tree, culprits, gate),
    )


def _linked_items(tree: PlanTree, item: Item, gate: Gate) -> Iterator[Item]:
    if gate.link_type == "parent":
        if gate.direction == "inbound":
            yield from tree.children(item.id)
        elif item.parent is not None:
            yield tree.item(item.parent)
        return
    ids = tree.blockers_of(item.id) if gate.direction == "inbound" else tree.blocked_by(item.id)
    yield from (tree.item(one) for one in ids)


def _is_through(workflow: Workflow, item: Item, gate: Gate) -> bool:
    if gate.condition is None:
        return is_equal(item.value_of(gate.field or ""), gate.value)
    if gate.condition.state is not None:
        return item.state == gate.condition.state
    state = workflow.state_of(item)
    return state is not None and state.category == gate.condition.status_category


def _render_condition(gate: Gate) -> str:
    if gate.condition is None:
        return f"{gate.field} {_render_value(gate.value)}"
    return str(gate.condition)


def _render_items(items: Sequence[Item], gate: Gate) -> str:
    names = [
        f"{item.id} ({_render_value(item.value_of(gate.field)) if gate.field else item.state})"
        for item in items[:_MOST_NAMED]
    ]
    more = len(items) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _render_value(value: Any) -> str:
    if is_unset(value):
        return "not set"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _opening_call(workflow: Workflow, tree: PlanTree, items: Sequence[Item], gate: Gate) -> str:
    """What to send so that a gate opens."""
    first = items[0]
    if gate.condition is not None:
        others = f" (and {len(items) - 1} more)" if len(items) > 1 else ""
        return f"Bring {first.id}{others} to {gate.condition}, or reject it."
    name = gate.field or ""
    item_type = workflow.types.get(first.type)
    schema = item_type.field_schema(name) if item_type is not None else None
    if schema is not None and schema.is_derived:
        tool = schema.derived_by or "what derives it"
        return f'{tool} {{"plan": "{tree.plan.id}"}}'
    if name == DELTA:
        return f'plan_update {{"item": "{first.id}", "delta": {{…}}}}'
    value = gate.value if gate.type != "field_set" else "…"
    return _render_update(first, fields={name: value})


def _render_update(item: Item, **edit: Any) -> str:
    return f"plan_update {json.dumps({'item': item.id, **edit}, ensure_ascii=False)}"


def next_step(workflow: Workflow, tree: PlanTree) -> str | None:
    """The call that brings a plan on.

    What has not been derived of an item comes first, then the first way out of the state of the first item
    that is not done.
    """
    items = [item for item in tree.items.values() if not _is_done(workflow, item)]
    if (tool := next((name for item in items if (name := _deriving_tool(workflow, item))), None)) is not None:
        return f'{tool} {{"plan": "{tree.plan.id}"}}'
    for phase in tree.phases_in_order():
        if _is_done(workflow, phase):
            continue
        for task in tree.tasks_in_order(phase.id):
            if not _is_done(workflow, task):
                return _first_call(workflow, tree, task)
        return _first_call(workflow, tree, phase)
    return None if _is_done(workflow, tree.plan) else _first_call(workflow, tree, tree.plan)


def _deriving_tool(workflow: Workflow, item: Item) -> str | None:
    """The tool that derives a field of which an item has only the default so far."""
    item_type = workflow.types.get(item.type)
    for schema in item_type.fields if item_type is not None else ():
        is_default = schema.default is not None and item.value_of(schema.name) == schema.default
        if schema.derived_by and is_default and not is_unset(item.fields.get(schema.derived_from or "")):
            return schema.derived_by
    return None


def _is_done(workflow: Workflow, item: Item) -> bool:
    state = workflow.state_of(item)
    return state is None or state.category == "done"


def _first_call(workflow: Workflow, tree: PlanTree, item: Item) -> str | None:
    """The call that takes the first way out of an item's state, or the tool that takes it further at once."""
    item_type = workflow.types.get(item.type)
    ways = list(_first_ways(item_type, item.state)) if item_type is not None else []
    if not ways:
        return None
    for way in ways:
        gates = closed_gates(workflow, tree, item, way)
        # A task without a delta is begun before anybody asks for one.
        if gates and (way is ways[0] or item.delta):
            return gates[0].opens
        if gates:
            break
        if way.by:
            return f'{way.by} {{"plan": "{tree.plan.id}"}}'
    return _render_update(item, state=ways[0].target)


def _first_ways(item_type: ItemType, state: str) -> Iterator[Transition]:
    """The first way out of a state, then out of the one that it leads to, until the item is done."""
    visits = {state}
    while ways := item_type.transitions_from(state):
        yield ways[0]
        state = ways[0].target
        target = item_type.state(state)
        if state in visits or target is None or target.category == "done":
            return
        visits.add(state)
