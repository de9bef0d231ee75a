"""The files of the repository as one who looks for configuration and tests sees them."""

from collections.abc import Sequence
from functools import cached_property
from typing import Final, Protocol

from codeplane.core.paths import RepoPath
from codeplane.names.snapshot import Snapshot

_LARGEST: Final = 1 << 20


class Tree(Protocol):
    """Paths and texts, ignored files left out."""

    def paths(self) -> Sequence[RepoPath]:
        """All of them, sorted."""

    def text(self, path: RepoPath) -> str | None:
        """None for a file that is not there, is no text, or is too large."""


class SnapshotTree:
    """The tree of a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @cached_property
    def _paths(self) -> Sequence[RepoPath]:
        return sorted(map(RepoPath, self._snapshot.lookup.paths))

    def paths(self) -> Sequence[RepoPath]:
        return self._paths

    def text(self, path: RepoPath) -> str | None:
        sizes = self._snapshot.lookup.sizes([path])
        if not sizes or sizes[0] > _LARGEST:
            return None
        data = self._snapshot.source(path)
        if b"\0" in data:
            return None
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
