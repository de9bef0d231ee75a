"""The values that pass between the engine and its callers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from codeplane.core.edits import FileChange, FileEdit
from codeplane.core.ids import OperationId
from codeplane.core.paths import RepoPath
from codeplane.mutation.batch import Batch, Kind


@dataclass(frozen=True)
class Scope:
    """What a set of edits may touch."""

    allow: tuple[str, ...] = ()  # globs of the working set; none for everything
    ignored_ok: bool = False  # whether files that git ignores were confirmed


@dataclass(frozen=True)
class Flag:
    """Something about a path that the caller should know."""

    path: RepoPath
    kind: Literal["git-ignored", "hard-linked"]
    text: str


@dataclass(frozen=True)
class Planned:
    """One edit and what it does to the file that is there."""

    edit: FileEdit
    kind: Kind
    mode_before: int | None
    mode_after: int | None  # None where the system chooses it, and for a deletion
    is_change: bool


@dataclass(frozen=True)
class Prepared:
    """Edits that could be made now. Nothing has been written."""

    planned: tuple[Planned, ...]
    flags: tuple[Flag, ...]
    exclusive: frozenset[str] = frozenset()  # paths that nobody else may work on while they are made
    shared: frozenset[str] = frozenset()  # directories that have to stay meanwhile


def changes_of(batch: Batch, modes: Mapping[RepoPath, int], *, is_renamed: bool) -> tuple[FileChange, ...]:
    """What the steps do, with the permissions that new files have got, and with what git's index got."""
    new_paths = {new for _, new, _ in batch.index.names} if batch.index is not None and is_renamed else set()
    return tuple(
        FileChange(
            step.path,
            step.before,
            step.after,
            step.mode_before,
            modes.get(step.path, step.mode_after),
            step.moved_from,
            git_mv=step.path in new_paths,
        )
        for step in batch.steps
    )


@dataclass(frozen=True)
class Applied:
    """A set of edits that has been made and is on the disk."""

    changes: tuple[FileChange, ...]
    syncs: int  # how often the disk was waited for


@dataclass(frozen=True)
class Recovered:
    """What a start has made of an operation that a crash had cut off."""

    operation: OperationId
    note: Mapping[str, Any]
    outcome: Literal["finished", "undone", "doubtful", "cut_off"]  # the last of what was only announced
    changes: tuple[FileChange, ...]  # none unless it is finished
    foreign: tuple[RepoPath, ...] = ()  # what somebody else has changed since, and what was left so
