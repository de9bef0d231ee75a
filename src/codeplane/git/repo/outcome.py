"""The outcome of an operation, as far as git knows it."""

from dataclasses import dataclass
from typing import NamedTuple


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
    commit: str | None = None  # that was made
    conflicts: tuple[Conflict, ...] = ()  # where it has stopped
    saved: str | None = None  # reference of the commit that keeps work which was discarded
    mode: str | None = None  # of a reset: what followed HEAD
    notes: tuple[
        str, ...
    ] = ()  # what the caller has to know: hooks, signing and filters that were not obeyed
