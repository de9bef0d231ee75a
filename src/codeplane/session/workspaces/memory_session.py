"""The session of a workspace in memory: a commit and what is different from it, with records of its own."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from codeplane.core.paths import RepoPath
from codeplane.index import drop_view
from codeplane.mutation.memory_engine import MemoryEngine
from codeplane.session.claim import take
from codeplane.session.repo import Ground, RepoSession
from codeplane.storage import ServerLock, StateDir, private_dir
from codeplane.storage.objects import ObjectStore
from codeplane.storage.state_db import open_state_db
from codeplane.working_tree import Known, MemoryTree, Opened, OverlayFiles
from codeplane.workspaces import Workspace

_FOLDER: Final = "workspaces"


class MemorySession(RepoSession):
    """A session without files on the disk."""

    def heed_trust(self) -> None:
        """Trust is a matter of the checkout; whoever serves that has taken it up."""


def directory_of(home: RepoSession, workspace: Workspace) -> Path:
    """Where a workspace in memory has its records: below the primary checkout's state directory."""
    return StateDir.at(home.checkout.index_home).path / _FOLDER / workspace.id


def memory_workspaces(state: StateDir) -> list[str]:
    """The names of those that have records in a state directory."""
    folder = state.path / _FOLDER
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def view_key_of(workspace: Workspace) -> str:
    """The key of its view in the index."""
    return f"memory:{workspace.id}"


def open_memory(home: RepoSession, workspace: Workspace) -> tuple[MemorySession, ServerLock]:
    """Opens a workspace in memory; the lock makes this process the only one that has it open."""
    state = StateDir(directory_of(home, workspace))
    private_dir(state.path.parent)
    private_dir(state.path)
    state.complete()
    lock = take(state)
    try:
        session = _assemble(home, workspace, state)
    except BaseException:
        lock.release()
        raise
    return session, lock


def _assemble(home: RepoSession, workspace: Workspace, state: StateDir) -> MemorySession:
    checkout = replace(home.checkout, state=state)
    database = open_state_db(state.path / "state.db")
    base = home.tree.at(workspace.base_commit)

    def base_files() -> Mapping[RepoPath, Known]:
        return home.index.files_of_commit(workspace.base_commit)

    tree = MemoryTree(
        checkout.root,
        checkout.repository,
        Opened(checkout.opened),
        base=base,
        files=OverlayFiles(database),
        find_base_files=base_files,
        find_links=lambda: home.index.links_of_commit(workspace.base_commit),
        read_object=ObjectStore(state.path / "objects").read,
    )
    try:
        home.index.copy_commit(workspace.base_commit, view_key_of(workspace))
        engine = MemoryEngine(tree, checkout.repository, state.path)
        ground = Ground(checkout, state, tree, engine, view_key_of(workspace))
        session = MemorySession.assemble(ground, home.workers)
        session.index.use_caches_of(home.index)
    except BaseException:
        database.close()
        raise
    session.__dict__["state_db"] = database  # the one that its files are rows of
    return session


@contextmanager
def looked_at(home: RepoSession, workspace: Workspace) -> Iterator[OverlayFiles | None]:
    """What is different in a workspace, without opening it; None where it has never been opened."""
    file = directory_of(home, workspace) / "state.db"
    if not file.exists():
        yield None
        return
    database = open_state_db(file)
    try:
        yield OverlayFiles(database)
    finally:
        database.close()


def forget_memory(home: RepoSession, workspace: Workspace) -> None:
    """Removes the records of a workspace that nobody has open, and its view."""
    shutil.rmtree(directory_of(home, workspace), ignore_errors=True)
    drop_view(home.index.database, view_key_of(workspace))
