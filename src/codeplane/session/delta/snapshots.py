"""Where the files of a phase can be restored from if it can't be completed: git, or copies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import CodePlaneError, WorkAtRisk
from codeplane.core.ids import OperationId
from codeplane.core.paths import Digest, RepoPath
from codeplane.session.call import Call
from codeplane.session.delta.workbench import read_tree_file
from codeplane.session.operation.edits import Intent, write
from codeplane.storage import STATE_DIR_NAME
from codeplane.working_tree import digest_of

_MOST_NAMED = 5


@dataclass(frozen=True)
class Handle:
    """The files of a phase as they were before it."""

    contents: Mapping[RepoPath, bytes]
    baseline: str | None = None  # the commit that HEAD was


class SnapshotBackend(Protocol):
    """A way back from a phase."""

    name: str

    def create(self, paths: Sequence[RepoPath]) -> Handle: ...

    def restore(self, handle: Handle, undoes: OperationId | None) -> list[RepoPath]: ...

    def discard(self, handle: Handle) -> None: ...


@dataclass
class FileSnapshots:
    """Keeps the contents; restores them through the one writer of files, which may be undone as well."""

    call: Call
    name: str = "snapshot"

    def create(self, paths: Sequence[RepoPath]) -> Handle:
        files = {path: read_tree_file(self.call.repo, path) for path in paths}
        return Handle({path: data for path, data in files.items() if data is not None})

    def restore(self, handle: Handle, undoes: OperationId | None) -> list[RepoPath]:
        """Brings every file back and checks that it is; the paths that were changed."""

        def make() -> Intent:
            now = {path: read_tree_file(self.call.repo, path) for path in handle.contents}
            edits = tuple(
                FileEdit(path, digest_of(current) if current is not None else None, handle.contents[path])
                for path, current in now.items()
                if current != handle.contents[path]
            )
            before = {path: data for path, data in now.items() if data is not None}
            return Intent("delta_rollback", Change(EditSet(edits), before), undoes)

        intent = make()
        if not intent.change.edits.edits:
            return []
        result = write(self.call, make)
        return [one.path for one in result.changes]

    def discard(self, handle: Handle) -> None:
        """Nothing is left: the contents were in memory, and the engine keeps what it replaced."""


@dataclass
class GitSnapshots(FileSnapshots):
    """Restores from the commit that HEAD was, file by file; needs tracked files without changes.

    A file that an earlier phase has changed since is restored to what that phase left.
    """

    name: str = "git"
    allows_untracked: bool = False
    left_behind: Mapping[RepoPath, Digest | None] = field(default_factory=dict)  # what earlier phases left

    def create(self, paths: Sequence[RepoPath]) -> Handle:
        head = self.call.repo.checkout.repository.head()
        return Handle(super().create(paths).contents, head.commit)

    def check_clean(self) -> None:
        """Refuses a tree with changes that are not of the plan: a rollback must not lose them."""
        status = self.call.repo.tree.git.look()
        changes = {one.path for one in (*status.staged, *status.modified)}
        foreign = sorted(path for path in changes if not (_is_state(path) or self._is_ours(RepoPath(path))))
        if foreign or status.conflicts:
            names = foreign or [one.path for one in status.conflicts]
            raise WorkAtRisk(
                f"Tracked files have changes: {', '.join(map(str, names[:_MOST_NAMED]))}.",
                hints=["Commit or stash them, or execute with no_git (cpl delta execute --no-git)."],
            )
        untracked = [path for path in status.untracked if not _is_state(path)]
        if untracked and not self.allows_untracked:
            raise WorkAtRisk(
                f"There are untracked files: {', '.join(map(str, untracked[:_MOST_NAMED]))}.",
                hints=["Add or ignore them, or execute with allow_dirty (cpl delta execute --allow-dirty)."],
            )

    def _is_ours(self, path: RepoPath) -> bool:
        """Whether a file is as an earlier phase of the plan has left it."""
        if path not in self.left_behind:
            return False
        data = read_tree_file(self.call.repo, path)
        return data is not None and digest_of(data) == self.left_behind[path]


def _is_state(path: str) -> bool:
    """Whether a file is one of the state directory, which no delta changes; git names that by itself, too."""
    return path.split("/")[0] == STATE_DIR_NAME


def is_git_usable(call: Call) -> bool:
    """Whether there is a repository with a commit to go back to."""
    try:
        return call.repo.checkout.repository.head().commit is not None
    except CodePlaneError:
        return False
