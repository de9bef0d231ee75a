"""Other checkouts of the repository, opened in this process while calls come for them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from codeplane.core.errors import ServerStopping
from codeplane.process import Programs
from codeplane.session.checkout import Checkout
from codeplane.session.claim import claim
from codeplane.session.repo import RepoSession
from codeplane.storage import ServerLock
from codeplane.workspaces import Workspace
from codeplane.workspaces.environment import variables

_IDLE_SEC: Final = 900.0
_CLOSE_WAIT_SEC: Final = 10.0


Opener = Callable[[], tuple[RepoSession, ServerLock]]


@dataclass
class _Neighbour:
    """An open checkout, the lock that makes this process its only server, and who uses it now."""

    repo: RepoSession
    lock: ServerLock
    calls: int = 0
    last_use: float = field(default_factory=time.monotonic)


class Neighbours:
    """Opens the worktrees of a repository beside the one that this process serves, and closes idle ones."""

    def __init__(self, home: RepoSession) -> None:
        self._home = home
        self._open: dict[Path, _Neighbour] = {}
        self._guard = threading.Condition()
        self._is_closed = False
        home.at_close.append(self.close_all)

    def find_open(self, root: Path) -> RepoSession | None:
        """The repository of a checkout that is open here, with all that is remembered of it."""
        if root == self._home.checkout.root:
            return self._home
        neighbour = self._open.get(root)
        return neighbour.repo if neighbour is not None else None

    @contextmanager
    def entered(
        self, root: Path, workspace: Workspace, opener: Opener | None = None
    ) -> Iterator[RepoSession]:
        """The repository of a checkout; it stays open while the block runs.

        One that another process serves is not opened: `AlreadyServing` says who has it. What is not a
        checkout on the disk has an `opener`, and the directory of its records for a root.
        """
        if root == self._home.checkout.root:
            yield self._home
            return
        neighbour = self._take(root, opener or (lambda: self._open_checkout(root, workspace)))
        try:
            neighbour.repo.heed_trust()
            yield neighbour.repo
        finally:
            with self._guard:
                neighbour.calls -= 1
                neighbour.last_use = time.monotonic()
                self._guard.notify_all()
            self._close_idle()

    def close(self, root: Path) -> bool:
        """Closes a checkout once nobody uses it; tells whether it is closed."""
        with self._guard:
            neighbour = self._open.get(root)
            if neighbour is None:
                return True
            if not self._guard.wait_for(lambda: not neighbour.calls, timeout=_CLOSE_WAIT_SEC):
                return False
            self._open.pop(root, None)
        _shut(neighbour)
        return True

    def close_all(self) -> None:
        with self._guard:
            self._is_closed = True
            neighbours = list(self._open.values())
            self._open.clear()
        for neighbour in neighbours:
            _shut(neighbour)

    def _take(self, root: Path, opener: Opener) -> _Neighbour:
        with self._guard:
            if self._is_closed:
                raise ServerStopping("The server is shutting down.")
            neighbour = self._open.get(root)
            if neighbour is not None and not neighbour.lock.holds():
                # The state directory is gone: what is open has no journal and no record any more.
                del self._open[root]
                _shut(neighbour)
                neighbour = None
            if neighbour is None:
                repo, lock = opener()
                repo.keep(Neighbours, lambda: self)
                neighbour = self._open[root] = _Neighbour(repo, lock)
            neighbour.calls += 1
            return neighbour

    def _open_checkout(self, root: Path, workspace: Workspace) -> tuple[RepoSession, ServerLock]:
        home = self._home.checkout
        checkout = Checkout.find(root, home.places, home.assignments)
        env = variables(home.index_home.name, workspace.id, workspace.port_offset)
        checkout = replace(checkout, programs=Programs({**checkout.programs.env, **env}))
        lock = claim(checkout)
        try:
            repo = RepoSession.open(checkout, self._home.workers)
        except BaseException:
            lock.release()
            raise
        return repo, lock

    def _close_idle(self) -> None:
        oldest = time.monotonic() - _IDLE_SEC
        with self._guard:
            idle = [root for root, one in self._open.items() if not one.calls and one.last_use < oldest]
            neighbours = [self._open.pop(root) for root in idle]
        for neighbour in neighbours:
            _shut(neighbour)


def neighbours_of(repo: RepoSession) -> Neighbours:
    """The checkouts that are open beside a repository; those that are open know the same ones."""
    return repo.keep(Neighbours, lambda: Neighbours(repo))


def _shut(neighbour: _Neighbour) -> None:
    try:
        neighbour.repo.upkeep.tidy()
        neighbour.repo.close()
    finally:
        neighbour.lock.release()
