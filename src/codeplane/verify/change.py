"""Edits, with what has to be known to try them and to take them back."""

from collections.abc import Mapping
from dataclasses import dataclass

from codeplane.core.edits import EditSet
from codeplane.core.paths import RepoPath


@dataclass(frozen=True)
class Change:
    """Edits with what they replace."""

    edits: EditSet
    before: Mapping[RepoPath, bytes]  # what is at each path that something is at

    @property
    def made(self) -> dict[RepoPath, bytes]:
        """What files would hold."""
        return {edit.path: edit.after for edit in self.edits.edits if edit.after is not None}

    @property
    def origins(self) -> dict[RepoPath, RepoPath]:
        """Where each of them is now, if it is anywhere."""
        return {
            edit.path: edit.moved_from or edit.path for edit in self.edits.edits if edit.after is not None
        }
