"""Targets put into batches: each is one process of one runner, and all of them take about the same time."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from codeplane.testrun.runner import Runner, traits_of
from codeplane.testrun.target import Target

# What is shorter than this is not worth a process of its own.
_SHORTEST_SEC: Final = 1.0


@dataclass(frozen=True)
class Batch:
    """Targets that one process of a runner runs, in the order in which it is given them."""

    runner: str
    targets: tuple[Target, ...]
    # Batches of one queue run one after the other: the runner would get in its own way.
    queue: str = ""

    @property
    def cost(self) -> float:
        return sum(target.cost for target in self.targets)


def batches(targets: Sequence[Target], workers: int, runners: Mapping[str, Runner]) -> list[Batch]:
    """The batches, the most expensive first: whichever worker is free takes the next."""
    groups: dict[tuple[str, str], list[Target]] = defaultdict(list)
    for target in targets:
        groups[target.runner, target.root].append(target)
    whole = sum(target.cost for target in targets)
    results: list[Batch] = []
    for (name, root), group in groups.items():
        traits = traits_of(runners[name])
        cost = sum(target.cost for target in group)
        if traits.is_single:
            bins = [[target] for target in group]
        elif not traits.is_parallel:
            bins = [group]
        else:
            share = ceil(workers * cost / whole) if whole else 1
            bins = pack(group, min(workers, share, max(1, ceil(cost / _SHORTEST_SEC))))
        queue = "" if traits.is_parallel else f"{name}:{root}"
        results += [Batch(name, tuple(targets), queue) for targets in bins]
    return sorted(results, key=lambda batch: -batch.cost)


def pack(targets: Sequence[Target], bins: int) -> list[list[Target]]:
    """Greedy: the most expensive target that is left goes where the least is. Within a bin the given order
    holds, so that what a project's tests share is made once."""
    order = {target: number for number, target in enumerate(targets)}
    loads = [0.0] * max(1, min(bins, len(targets)))
    groups: list[list[Target]] = [[] for _ in loads]
    for target in sorted(targets, key=lambda one: (-one.cost, order[one])):
        least = min(range(len(loads)), key=lambda at: (loads[at], at))
        loads[least] += target.cost
        groups[least].append(target)
    return [sorted(one, key=order.__getitem__) for one in groups if one]
