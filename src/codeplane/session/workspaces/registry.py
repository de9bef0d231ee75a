"""The workspaces of a repository: who knows them by name, makes them one at a time, and lets calls in."""

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Final

from codeplane.core.errors import CodePlaneError, GitBusy, InvalidArgument, NotFound
from codeplane.session.call import Call
from codeplane.session.repo import RepoSession
from codeplane.session.workspaces.kind import (
    Creation,
    NewWorkspace,
    Outcome,
    Place,
    Standing,
    WorkspaceKind,
)
from codeplane.session.workspaces.lookup import no_such_workspace
from codeplane.session.workspaces.memory_kind import MemoryKind
from codeplane.session.workspaces.worktree_kind import WorktreeKind
from codeplane.storage import ServerLock, StateDir
from codeplane.workspaces import Workspace, WorkspaceKindName, WorkspaceStore, parse_workspace_id
from codeplane.workspaces.environment import variables
from codeplane.workspaces.store import MOST_WORKSPACES

_log = logging.getLogger(__name__)

_LOCK: Final = "workspaces.lock"
_LOCK_WAIT_SEC: Final = 60.0
# The time of the last use is written down no more often than this.
_USE_MS: Final = 60_000


class Workspaces:
    """The workspaces that the sessions of one process share. Their records are the primary checkout's."""

    def __init__(self, home: RepoSession, kinds: Sequence[WorkspaceKind] = ()) -> None:
        self._home = home
        self.store = WorkspaceStore(lambda: home.primary_state_db)
        self._worktrees = WorktreeKind()
        self._kinds: dict[WorkspaceKindName, WorkspaceKind] = {self._worktrees.name: self._worktrees}
        self._kinds |= {kind.name: kind for kind in kinds or _other_kinds()}

    def find(self, text: str) -> Workspace:
        """The workspace of that name; an error that names those there are."""
        name = text.strip()
        workspace = self.store.find(name)
        if workspace is None:
            workspace = self._worktrees.find(self._home, name, self.store.find_all())
            if workspace is not None:
                self.store.save(workspace)
        if workspace is None:
            raise no_such_workspace(text, [one.id for one in self.find_all()])
        return workspace

    def find_all(self) -> list[Workspace]:
        """All of them, by name, with the worktrees that somebody else has made."""
        workspaces = self.store.find_all()
        others = self._worktrees.unrecorded(self._home, {one.worktree for one in workspaces})
        return sorted((*workspaces, *others), key=lambda one: one.id)

    @contextmanager
    def enter(self, text: str | None) -> Iterator[Place]:
        """What a call of that workspace reads and writes; without a name, the repository of this server."""
        if text is None:
            yield Place(self._home)
            return
        workspace = self.find(text)
        now_ms = _now_ms()
        if now_ms - workspace.used_ms > _USE_MS:
            self.store.note_use(workspace.id, now_ms)
        with self._kinds[workspace.kind].enter(self._home, workspace) as place:
            yield place

    def revision(self, workspace: Workspace) -> int:
        """How often its files have been seen to differ since it was made or reset."""
        return self._kinds[workspace.kind].revision(self._home, workspace)

    def standing(self, workspace: Workspace) -> Standing:
        """What is true of it now."""
        return self._kinds[workspace.kind].standing(self._home, workspace)

    def variables(self, workspace: Workspace) -> dict[str, str]:
        """What programs that run in a workspace find in their environment."""
        return variables(self._home.checkout.index_home.name, workspace.id, workspace.port_offset)

    def create(self, call: Call, kind: WorkspaceKindName, wish: NewWorkspace) -> Creation:
        """Makes a workspace; one that is there already is given as it is, if it is of that kind."""
        with self._one_at_a_time(call):
            with suppress(NotFound):
                return self._existing(self.find(wish.id), kind)
            if len(self.store.find_all()) >= MOST_WORKSPACES:
                raise InvalidArgument(
                    f"There are {MOST_WORKSPACES} workspaces: delete those that nobody needs.",
                    hints=["workspace_list {}"],
                )
            creation = self._kind(kind).create(call, wish)
            self.store.save(creation.workspace)
        if self._home.upkeep.is_running:
            # The first question comes soon; what it would wait for is made meanwhile.
            threading.Thread(target=self._open_ahead, args=(creation.workspace.id,), daemon=True).start()
        return creation

    def _open_ahead(self, name: str) -> None:
        try:
            with self.enter(name) as place:
                place.repo.index.warm()
        except CodePlaneError as error:  # it was deleted again, or the server stops
            _log.info("a new workspace was not opened ahead", extra={"error": error.name()})

    def reset(self, call: Call, workspace: Workspace, base: str | None, *, force: bool) -> Outcome:
        """Puts a workspace back to its base, or on another one; its revision begins anew."""
        with self._one_at_a_time(call):
            commit = workspace.base_commit
            if base is not None:
                commit = self._home.checkout.repository.commit(base).oid
            outcome = self._kinds[workspace.kind].reset(call, workspace, commit, force=force)
            self.store.save(
                replace(
                    workspace,
                    base_commit=commit,
                    base_name=base or workspace.base_name,
                    used_ms=_now_ms(),
                    revision=0,
                    epoch=0,
                )
            )
            return outcome

    def delete(self, call: Call, workspace: Workspace, *, force: bool) -> Outcome:
        """Removes a workspace with all that only it has."""
        with self._one_at_a_time(call):
            outcome = self._kinds[workspace.kind].delete(call, workspace, force=force)
            self.store.drop(workspace.id)
            return outcome

    def prune(self, call: Call) -> list[str]:
        """Forgets what is left of workspaces whose files are gone, and says what it was."""
        with self._one_at_a_time(call):
            return self._worktrees.prune(call, self.store)

    def _existing(self, workspace: Workspace, kind: WorkspaceKindName) -> Creation:
        if workspace.kind is not kind:
            raise InvalidArgument(f"The workspace {workspace.id} exists already, of kind {workspace.kind}.")
        return Creation(workspace, is_new=False)

    def _kind(self, name: WorkspaceKindName) -> WorkspaceKind:
        kind = self._kinds.get(name)
        if kind is None:
            raise InvalidArgument(f"This server makes no workspaces of kind {name}.")
        return kind

    @contextmanager
    def _one_at_a_time(self, call: Call) -> Iterator[None]:
        """Git has no lock for its list of worktrees: two makers would take each other's names."""
        state = StateDir.create(self._home.checkout.index_home)
        lock = ServerLock(state.path / _LOCK)
        end = time.monotonic() + _LOCK_WAIT_SEC
        while not lock.acquire(wait_sec=0.2):
            call.check()
            if time.monotonic() > end:
                raise GitBusy("Another workspace is being made or removed.", hints=["Call again."])
        try:
            yield
        finally:
            lock.release()


def _other_kinds() -> list[WorkspaceKind]:
    return [MemoryKind()]


def workspaces_of(repo: RepoSession) -> Workspaces:
    """The workspaces that a repository knows; made when first asked for."""
    return repo.keep(Workspaces, lambda: Workspaces(repo))


def parse_wish(workspace: str, base: str | None, branch: str | None, path: str | None) -> NewWorkspace:
    """What is asked for, with a name that is safe."""
    return NewWorkspace(parse_workspace_id(workspace), base, branch, path)


def _now_ms() -> int:
    return int(time.time() * 1000)
