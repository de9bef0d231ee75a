"""The outcome of an operation, as far as git knows it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

_MOST_NAMED: Final = 20
_SHORT: Final = 10


class Side(NamedTuple):
    """One side of a conflict: the blob and its mode."""

    oid: str
    mode: int


@dataclass(frozen=True)
class Conflict:
    """A path that git could not merge. A side that does not have the path is None."""

    path: str
    ancestor: Side | None
    ours: Side | None
    theirs: Side | None


@dataclass(frozen=True)
class Outcome:
    """What was done. The caller adds the states before and after."""

    summary: str  # one line
    insertions: int = 0
    deletions: int = 0
    commit: str | None = None  # the new commit
    conflicts: tuple[Conflict, ...] = ()  # where it stopped
    saved: str | None = None  # reference that keeps discarded work
    mode: str | None = None  # of a reset
    notes: tuple[str, ...] = ()  # for the answer: hooks, signing and filters that were not obeyed


def list_names(names: Iterable[str], most: int = _MOST_NAMED) -> str:
    """Joins names for a sentence; counts those beyond the first few."""
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def short_oid(oid: str) -> str:
    """The id of an object as people write it."""
    return oid[:_SHORT]
