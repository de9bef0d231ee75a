"""Whether the links of a plan can be followed: nothing dangles, nothing waits for itself."""

from typing import Final

from codeplane.core.errors import PlanInvalid
from codeplane.core.ids import ItemId
from codeplane.plans.item import Item, Level, PlanTree
from codeplane.plans.links import order_by_links

_PARENT_LEVELS: Final = {Level.PHASE: Level.PLAN, Level.TASK: Level.PHASE, Level.STEP: Level.TASK}


def check_graph(tree: PlanTree) -> None:
    """Refuses a plan with a link to nothing, a link between levels, or a cycle.

    It is called at every write, and again before a plan is executed.
    """
    plans = [item for item in tree.items.values() if item.level is Level.PLAN]
    if len(plans) != 1:
        raise PlanInvalid(f"A plan has one item on its first level, not {len(plans)}.")
    for item in tree.items.values():
        _check_parent(tree, item)
        for kind, targets in (("after", item.after), ("blocks", item.blocks)):
            for target in targets:
                _check_link(tree, item, kind, target)
    for level in (Level.TASK, Level.STEP):
        ids = [item.id for item in tree.items.values() if item.level is level]
        order_by_links(ids, tree.edges, tree.name_of)
    # Tasks of two phases that wait for each other crosswise are no cycle of tasks, but one of phases.
    phases = [item.id for item in tree.children(tree.plan.id)]
    order_by_links(phases, tree.phase_edges, tree.name_of)


def _check_parent(tree: PlanTree, item: Item) -> None:
    if item.level is Level.PLAN:
        if item.parent is not None:
            raise PlanInvalid(f"{item.id} is a plan and cannot be below {item.parent}.", item=item.id)
        return
    parent = tree.items.get(item.parent) if item.parent is not None else None
    if parent is None or parent.level is not _PARENT_LEVELS[item.level]:
        raise PlanInvalid(
            f"{item.id} is below {item.parent}, which is no {_PARENT_LEVELS[item.level]} of this plan.",
            item=item.id,
        )


def _check_link(tree: PlanTree, item: Item, kind: str, target: ItemId) -> None:
    other, name = tree.items.get(target), tree.name_of(item.id)
    rest = ", ".join(f'"{one}"' for one in getattr(item, kind) if one in tree.items)
    if other is None:
        raise PlanInvalid(
            f"{name} has a link {kind} to {target}, which this plan has not.",
            hints=[f'plan_update {{"item": "{item.id}", "{kind}": [{rest}]}}'],
            item=item.id,
        )
    if other is item:
        raise PlanInvalid(f"{name} has a link {kind} to itself.", item=item.id)
    if other.level is not item.level or item.level is Level.PLAN:
        raise PlanInvalid(
            f"{name} is a {item.level} and {tree.name_of(target)} a {other.level};"
            f" `{kind}` links items of one level.",
            item=item.id,
        )
    if item.level is Level.STEP and other.parent != item.parent:
        raise PlanInvalid(
            f"{name} and {tree.name_of(target)} are steps of two tasks; link the tasks.", item=item.id
        )
