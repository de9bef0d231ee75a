"""Tasks: who may still change something, how often, and whether it leads anywhere."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from codeplane.core.errors import CodePlaneError, TaskBudgetExceeded, TaskClosed
from codeplane.core.ids import SessionId, TaskId, new_operation_id
from codeplane.ledger.chain import Entry
from codeplane.ledger.fingerprints import NO_CHANGE
from codeplane.ledger.ledger import Ledger, operation_entry
from codeplane.ledger.rows import Operation
from codeplane.ledger.task import Budget, Limits, Task, TaskState

Charge = Literal["mutation", "test_run"]
Where = Callable[[], tuple[str | None, int | None]]

_MOST_FORMER: Final = 1_000_000
_MOST_PENDING: Final = 64
_AGAIN: Final = "Repeat the call if the work is on track: it begins a new task (tasks.max_{budget})."
_TITLES: Final[dict[Budget, str]] = {
    "mutations": "Mutation budget",
    "test_runs": "Test budget",
    "duration_sec": "Time budget",
}


@dataclass(frozen=True)
class Signals:
    """What an operation tells about progress. What to do about it is the client's decision."""

    no_op: bool = False  # the same change as the one before it, or none at all
    non_progress: bool = False  # the same failure as before the last change

    @property
    def flags(self) -> tuple[str, ...]:
        return (*(["no_op"] if self.no_op else []), *(["non_progress"] if self.non_progress else []))


@dataclass
class Tally:
    """How many tasks this server has seen begin and end, and what it has told their clients."""

    opened: int = 0  # on record
    closed: Counter[TaskState] = field(default_factory=Counter)
    refused: Counter[Budget] = field(default_factory=Counter)  # calls, by the limit that is used up
    flagged: Counter[str] = field(default_factory=Counter)


