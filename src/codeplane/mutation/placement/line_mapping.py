"""Where lines of an older content are in the present one."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

# Comparing takes the product of the lines that differ; beyond this only what is around them is certain.
_MOST_COMPARED: Final = 4_000_000


def moved(old: Sequence[str], new: Sequence[str], first: int, last: int) -> tuple[int, int] | None:
    """Where lines are in the new content; None when one of them was touched, or when it is not certain.

    It is certain where the lines around have stayed as well, or where the lines are nowhere else.
    An empty span (`last` before `first`) is the place between two lines, which have to have stayed together.
    """
    for start, there, size in _equal_runs(old, new):
        inner = first - 1 - start, last - start  # the span in this run
        if inner[0] < 0 or inner[1] > size:
            continue
        is_held = _reaches_neighbour(
            inner[0] > 0, start + inner[0], there + inner[0], (0, 0)
        ) and _reaches_neighbour(inner[1] < size, last, there + inner[1], (len(old), len(new)))
        if is_held or (first <= last and _is_sole(old, new, old[first - 1 : last])):
            by = there - start
            return first + by, last + by
    return None


def _reaches_neighbour(is_inside: bool, old_at: int, new_at: int, ends: tuple[int, int]) -> bool:
    """Whether a neighbour is in the run too, or both contents end there."""
    return is_inside or (old_at, new_at) == ends


def _is_sole(old: Sequence[str], new: Sequence[str], lines: Sequence[str]) -> bool:
    return _count_occurrences(old, lines) == 1 == _count_occurrences(new, lines)


def _count_occurrences(content: Sequence[str], lines: Sequence[str]) -> int:
    size, first = len(lines), lines[0]
    return sum(
        content[at] == first and content[at : at + size] == lines for at in range(len(content) - size + 1)
    )


def _equal_runs(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    """Runs of equal lines: where they begin in each, from 0, and how many they are."""
    low, high = common_ends(old, new)
    middle_old, middle_new = old[low : len(old) - high], new[low : len(new) - high]
    runs = [(0, 0, low)]
    if middle_old and middle_new and len(middle_old) * len(middle_new) <= _MOST_COMPARED:
        matcher = SequenceMatcher(None, middle_old, middle_new, autojunk=False)
        runs += [(low + one.a, low + one.b, one.size) for one in matcher.get_matching_blocks()]
    runs.append((len(old) - high, len(new) - high, high))
    return _join_runs([run for run in runs if run[2]])


def _join_runs(runs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Runs that follow each other without anything between, as one."""
    blocks: list[tuple[int, int, int]] = []
    for start, there, size in runs:
        if blocks and blocks[-1][0] + blocks[-1][2] == start and blocks[-1][1] + blocks[-1][2] == there:
            blocks[-1] = (blocks[-1][0], blocks[-1][1], blocks[-1][2] + size)
        else:
            blocks.append((start, there, size))
    return blocks


def common_ends(one: Sequence[str], other: Sequence[str]) -> tuple[int, int]:
    """How many lines are the same at the beginning, and how many of the rest at the end."""
    low, most = 0, min(len(one), len(other))
    while low < most and one[low] == other[low]:
        low += 1
    high = 0
    while high < most - low and one[-1 - high] == other[-1 - high]:
        high += 1
    return low, high
