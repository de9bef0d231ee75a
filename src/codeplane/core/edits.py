"""What a change of files is: whole contents, each bound to what was there before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from codeplane.core.paths import Digest, RepoPath


class TextEdit(NamedTuple):
    """A text of a file, by line and byte column, and what has to stand there."""

    line: int
    column: int
    old: str
    new: str


@dataclass(frozen=True)
class FileEdit:
    """One path: what has to be there, and what is there afterwards."""

    path: RepoPath
    before: Digest | None  # None where nothing is there
    after: bytes | None  # None where nothing is to be there
    moved_from: RepoPath | None = None  # whose mode and history go on here; the set has its end as well
    mode: int | None = None  # permission bits; None for those of the old file, or the usual ones


@dataclass(frozen=True)
class EditSet:
    """Edits that are made together or not at all; no path is named twice."""

    edits: tuple[FileEdit, ...] = ()


@dataclass(frozen=True)
class Change:
    """Edits with the bytes that they replace."""

    edits: EditSet = field(default_factory=EditSet)
    before: Mapping[RepoPath, bytes] = field(default_factory=dict)  # of each path that something is at

    @property
    def after(self) -> dict[RepoPath, bytes | None]:
        """What is at each path of the edits afterwards; None where nothing is."""
        return {edit.path: edit.after for edit in self.edits.edits}

    @property
    def contents(self) -> dict[RepoPath, bytes]:
        """What files hold afterwards."""
        return {edit.path: edit.after for edit in self.edits.edits if edit.after is not None}

    @property
    def origins(self) -> dict[RepoPath, RepoPath]:
        """Where each file that is there afterwards was before; its own path for a new one."""
        return {
            edit.path: edit.moved_from or edit.path for edit in self.edits.edits if edit.after is not None
        }


@dataclass(frozen=True)
class FileChange:
    """What has happened to one path, by digests; none where there was, or is, no file."""

    path: RepoPath
    before: Digest | None = None
    after: Digest | None = None
    mode_before: int | None = None
    mode_after: int | None = None
    moved_from: RepoPath | None = None
    git_mv: bool = False  # whether the move is in git's index too


def told_once(changes: Sequence[FileChange]) -> list[FileChange]:
    """The changes without the ends of moves at their old paths: the new ones tell of them."""
    left = {change.moved_from for change in changes}
    return [change for change in changes if change.after is not None or change.path not in left]
