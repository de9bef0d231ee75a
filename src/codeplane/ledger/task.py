"""A task: a correlation envelope for operations, with limits, counters and a state."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, Literal, get_args

from codeplane.core.ids import SessionId, TaskId, new_task_id
from codeplane.ledger.chain import Entry

TaskState = Literal["OPEN", "CLOSED_SUCCESS", "CLOSED_FAILED", "CLOSED_INTERRUPTED"]
Budget = Literal["mutations", "test_runs", "duration_sec"]

_NUMBERS: Final = {"opened_ms", "closed_ms", "epoch", "mutations", "test_runs", "tokens"}


@dataclass(frozen=True)
class Limits:
    """What a task may do before it has to end."""

    max_mutations: int
    max_test_runs: int
    max_duration_sec: int


@dataclass(kw_only=True)
class Task:
    """One task. The ledger keeps it only once something was changed in it, or a client opened it."""

    session_id: SessionId
    limits: Limits
    task_id: TaskId = field(default_factory=new_task_id)
    label: str | None = None
    working_set: tuple[str, ...] = ()
    is_implicit: bool = True
    repo_head: str | None = None
    epoch: int | None = None
    opened_ms: int = field(default_factory=lambda: int(time.time() * 1000))
    closed_ms: int | None = None
    state: TaskState = "OPEN"
    reason: str | None = None
    mutations: int = 0
    test_runs: int = 0
    tokens: int = 0  # of turns under control, requests and answers together
    last_mutation: str | None = None
    last_failure: str | None = None
    flags: tuple[str, ...] = ()  # of the last operation
    spent: Budget | None = None  # the limit that ended it
    is_recorded: bool = False
    has_changed_since_failure: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def is_over(self) -> bool:
        """Whether its session goes on in another task by itself; one that a client has opened and that used
        up a limit is replaced only by a task that the client opens."""
        return self.state != "OPEN" and (self.spent is None or self.is_implicit)

    def elapsed_sec(self) -> int:
        """How long it has been open; the clock that counts is one that nobody sets."""
        return int(time.monotonic() - self.began)

    def event(self, name: Literal["opened", "carried", "closed"]) -> Entry:
        """The row that says how the task is now. Rows of operations count, so an opened one has none yet."""
        counts = {"mutations": 0, "test_runs": 0} if name == "opened" else {}
        remaining = {key: getattr(self, key) for key in _KEPT}
        body = {"event": name, **remaining, "limits": asdict(self.limits), **counts}
        body = {k: v for k, v in body.items() if v not in (None, ()) and (k, v) != ("tokens", 0)}
        return Entry("task", body, task=self.task_id)

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> "Task":
        """The task that a row tells of; `ValueError` where the row was not written by this class."""
        read = {name: body[name] for name in _KEPT if name in body}
        for name, value in read.items():
            form = int if name in _NUMBERS else bool if name == "is_implicit" else str
            if name != "working_set" and not isinstance(value, form):
                raise ValueError(f"its {name} is not what belongs there")
        limits = body.get("limits")
        if read.get("state") not in get_args(TaskState) or not isinstance(limits, dict):
            raise ValueError("it has no state or no limits")
        read["working_set"] = tuple(map(str, read.get("working_set", ())))
        try:
            return cls(**read, limits=Limits(**{k: int(v) for k, v in limits.items()}), is_recorded=True)
        except TypeError as error:
            raise ValueError("it lacks what belongs there") from error


_ONLY_HERE: Final = {"limits", "flags", "is_recorded", "has_changed_since_failure", "began"}
_KEPT: Final = tuple(field.name for field in fields(Task) if field.name not in _ONLY_HERE)
