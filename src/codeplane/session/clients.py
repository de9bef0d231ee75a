"""Who calls: client sessions and the task that each has open."""

import time
from dataclasses import dataclass, field
from typing import Literal

from codeplane.core.ids import SessionId, TaskId, new_session_id, new_task_id
from codeplane.session.copies import Seen
from codeplane.session.cursors import Cursors
from codeplane.session.reading import ReadBudget

TaskState = Literal["OPEN", "CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED"]

_MOST_SESSIONS = 1000


@dataclass
class Task:
    """A correlation envelope for the calls of one piece of work."""

    task_id: TaskId = field(default_factory=new_task_id)
    state: TaskState = "OPEN"


@dataclass
class ClientSession:
    """One agent's conversation with the server. It opens with its first call."""

    session_id: SessionId
    reading: ReadBudget
    task: Task = field(default_factory=Task)
    cursors: Cursors = field(default_factory=Cursors)
    seen: Seen = field(default_factory=Seen)
    last_used: float = field(default_factory=time.monotonic)


class Sessions:
    """The open sessions by the key that their clients are known by."""

    def __init__(self, idle_sec: float, read_budget: int) -> None:
        self._idle_sec = idle_sec
        self._read_budget = read_budget
        self._by_key: dict[str, ClientSession] = {}

    def __len__(self) -> int:
        self._close_idle()
        return len(self._by_key)

    def enter(self, key: str, session_id: SessionId | None = None) -> ClientSession:
        """Returns the session of that key, opening it on first use."""
        self._close_idle()
        session = self._by_key.get(key)
        if session is None:
            if len(self._by_key) >= _MOST_SESSIONS:
                self._close_stalest()
            budget = ReadBudget(self._read_budget)
            session = self._by_key[key] = ClientSession(session_id or new_session_id(), budget)
        session.last_used = time.monotonic()
        return session

    def close(self, key: str) -> None:
        session = self._by_key.pop(key, None)
        if session is not None and session.task.state == "OPEN":
            session.task.state = "CLOSED_INTERRUPTED"

    def _close_idle(self) -> None:
        oldest = time.monotonic() - self._idle_sec
        for key in [k for k, s in self._by_key.items() if s.last_used < oldest]:
            self.close(key)

    def _close_stalest(self) -> None:
        self.close(min(self._by_key, key=lambda key: self._by_key[key].last_used))
