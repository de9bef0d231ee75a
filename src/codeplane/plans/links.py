"""The order that links give, and the cycles that make one impossible."""

import heapq
from collections.abc import Callable, Iterable, Sequence

from codeplane.core.errors import PlanInvalid
from codeplane.core.ids import ItemId

Edge = tuple[ItemId, ItemId]  # the first blocks the second


def order_by_links(
    ids: Sequence[ItemId], edges: Iterable[Edge], name_of: Callable[[ItemId], str] = str
) -> list[ItemId]:
    """Ids so that none precedes what blocks it; otherwise they stay in their order.

    Edges to anything else don't count. A cycle is an error that calls items by `name_of`.
    """
    place = {item_id: number for number, item_id in enumerate(ids)}
    targets: dict[ItemId, list[ItemId]] = {}
    waits = dict.fromkeys(ids, 0)
    for source, target in edges:
        if source in place and target in place:
            targets.setdefault(source, []).append(target)
            waits[target] += 1
    ready = [place[item_id] for item_id, count in waits.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        item_id = ids[heapq.heappop(ready)]
        order.append(item_id)
        for target in targets.get(item_id, ()):
            waits[target] -= 1
            if not waits[target]:
                heapq.heappush(ready, place[target])
    if len(order) < len(place):
        raise cycle_error(find_cycle(targets, [one for one in ids if waits[one]]), name_of)
    return order


def find_cycle(targets: dict[ItemId, list[ItemId]], ids: Sequence[ItemId]) -> list[ItemId]:
    """One cycle among ids of which each is blocked by another of them."""
    remaining = set(ids)
    blockers = {target: source for source in ids for target in targets.get(source, ()) if target in remaining}
    path, places = [ids[0]], {ids[0]: 0}
    while (previous := blockers[path[-1]]) not in places:
        places[previous] = len(path)
        path.append(previous)
    return [previous, *reversed(path[places[previous] :])]


def cycle_error(cycle: Sequence[ItemId], name_of: Callable[[ItemId], str] = str) -> PlanInvalid:
    """The error for a cycle; a long one is shown by its first members."""
    names = [name_of(one) for one in (cycle if len(cycle) <= 8 else cycle[:6])]
    names += ["…", name_of(cycle[-1])] if len(cycle) > 8 else []
    return PlanInvalid(
        f"The links make a cycle: {' → '.join(names)}.",
        hints=["Remove one of these links: each item has to wait for another."],
        cycle=list(cycle[:100]),
    )
