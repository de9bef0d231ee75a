"""`RepoSession`: the one place that wires a repository together."""

import time
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from codeplane import __version__
from codeplane.session.checkout import Checkout
from codeplane.session.clients import Sessions
from codeplane.storage import StateDir


class RepoStatus(BaseModel):
    """What is true of the repository now."""

    model_config = ConfigDict(frozen=True)

    version: str = Field(description="Version of CodePlane and of its API.")
    repo_root: str = Field(description="Absolute path of the working tree.")
    repo_id: str = Field(description="Random id of this checkout.")
    branch: str | None = Field(default=None, description="Branch that is checked out.")
    commit: str | None = Field(default=None, description="Commit that HEAD points to.")
    trusted: bool = Field(description="Whether the user trusts what the repository supplies.")
    index_status: str = Field(description="State of the index.")
    notices: list[str] | None = Field(default=None, description="What the operator should know.")


def status_of(checkout: Checkout) -> RepoStatus:
    """The status of a repository, whether or not a server runs for it."""
    head = checkout.repository.head()
    return RepoStatus(
        version=__version__,
        repo_root=str(checkout.root),
        repo_id=checkout.state.repo_id,
        branch=head.branch,
        commit=head.commit,
        trusted=checkout.trusted,
        index_status="absent",
        notices=list(checkout.notices) or None,
    )


@dataclass
class RepoSession:
    """An open repository. Every tool call runs inside one."""

    checkout: Checkout
    state: StateDir
    sessions: Sessions
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def open(cls, checkout: Checkout) -> "RepoSession":
        """Makes the state directory when it is missing. The caller holds, or will take, the lock."""
        state = StateDir.create(checkout.root)
        return cls(checkout, state, Sessions(checkout.settings.server.session_idle_sec))

    def status(self) -> RepoStatus:
        return status_of(self.checkout)

    def uptime_sec(self) -> float:
        return time.monotonic() - self.started
