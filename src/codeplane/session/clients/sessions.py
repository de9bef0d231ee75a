"""Who calls: client sessions and the task that each has open."""

import time
from dataclasses import dataclass, field

from codeplane.core.ids import SessionId, new_session_id
from codeplane.ledger import Task, Tasks
from codeplane.session.clients.cursors import Cursors
from codeplane.session.clients.read_budget import ReadBudget
from codeplane.session.clients.shown_contents import ShownDigests

_MOST_SESSIONS = 1000


@dataclass
class ClientSession:
    """One agent's conversation with the server. It opens with its first call."""

    session_id: SessionId
    read_budget: ReadBudget
    task: Task
    cursors: Cursors = field(default_factory=Cursors)
    shown_digests: ShownDigests = field(default_factory=ShownDigests)
    last_used: float = field(default_factory=time.monotonic)


class Sessions:
    """The open sessions by the key that their clients are known by."""

    def __init__(self, idle_sec: float, read_budget: int, tasks: Tasks) -> None:
        self._idle_sec = idle_sec
        self._read_budget = read_budget
        self._tasks = tasks
        self._by_key: dict[str, ClientSession] = {}

    def __len__(self) -> int:
        self._close_idle()
        return len(self._by_key)

    def enter(self, key: str, session_id: SessionId | None = None) -> ClientSession:
        """Returns the session of that key, opening it on first use; it always has a task."""
        self._close_idle()
        session = self._by_key.get(key)
        if session is None:
            if len(self._by_key) >= _MOST_SESSIONS:
                self._close_stalest()
            name = session_id or new_session_id()
            budget = ReadBudget(self._read_budget)
            session = self._by_key[key] = ClientSession(name, budget, self._tasks.begin(name))
        elif session.task.is_over:
            session.task = self._tasks.begin(session.session_id)
        session.last_used = time.monotonic()
        return session

    def close(self, key: str, reason: str = "the client disconnected") -> None:
        session = self._by_key.pop(key, None)
        if session is not None:
            self._tasks.interrupt(session.task, reason)
            self._tasks.flush_soon()

    def finish(self, key: str, failure: str | None = None) -> None:
        """Ends a session whose client has what it came for, or an error of that name; so does its task."""
        session = self._by_key.pop(key, None)
        if session is not None:
            self._tasks.close(session.task, "CLOSED_FAILED" if failure else "CLOSED_SUCCESS", failure)

    def close_all(self) -> None:
        """Ends every session of a server that stops; their tasks are on record when it returns."""
        while self._by_key:
            _, session = self._by_key.popitem()
            self._tasks.interrupt(session.task, "the server stopped")
        self._tasks.flush()

    def _close_idle(self) -> None:
        oldest = time.monotonic() - self._idle_sec
        for key in [k for k, s in self._by_key.items() if s.last_used < oldest]:
            self.close(key, "the session was idle")

    def _close_stalest(self) -> None:
        stalest = min(self._by_key, key=lambda key: self._by_key[key].last_used)
        self.close(stalest, "there were too many sessions")
