"""What git could not merge, out of its index."""

import os

import pygit2

from codeplane.git.outcome import Conflict, Side


def conflicts_of(index: pygit2.Index) -> tuple[Conflict, ...]:
    """The paths with unmerged entries, in order; a side that lacks the path is None."""
    found = [
        Conflict(_path(ancestor, ours, theirs), _side(ancestor), _side(ours), _side(theirs))
        for ancestor, ours, theirs in index.conflicts or ()
    ]
    return tuple(sorted(found, key=lambda one: one.path))


def _path(*entries: pygit2.IndexEntry | None) -> str:
    return next(os.fsdecode(entry.path) for entry in entries if entry is not None)


def _side(entry: pygit2.IndexEntry | None) -> Side | None:
    return Side(str(entry.id), int(entry.mode)) if entry is not None else None
