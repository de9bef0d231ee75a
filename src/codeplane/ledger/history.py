"""Reading the ledger: what happened, newest first, whether or not a server runs. Writes nothing."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

from codeplane.core.errors import LedgerDamaged
from codeplane.core.ids import OperationId, SessionId, TaskId
from codeplane.core.paths import Digest
from codeplane.ledger.chain import rows
from codeplane.ledger.rows import TEST_RUN, Operation
from codeplane.ledger.segments import Segment, ask, segments, set_aside
from codeplane.ledger.task import Task, TaskState
from codeplane.storage.database import Connection

T = TypeVar("T")

_PAGE: Final = 200


class History:
    """The rows of every segment that is there. What cannot be read is passed over and noted."""

    def __init__(self, directory: Path, damaged: Callable[[Segment, str], None] | None = None) -> None:
        self.directory = directory
        self.problems: list[str] = []
        self._damaged = damaged or (lambda _, problem: self.note(f"Ledger: {problem}"))

    def note(self, problem: str) -> None:
        """Keeps a problem, once, for whoever asks for the status."""
        if problem not in self.problems:
            self.problems.append(problem)

    def all_problems(self) -> list[str]:
        """What an operator should know: segments that were set aside, and what else was found."""
        aside = [f"Ledger: {one.name} was found damaged and set aside." for one in set_aside(self.directory)]
        return [*aside, *self.problems]

    def find(self, operation_id: OperationId) -> Operation | None:
        """The operation of that id."""
        for _, operation in self._ask_segments(lambda c: _select_operations(c, "id = ?", (operation_id,), 1)):
            if operation:
                return operation[0]
        return None

    def operations(
        self,
        task: TaskId | None = None,
        session: SessionId | None = None,
        limit: int = 20,
        before: int | None = None,
    ) -> list[Operation]:
        """Operations, newest first; those before a number where one is given."""
        filters = {
            "task = ?": task,
            "json_extract(body, '$.session_id') = ?": session,
            "number < ?": before,
        }
        conditions = {condition: value for condition, value in filters.items() if value is not None}
        condition = " AND ".join(conditions) or "1"
        matches: list[Operation] = []
        for _, some in self._ask_segments(
            lambda c: _select_operations(c, condition, tuple(conditions.values()), limit)
        ):
            matches += some
            if len(matches) >= limit:
                break
        return matches[:limit]

    def tasks(self, limit: int = 20, state: TaskState | None = None) -> list[Task]:
        """Tasks as they are now, the last that was written about first."""
        tasks_by_id: dict[TaskId, Task] = {}
        for _, some in self._ask_segments(tasks_of):
            for task in some:
                # A newer segment has what is true now.
                tasks_by_id.setdefault(task.task_id, task)
            if state is None and len(tasks_by_id) >= limit:
                break
        return [task for task in tasks_by_id.values() if state in (None, task.state)][:limit]

    def task(self, task_id: TaskId) -> Task | None:
        """The task of that id."""
        for _, some in self._ask_segments(lambda c: tasks_of(c, task_id)):
            if some:
                return some[0]
        return None

    def events(self, plan: str, limit: int = 200, event: str | None = None) -> list[dict[str, Any]]:
        """What executions of a plan have come to, newest first; all events, or those of one name."""
        condition = (
            "WHERE kind = 'event' AND json_extract(body, '$.plan_id') = ?"
            " AND json_extract(body, '$.event') = ifnull(?, json_extract(body, '$.event'))"
            " ORDER BY number DESC LIMIT ?"
        )
        events: list[dict[str, Any]] = []
        for _, some in self._ask_segments(
            lambda c: [row.body() for row in rows(c, condition, (plan, event, limit))]
        ):
            events += some
            if len(events) >= limit:
                break
        return events[:limit]

    def events_named(
        self, event: str, limit: int = 10_000, field: tuple[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """Events of one name with their rows' numbers, newest first; of those, the ones with that field."""
        condition, values = "kind = 'event' AND json_extract(body, '$.event') = ?", [event]
        if field is not None:
            # Bodies are written in one way, so most of the others are told apart without being parsed.
            name, value = field
            condition = f"instr(body, ?) AND {condition} AND json_extract(body, ?) = ?"
            values = [f"{json.dumps(name)}:{json.dumps(value)}", *values, f"$.{name}", value]
        rest = f"WHERE {condition} ORDER BY number DESC LIMIT ?"
        events: list[dict[str, Any]] = []
        for _, some in self._ask_segments(
            lambda c: [{**row.body(), "number": int(row.number)} for row in rows(c, rest, (*values, limit))]
        ):
            events += some
            if len(events) >= limit:
                break
        return events[:limit]

    def last_event(self, event: str, phase: str) -> int:
        """The number of the last event of that name about a phase; 0 where there is none."""
        condition = (
            "WHERE kind = 'event' AND json_extract(body, '$.phase_id') = ?"
            " AND json_extract(body, '$.event') = ? ORDER BY number DESC LIMIT 1"
        )
        answers = self._ask_segments(
            lambda c: [int(row.number) for row in rows(c, condition, (phase, event))]
        )
        return next((numbers[0] for _, numbers in answers if numbers), 0)

    def of_phase(self, phase: str) -> Operation | None:
        """The last successful operation that executed a phase of a plan and has not been undone."""
        return next((one for one in self._executions_of(phase) if not self._is_undone(one)), None)

    def undone_of_phase(self, phase: str) -> Operation | None:
        """The last operation that executed a phase, where it was undone or rolled back since."""
        last = next(iter(self._executions_of(phase)), None)
        return last if last is not None and self._is_undone(last) else None

    def of_plan_item(self, item: str) -> Operation | None:
        """The last successful operation that was made for an item of a plan and has not been undone."""
        operations = self._find_all({"json_extract(body, '$.plan') = ?": item})
        successes = (one for one in operations if one.success and not one.is_git)
        return next((one for one in successes if not self._is_undone(one)), None)

    def _executions_of(self, phase: str) -> list[Operation]:
        """Staging and committing a phase goes with the operation that wrote it."""
        operations = self._find_all({"json_extract(body, '$.phase') = ?": phase})
        return [one for one in operations if one.success and one.changes and not one.is_git]

    def _is_undone(self, operation: Operation) -> bool:
        """An undo that was undone itself takes nothing back."""
        undos = self._find_all({"json_extract(body, '$.undoes') = ?": operation.operation_id})
        return any(
            one.success and one.number > operation.number and not self._is_undone(one) for one in undos
        )

    def _find_all(self, conditions: Mapping[str, str]) -> list[Operation]:
        condition, values = " AND ".join(conditions), tuple(conditions.values())
        answers = self._ask_segments(lambda c: _select_operations(c, condition, values, _PAGE))
        return [operation for _, some in answers for operation in some]

    def last_undoable(self, task: TaskId | None = None, session: SessionId | None = None) -> Operation | None:
        """The newest edit that changed something and has not been undone since.

        An undo is not itself offered, or undoing twice would bring back what was undone first; the undo of
        an undo is, for it changes the same as the operation did.
        """
        return next((one for one in self._not_undone(task, session) if not one.is_git), None)

    def last_change(self, session: SessionId | None = None) -> Operation | None:
        """The newest edit or operation of git that has not been undone, even if it cannot be taken back."""
        return next(self._not_undone(None, session), None)

    def _not_undone(self, task: TaskId | None, session: SessionId | None) -> Iterator[Operation]:
        operation_ids: set[OperationId] = set()
        for operation in self._all_operations(task, session):
            is_change = operation.is_git or (operation.changes and operation.op_type != TEST_RUN)
            if not operation.success or not is_change or (operation.is_git and operation.phase):
                continue  # staging and committing a phase goes with the phase
            if operation.undoes is not None:
                operation_ids.add(operation.undoes)
            if operation.operation_id not in operation_ids and not self._is_undo(operation):
                yield operation

    def digests(self) -> set[Digest]:
        """The contents before and after every operation that is kept."""
        return {
            digest
            for operation in self._all_operations()
            for change in operation.changes
            for digest in (change.before, change.after)
            if digest is not None
        }

    def saved(self) -> set[str]:
        """The references that keep what an operation of git has discarded."""
        return {one.saved for one in self._all_operations() if one.saved is not None}

    def _is_undo(self, operation: Operation) -> bool:
        steps = 0
        while operation.undoes is not None:
            target = self.find(operation.undoes)
            steps += 1
            if target is None or target.number >= operation.number:
                break
            operation = target
        return steps % 2 == 1

    def _all_operations(
        self, task: TaskId | None = None, session: SessionId | None = None
    ) -> Iterator[Operation]:
        before: int | None = None
        while page := self.operations(task, session, _PAGE, before):
            yield from page
            before = page[-1].number

    def _ask_segments(self, question: Callable[[Connection], T]) -> Iterator[tuple[Segment, T]]:
        """The answers of the segments, newest first."""
        for one in reversed(segments(self.directory)):
            try:
                answer = ask(one, question)
            except FileNotFoundError:
                continue  # dropped, with all that was older
            except LedgerDamaged as error:
                self._damaged(one, error.message)
                continue
            yield one, answer