class Tasks:
    """The tasks of one server. `where` tells the commit and the epoch that a task begins at."""

    def __init__(self, ledger: Ledger, limits: Limits, where: Where) -> None:
        self._ledger = ledger
        self.limits = limits
        self._where = where
        self._guard = threading.RLock()
        self._open: dict[TaskId, Task] = {}
        self.tally = Tally()
        # Rows that say what is so in any case: they may be written later, with the next ones.
        self._pending: list[Entry] = []
        # Called with each row as soon as it is certain to be written; must not block.
        self.listeners: list[Callable[[Entry], None]] = []

    def begin(self, session_id: SessionId) -> Task:
        """The task that a session has by itself; it leaves no row before something is changed in it."""
        return Task(session_id=session_id, limits=self.limits)

    def open(
        self,
        session_id: SessionId,
        limits: Limits | None = None,
        label: str | None = None,
        working_set: Sequence[str] = (),
    ) -> Task:
        """A task that a client asks for; it is on record at once."""
        task = Task(
            session_id=session_id,
            limits=limits or self.limits,
            label=label,
            working_set=tuple(working_set),
            is_implicit=False,
        )
        with self._guard:
            self._write_entries(self._opening_entries(task))
            self._count_in(task)
        return task

    def close(self, task: Task, state: TaskState, reason: str | None = None) -> None:
        """Ends a task; the ledger has it when the call returns. One that is closed stays as it is."""
        with self._guard:
            self._write_entries(self._closing_entries(task, state, reason))

    def interrupt(self, task: Task, reason: str) -> None:
        """Ends a task whose client is gone. The row is written with the next ones, or by `flush`: a task
        without it is found interrupted at the next start."""
        with self._guard:
            self._pending += self._closing_entries(task, "CLOSED_INTERRUPTED", reason)

    def flush_soon(self) -> None:
        """Writes what is left to write without letting the caller wait."""
        if self._pending:
            threading.Thread(target=self.flush, name="ledger", daemon=True).start()

    def interrupt_open(self) -> int:
        """Ends the tasks of a former server; none of them goes on. Returns how many there were."""
        with self._guard:
            former = self._ledger.tasks(_MOST_FORMER, "OPEN")
            for task in former:
                self._pending += self._closing_entries(task, "CLOSED_INTERRUPTED", "the server ended")
        self.flush()
        return len(former)

    def flush(self) -> None:
        """Writes what may be written later. What cannot be written stays, and is told."""
        with self._guard:
            try:
                self._write_entries([])
            except CodePlaneError as error:
                self._ledger.note(f"Ledger: tasks could not be closed. {error.message}")

    def charge(self, task: Task, kind: Charge, op_type: str | None = None) -> None:
        """Counts a call before it runs, or refuses it.

        A task that has used up its mutations or its time is over, and everything else that would be
        charged to it is refused as well. Used-up test runs refuse test runs alone. A task that nobody has
        opened is over with any of them, and its session begins another with the next call.
        """
        with self._guard:
            if task.spent is not None:
                raise self._refusal_error(task, task.spent)
            if task.state != "OPEN":
                raise TaskClosed(
                    f"Task {task.task_id} is closed ({task.state}).",
                    hints=["task_open {}"],
                    task_id=task.task_id,
                )
            budget = _used_up(task, kind)
            if budget in ("mutations", "duration_sec") or (budget is not None and task.is_implicit):
                self._fail_task(task, budget, op_type or kind)
            if budget is not None:
                raise self._refusal_error(task, budget)
            if kind == "mutation":
                task.mutations += 1
            else:
                task.test_runs += 1

    def record(self, task: Task, operation: Operation) -> int:
        """Adds an operation of the task, and before it the task where it has no row yet.

        What it was charged is given back where it has failed and changed nothing, on record or not.
        """
        with self._guard:
            task.mutations -= operation.unchanged
            entry = operation_entry(operation)
            number = self._write_entries([*self._opening_entries(task), entry])
            self._count_in(task)
            self._tell([entry])
            return number

    def record_event(self, task: Task, *bodies: Mapping[str, Any]) -> int:
        """Adds events of the task that change no files: what an execution of deltas has come to."""
        now_ms = int(time.time() * 1000)
        entries = [Entry("event", {**body, "timestamp_ms": now_ms}, task=task.task_id) for body in bodies]
        with self._guard:
            number = self._write_entries([*self._opening_entries(task), *entries])
            self._count_in(task)
            self._tell(entries)
            return number

    def note_event(self, task: Task, body: Mapping[str, Any]) -> None:
        """Adds an event that is written with the next rows; a server that is killed may lose it."""
        entry = Entry("event", {**body, "timestamp_ms": int(time.time() * 1000)}, task=task.task_id)
        self._tell([entry])
        with self._guard:
            self._pending += [*self._opening_entries(task), entry]
            self._count_in(task)
            if len(self._pending) >= _MOST_PENDING:
                self.flush()

    def note_mutation(self, task: Task, fingerprint: str) -> Signals:
        """Takes a change into account: the same as the one before it is no progress."""
        with self._guard:
            signals = Signals(no_op=fingerprint in (task.last_mutation, NO_CHANGE))
            task.last_mutation = fingerprint
            task.has_changed_since_failure = True
            return self._count_signals(task, signals)

    def note_failure(self, task: Task, fingerprint: str) -> Signals:
        """Takes a failure into account: the same one after a change is no progress."""
        with self._guard:
            is_repeated = fingerprint == task.last_failure and task.has_changed_since_failure
            task.last_failure = fingerprint
            task.has_changed_since_failure = False
            return self._count_signals(task, Signals(non_progress=is_repeated))

    def find(self, task_id: TaskId) -> Task | None:
        """A task by its id, as it is now."""
        return self._open.get(task_id) or self._ledger.task(task_id)

    def on_record(self) -> list[Task]:
        """The open tasks that the ledger knows of."""
        return list(self._open.values())

    def _count_signals(self, task: Task, signals: Signals) -> Signals:
        task.flags = signals.flags
        self.tally.flagged.update(signals.flags)
        return signals

    def _refusal_error(self, task: Task, budget: Budget) -> TaskBudgetExceeded:
        self.tally.refused[budget] += 1
        return _exceeded_error(task, budget)

    def _fail_task(self, task: Task, budget: Budget, op_type: str) -> None:
        task.spent = budget
        limit, current = _budget_figures(task, budget)
        operation = Operation(
            operation_id=new_operation_id(),
            task_id=task.task_id,
            session_id=task.session_id,
            timestamp_ms=int(time.time() * 1000),
            duration_ms=0,
            op_type=op_type,
            success=False,
            failure_class=TaskBudgetExceeded.name(),
            limit_triggered=budget,
        )
        self._pending += [*self._opening_entries(task), operation_entry(operation)]
        self._count_in(task)
        self._pending += self._closing_entries(task, "CLOSED_FAILED", f"{budget} {current}/{limit}")
        self.flush()

    def _opening_entries(self, task: Task) -> list[Entry]:
        if task.is_recorded:
            return []
        task.repo_head, task.epoch = self._where()
        return [task.event("opened")]

    def _count_in(self, task: Task) -> None:
        """Notes that the ledger knows of the task, once it does."""
        self.tally.opened += not task.is_recorded
        task.is_recorded = True
        if task.state == "OPEN":
            self._open[task.task_id] = task

    def _closing_entries(self, task: Task, state: TaskState, reason: str | None) -> list[Entry]:
        if task.state != "OPEN":
            return []
        task.state, task.reason, task.closed_ms = state, reason, int(time.time() * 1000)
        self._open.pop(task.task_id, None)
        self.tally.closed[state] += task.is_recorded
        return [task.event("closed")] if task.is_recorded else []

    def _tell(self, entries: Sequence[Entry]) -> None:
        for listener in self.listeners:
            for entry in entries:
                listener(entry)

    def _write_entries(self, entries: list[Entry]) -> int:
        rows = [*self._pending, *entries]
        if not rows:
            return 0
        number = self._ledger.append(rows)
        self._pending.clear()
        return number


def _used_up(task: Task, kind: Charge) -> Budget | None:
    if task.elapsed_sec() >= task.limits.max_duration_sec:
        return "duration_sec"
    if kind == "mutation":
        return "mutations" if task.mutations >= task.limits.max_mutations else None
    return "test_runs" if task.test_runs >= task.limits.max_test_runs else None


def _budget_figures(task: Task, budget: Budget) -> tuple[int, int]:
    match budget:
        case "mutations":
            return task.limits.max_mutations, task.mutations
        case "test_runs":
            return task.limits.max_test_runs, task.test_runs
        case "duration_sec":
            return task.limits.max_duration_sec, task.elapsed_sec()


def _exceeded_error(task: Task, budget: Budget) -> TaskBudgetExceeded:
    limit, current = _budget_figures(task, budget)
    return TaskBudgetExceeded(
        f"{_TITLES[budget]} exceeded ({current}/{limit}).",
        hints=[_AGAIN.format(budget=budget) if task.is_implicit else "task_open {}"],
        task_id=task.task_id,
        budget_type=budget,
        limit=limit,
        current=current,
    )
