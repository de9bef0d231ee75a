"""Changes in the order in which a reviewer needs them: what may break somebody first."""

from collections import Counter
from collections.abc import Collection, Mapping
from enum import IntEnum
from typing import NamedTuple

from codeplane.graph.diff.repository import FileDiff
from codeplane.graph.diff.risk import category_of
from codeplane.graph.diff.structure import DOCSTRING, Change, ChangeKind, flattened
from codeplane.names import Snapshot

ASIDE = ("test", "docs")  # categories of files that nobody depends on


class Rank(IntEnum):
    """How much a change concerns others."""

    BREAKING = 0
    AMBIGUOUS = 1
    HEADER = 2
    BODY = 3
    ADDED = 4
    TEST = 5


class Reviewed(NamedTuple):
    """One change with its place in the order."""

    rank: Rank
    file: FileDiff
    change: Change


def in_order(
    snapshot: Snapshot | None, files: Collection[FileDiff]
) -> tuple[list[Reviewed], Mapping[str, int]]:
    """The changes, and how many of annotations and of docstrings were folded."""
    units: list[Reviewed] = []
    counts: Counter[str] = Counter()
    for file in files:
        is_aside = bool(file.changes) and category_of(snapshot, file.path) in ASIDE
        for one in flattened(file.changes):
            if one.is_quiet:
                counts["docstrings" if DOCSTRING in one.tags else "annotations"] += 1
            elif one.tags:
                units.append(Reviewed(Rank.TEST if is_aside else _rank(one), file, one))
    units.sort(key=lambda unit: (unit.rank, unit.file.path))
    return units, counts


def _rank(one: Change) -> Rank:
    if one.breaking is not False:
        return Rank.BREAKING if one.breaking else Rank.AMBIGUOUS
    if one.change is ChangeKind.ADDED:
        return Rank.ADDED
    return Rank.BODY if one.change is ChangeKind.BODY else Rank.HEADER