def _select_operations(
    connection: Connection, condition: str, values: tuple[object, ...], limit: int
) -> list[Operation]:
    rest = f"WHERE kind = 'operation' AND {condition} ORDER BY number DESC LIMIT ?"
    matches = rows(connection, rest, (*values, limit))
    return [operation for row in matches if (operation := _read_row(Operation.of, row.number, row.body()))]


def tasks_of(connection: Connection, task_id: TaskId | None = None) -> list[Task]:
    """The tasks of one segment as they are at its end, the last that was written about first."""
    condition, values = ("WHERE task_id = ?", (task_id,)) if task_id is not None else ("", ())
    counts = connection.execute(
        "SELECT event, mutation_count, test_run_count, last_mutation_fingerprint, last_failure_fingerprint"
        f" FROM tasks {condition} ORDER BY event DESC",
        values,
    ).fetchall()
    tasks = []
    for number, *now in counts:
        [row] = rows(connection, "WHERE number = ?", (number,))
        if task := _read_row(Task.of, row.body()):
            mutations, test_runs, mutation, failure = now
            tasks.append(
                replace(
                    task,
                    mutations=int(mutations),
                    test_runs=int(test_runs),
                    last_mutation=mutation,
                    last_failure=failure,
                )
            )
    return tasks


def _read_row(make: Callable[..., T], *values: Any) -> T | None:
    """What a row says, or None where it cannot be what was written: the check of the chain names it."""
    try:
        return make(*values)
    except ValueError:
        return None
