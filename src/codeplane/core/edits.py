"""What a change of files is: whole contents, each bound to what was there before."""

from dataclasses import dataclass

from codeplane.core.paths import Digest, RepoPath


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

    edits: tuple[FileEdit, ...]
