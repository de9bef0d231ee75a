"""What is done to the tree in one go, in the form in which the journal has it."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from codeplane.core.errors import CodePlaneError
from codeplane.core.ids import OperationId
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import Jail
from codeplane.jail.names import is_temporary
from codeplane.mutation.directories import ancestors, parent_of

_DIGEST = re.compile("[0-9a-f]{64}")


class Kind(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True)
class Step:
    """One path. `temp` in the directory `home` holds the new content first, and then the old one."""

    path: RepoPath
    kind: Kind
    home: str
    temp: str
    before: Digest | None
    after: Digest | None
    mode_before: int | None
    mode_after: int | None  # None where the system chooses it
    moved_from: RepoPath | None = None

    @property
    def parent(self) -> str:
        return parent_of(self.path)


@dataclass(frozen=True)
class IndexMoves:
    """Entries of git's index that get other names: old, new and the blob. `temp` lies in git's directory."""

    temp: str
    names: tuple[tuple[RepoPath, RepoPath, str], ...]


@dataclass(frozen=True)
class Batch:
    """Steps that are made together or not at all."""

    operation: OperationId
    note: Mapping[str, Any]
    steps: tuple[Step, ...]
    made: tuple[str, ...]  # directories, the outermost first
    emptied: tuple[tuple[str, int], ...]  # directories and their modes, the innermost first
    index: IndexMoves | None = None

    @property
    def is_announcement(self) -> bool:
        """Whether somebody else does it, and the journal only has that it has begun."""
        return not (self.steps or self.made or self.emptied or self.index)

    def exclusive(self) -> frozenset[str]:
        """Paths that nobody else may work on meanwhile."""
        return frozenset(
            {step.path for step in self.steps} | {*self.made} | {path for path, _ in self.emptied}
        )

    def shared(self) -> frozenset[str]:
        """Directories that have to stay meanwhile."""
        return frozenset(above for step in self.steps for above in ancestors(step.path))

    def to_json(self) -> dict[str, Any]:
        return {
            "operation": self.operation,
            "note": dict(self.note),
            "steps": [
                [s.path, s.kind, s.home, s.temp, s.before, s.after, s.mode_before, s.mode_after, s.moved_from]
                for s in self.steps
            ],
            "made": self.made,
            "emptied": self.emptied,
            "index": None if self.index is None else [self.index.temp, self.index.names],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], jail: Jail) -> "Batch | None":
        """None for what this program cannot have written: every path passes the jail again."""
        try:
            batch = cls(
                OperationId(str(data["operation"])),
                dict(data["note"]),
                tuple(Step(row[0], Kind(row[1]), *row[2:]) for row in data["steps"]),
                tuple(data["made"]),
                tuple((path, mode) for path, mode in data["emptied"]),
                _index_moves(data["index"]),
            )
        except (LookupError, TypeError, ValueError):
            return None
        return batch if batch._is_sound(jail) else None

    def _is_sound(self, jail: Jail) -> bool:
        modes = [mode for step in self.steps for mode in (step.mode_before, step.mode_after)]
        modes += [mode for _, mode in self.emptied]
        moves = self.index.names if self.index is not None else ()
        digests = [digest for step in self.steps for digest in (step.before, step.after)]
        return (
            _are_plain([step.path for step in self.steps], jail)
            and _are_plain([step.moved_from for step in self.steps if step.moved_from is not None], jail)
            and _are_plain([step.home for step in self.steps if step.home != ""], jail)
            and _are_plain([*self.made, *(path for path, _ in self.emptied)], jail)
            and _are_plain([path for old, new, _ in moves for path in (old, new)], jail)
            and (self.index is None or is_temporary(self.index.temp))
            and all(isinstance(step.temp, str) and is_temporary(step.temp) for step in self.steps)
            and all(mode is None or (isinstance(mode, int) and 0 <= mode <= 0o777) for mode in modes)
            and all(
                digest is None or (isinstance(digest, str) and _DIGEST.fullmatch(digest))
                for digest in digests
            )
        )


def _index_moves(data: Any) -> IndexMoves | None:
    if data is None:
        return None
    temp, names = data
    return IndexMoves(str(temp), tuple((old, new, str(oid)) for old, new, oid in names))


def _are_plain(paths: Iterable[object], jail: Jail) -> bool:
    try:
        return all(isinstance(path, str) and jail.enter(path) == path for path in paths)
    except CodePlaneError:
        return False
