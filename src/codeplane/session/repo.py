"""`RepoSession`: the one place that wires a repository together."""

import time
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from codeplane import __version__
from codeplane.core.errors import CodePlaneError
from codeplane.index import Index, IndexState, Workers
from codeplane.index.context_file import read_contexts
from codeplane.index.contexts import Override
from codeplane.session.checkout import Checkout
from codeplane.session.clients import Sessions
from codeplane.storage import StateDir
from codeplane.storage.files import read_small
from codeplane.truth import WorkingTree

_INDEX_WORKERS = 2
_LARGEST_CONTEXTS = 1_048_576


class IndexReport(BaseModel):
    """How far the index is."""

    model_config = ConfigDict(frozen=True)

    files: int = Field(description="Files of the working tree that are indexed or will be.")
    unread: int = Field(description="Files that have not been read yet.")
    epoch: int = Field(description="Number of the last published change.")
    rebuilt: str | None = Field(default=None, description="Why the index was made anew at this start.")


class RepoStatus(BaseModel):
    """What is true of the repository now."""

    model_config = ConfigDict(frozen=True)

    version: str = Field(description="Version of CodePlane and of its API.")
    repo_root: str = Field(description="Absolute path of the working tree.")
    repo_id: str = Field(description="Random id of this checkout.")
    branch: str | None = Field(default=None, description="Branch that is checked out.")
    commit: str | None = Field(default=None, description="Commit that HEAD points to.")
    trusted: bool = Field(description="Whether the user trusts what the repository supplies.")
    index_status: str = Field(description="State of the index: absent, present, building or ready.")
    index: IndexReport | None = Field(default=None, description="How far the index is.")
    notices: list[str] | None = Field(default=None, description="What the operator should know.")


def status_of(checkout: Checkout, index: Index | None = None) -> RepoStatus:
    """The status of a repository, whether or not a server runs for it."""
    head = checkout.repository.head()
    state = index.state() if index is not None else None
    return RepoStatus(
        version=__version__,
        repo_root=str(checkout.root),
        repo_id=checkout.state.repo_id,
        branch=head.branch,
        commit=head.commit,
        trusted=checkout.trusted,
        index_status=_index_status(checkout, state),
        index=_index_report(state),
        notices=list(checkout.notices) or None,
    )


def _index_status(checkout: Checkout, state: IndexState | None) -> str:
    if state is None:
        return "present" if checkout.index_file.exists() else "absent"
    return "building" if state.building or state.unread or not state.epoch else "ready"


def _index_report(state: IndexState | None) -> IndexReport | None:
    if state is None:
        return None
    return IndexReport(
        files=state.files, unread=state.unread, epoch=state.epoch, rebuilt=state.rebuilt or None
    )


def _overrides(checkout: Checkout) -> list[Override]:
    """What contexts.yaml says; it counts only in a trusted repository, like every setting it supplies."""
    data = read_small(checkout.state.contexts_file, _LARGEST_CONTEXTS) if checkout.trusted else None
    return read_contexts(data.decode("utf-8", "replace")) if data else []


@dataclass
class RepoSession:
    """An open repository. Every tool call runs inside one."""

    checkout: Checkout
    state: StateDir
    sessions: Sessions
    index: Index
    workers: Workers
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, checkout: Checkout) -> "RepoSession":
        """Makes the state directory when it is missing and opens the index. The caller holds the lock."""
        state = StateDir.create(checkout.root)
        tree = WorkingTree(checkout.root, checkout.repository, trusted=checkout.trusted)
        workers = Workers(_INDEX_WORKERS)
        if checkout.index_home != checkout.root:
            StateDir.create(checkout.index_home)
        index = Index.open(checkout.index_file, tree, workers, checkout.view_key)
        try:
            index.configure(_overrides(checkout))
        except CodePlaneError:
            index.close()
            raise
        return cls(checkout, state, Sessions(checkout.settings.server.session_idle_sec), index, workers)

    def close(self) -> None:
        self.index.close()
        self.workers.close()

    def status(self) -> RepoStatus:
        return status_of(self.checkout, self.index)

    def uptime_sec(self) -> float:
        return time.monotonic() - self.started
