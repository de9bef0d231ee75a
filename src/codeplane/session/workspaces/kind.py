"""What a kind of workspace can do. A kind is one class; the registry has one object of each."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from codeplane.session.call import Call
from codeplane.session.repo import RepoSession
from codeplane.workspaces import Workspace, WorkspaceId, WorkspaceKindName


@dataclass(frozen=True)
class Place:
    """What a call reads and writes: an open repository and, in a workspace, the record of it.

    Where files are on the disk, `repo` is the worktree's own. A kind without files gives the repository that
    the workspace was made in, and whoever reads or writes asks the record's kind.
    """

    repo: RepoSession
    workspace: Workspace | None = None
    is_current: bool = False  # whether the files were looked at on the way here


@dataclass(frozen=True)
class NewWorkspace:
    """What is asked for; the base is a branch or commit, HEAD where it is None."""

    id: WorkspaceId
    base: str | None = None
    branch: str | None = None
    path: str | None = None  # below a directory for worktrees; by default the id


@dataclass(frozen=True)
class Creation:
    """A workspace, and how it came about."""

    workspace: Workspace
    is_new: bool
    operation: str | None = None  # of the ledger, where something was made
    path: str | None = None  # of a new one, where it has a directory
    notes: tuple[str, ...] = ()  # what was left out, and whatever else its user should know


@dataclass(frozen=True)
class Standing:
    """What is true of a workspace now, beside its record. None is what a kind does not have or know."""

    path: str | None = None
    branch: str | None = None  # that is checked out now
    head: str | None = None
    modified_files: int | None = None  # that differ from the base
    uncommitted_files: int | None = None
    ahead: int | None = None  # commits that the base's branch, or HEAD of the primary, lacks
    behind: int | None = None
    own_bytes: int | None = None  # that go with it
    facts: int | None = None
    semantic_level: str | None = None
    problem: str | None = None  # why it can't be worked in


@dataclass(frozen=True)
class Outcome:
    """What a reset or a deletion has done."""

    summary: str
    operation: str | None = None
    saved_ref: str | None = None  # the ref that holds what was discarded
    notes: tuple[str, ...] = ()


class WorkspaceKind(Protocol):
    """One kind of workspace. Records are saved and dropped by the registry, never by a kind."""

    @property
    def name(self) -> WorkspaceKindName: ...

    def create(self, call: Call, wish: NewWorkspace) -> Creation:
        """Makes it; called under the creation lock, and only where no record has the id."""

    def enter(self, home: RepoSession, workspace: Workspace) -> AbstractContextManager[Place]:
        """What a call reads and writes; it stays open as long as the block runs."""

    def standing(self, home: RepoSession, workspace: Workspace) -> Standing:
        """What is true of it now; brings nothing up to date."""

    def revision(self, home: RepoSession, workspace: Workspace) -> int:
        """How often its files have been seen to differ since it was made or reset."""

    def reset(self, call: Call, workspace: Workspace, base: str, *, force: bool) -> Outcome:
        """Puts its files back to a commit; `force` discards work that is saved first."""

    def delete(self, call: Call, workspace: Workspace, *, force: bool) -> Outcome:
        """Removes its files and its view of the index; work that is only there is refused without `force`."""
