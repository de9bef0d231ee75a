import sqlite3
import time
from pathlib import Path

import pytest

from codeplane.config.settings import LedgerSettings
from codeplane.core.errors import StateUnusable, TaskBudgetExceeded, TaskClosed
from codeplane.core.ids import SessionId, TaskId
from codeplane.ledger import History, Ledger, Limits, Task, Tasks
from codeplane.ledger.fingerprints import NO_CHANGE
from codeplane.ledger.tasks import Charge
from tests.ledger.making import LIMITS, operation, small_ledger

SESSION = SessionId("sess_1")


def test_a_task_of_a_session_leaves_rows_only_when_something_changes(tasks: Tasks, ledger: Ledger) -> None:
    read_only, changing = tasks.begin(SESSION), tasks.begin(SESSION)
    tasks.charge(changing, "mutation")
    tasks.record(changing, operation("op_1", task_id=changing.task_id))
    tasks.close(read_only, "CLOSED_SUCCESS")
    [found] = ledger.tasks()
    assert (found.task_id, found.state, found.mutations) == (changing.task_id, "OPEN", 1)
    assert (found.repo_head, found.epoch, found.is_implicit) == ("c" * 40, 7, True)


def test_a_task_that_is_asked_for_is_on_record_at_once(tasks: Tasks, ledger: Ledger) -> None:
    task = tasks.open(SESSION, Limits(1, 2, 3), "fix it", ["src/**"])
    found = ledger.task(task.task_id)
    assert found is not None
    assert (found.label, found.working_set, found.limits) == ("fix it", ("src/**",), Limits(1, 2, 3))
    tasks.close(task, "CLOSED_SUCCESS", "done")
    found = ledger.task(task.task_id)
    assert found is not None and (found.state, found.reason) == ("CLOSED_SUCCESS", "done")


def test_a_used_up_mutation_budget_ends_the_task(tasks: Tasks, ledger: Ledger) -> None:
    task = tasks.open(SESSION)
    for _ in range(3):
        tasks.charge(task, "mutation")
    with pytest.raises(TaskBudgetExceeded, match=r"Mutation budget exceeded \(3/3\)") as refused:
        tasks.charge(task, "mutation", "write_source")
    told = refused.value.details
    assert (told["budget_type"], told["limit"], told["current"]) == ("mutations", 3, 3)
    assert task.state == "CLOSED_FAILED" and not task.is_over
    kinds: tuple[Charge, ...] = ("mutation", "test_run")
    for kind in kinds:
        with pytest.raises(TaskBudgetExceeded):
            tasks.charge(task, kind)
    [row] = ledger.operations()
    assert (row.op_type, row.success, row.limit_triggered) == ("write_source", False, "mutations")
    [found] = ledger.tasks()
    assert (found.state, found.reason, found.mutations) == ("CLOSED_FAILED", "mutations 3/3", 3)


def test_used_up_test_runs_refuse_test_runs_alone(tasks: Tasks) -> None:
    task = tasks.open(SESSION)
    for _ in range(2):
        tasks.charge(task, "test_run")
    with pytest.raises(TaskBudgetExceeded, match=r"Test budget exceeded \(2/2\)"):
        tasks.charge(task, "test_run")
    tasks.charge(task, "mutation")
    assert task.state == "OPEN"


def test_a_task_that_nobody_opened_is_over_with_any_budget(tasks: Tasks) -> None:
    task = tasks.begin(SESSION)
    for _ in range(2):
        tasks.charge(task, "test_run")
    with pytest.raises(TaskBudgetExceeded) as refused:
        tasks.charge(task, "test_run")
    assert task.is_over and "tasks.max_test_runs" in refused.value.hints[0]


def test_time_that_is_up_ends_the_task(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    task = tasks.begin(SESSION)
    later = time.monotonic() + 1000
    monkeypatch.setattr(time, "monotonic", lambda: later)
    with pytest.raises(TaskBudgetExceeded, match="Time budget exceeded") as refused:
        tasks.charge(task, "test_run")
    assert refused.value.details["budget_type"] == "duration_sec"
    assert task.state == "CLOSED_FAILED"


def test_a_closed_task_takes_no_charge(tasks: Tasks) -> None:
    task = tasks.begin(SESSION)
    tasks.close(task, "CLOSED_SUCCESS")
    with pytest.raises(TaskClosed):
        tasks.charge(task, "mutation")
    assert task.is_over


def test_the_same_change_twice_is_no_progress(tasks: Tasks) -> None:
    task = tasks.begin(SESSION)
    assert not tasks.note_mutation(task, "mut_a").no_op
    assert tasks.note_mutation(task, "mut_a").no_op and list(task.flags) == ["no_op"]
    assert not tasks.note_mutation(task, "mut_b").no_op and not task.flags
    assert tasks.note_mutation(task, NO_CHANGE).no_op


def test_the_same_failure_after_a_change_is_no_progress(tasks: Tasks) -> None:
    task = tasks.begin(SESSION)
    assert not tasks.note_failure(task, "fail_a").non_progress
    assert not tasks.note_failure(task, "fail_a").non_progress  # nothing was changed in between
    tasks.note_mutation(task, "mut_a")
    assert tasks.note_failure(task, "fail_a").non_progress
    tasks.note_mutation(task, "mut_b")
    assert not tasks.note_failure(task, "fail_b").non_progress


def test_open_tasks_of_a_former_server_are_interrupted(directory: Path, ledger: Ledger, tasks: Tasks) -> None:
    task = tasks.open(SESSION)
    tasks.record(task, operation("op_1", task_id=task.task_id, mutation_fingerprint="mut_a"))
    tasks.record(task, operation("op_2", task_id=task.task_id, op_type="test_run"))
    ledger.close()  # as a kill leaves it: nothing has closed the task
    again = Ledger.open(directory, LedgerSettings())
    assert Tasks(again, Limits(*LIMITS), lambda: (None, None)).interrupt_open() == 1
    [found] = again.tasks()
    assert (found.state, found.reason) == ("CLOSED_INTERRUPTED", "the server ended")
    assert (found.mutations, found.test_runs, found.last_mutation) == (1, 1, "mut_a")
    assert Tasks(again, Limits(*LIMITS), lambda: (None, None)).interrupt_open() == 0
    assert again.verify() == []
    again.close()


def test_an_open_task_is_carried_from_segment_to_segment(directory: Path) -> None:
    ledger = small_ledger(directory)
    tasks = Tasks(ledger, Limits(99, 99, 1000), lambda: (None, None))
    task = tasks.open(SESSION, label="long")
    for n in range(5):
        tasks.charge(task, "mutation")
        tasks.record(task, operation(f"op_{n}", task_id=task.task_id))
    newest = max(directory.glob("*.db"))
    alone = sqlite3.connect(newest)
    [row] = alone.execute("SELECT label, state, mutation_count, test_run_count FROM tasks").fetchall()
    assert row == ("long", "OPEN", 5, 0)
    alone.close()
    [found] = ledger.tasks()
    assert (found.mutations, found.label) == (5, "long")
    ledger.close()


def test_what_cannot_be_written_now_is_written_with_the_next(
    tasks: Tasks, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = tasks.open(SESSION)
    with monkeypatch.context() as full:
        full.setattr(ledger, "append", _disk_full)
        tasks.interrupt(task, "the client disconnected")
        tasks.flush()
        with pytest.raises(StateUnusable):
            tasks.open(SESSION)
    assert task.state == "CLOSED_INTERRUPTED" and "could not be closed" in ledger.problems[0]
    tasks.open(SESSION)
    assert [found.state for found in ledger.tasks()] == ["OPEN", "CLOSED_INTERRUPTED"]


def test_a_task_whose_first_row_failed_is_opened_with_the_next(
    tasks: Tasks, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = tasks.begin(SESSION)
    with monkeypatch.context() as full:
        full.setattr(ledger, "append", _disk_full)
        with pytest.raises(StateUnusable):
            tasks.record(task, operation("op_1", task_id=task.task_id))
    assert not task.is_recorded
    tasks.record(task, operation("op_1", task_id=task.task_id))
    assert [found.task_id for found in ledger.tasks()] == [task.task_id]


def test_a_row_that_is_no_task_is_passed_over() -> None:
    for body in ({}, {"state": "OPEN"}, {"state": "OPEN", "limits": {"x": 1}}, {"state": 1, "limits": {}}):
        with pytest.raises(ValueError, match=r"it lacks|it has no|is not what"):
            Task.of(body)


def test_a_task_is_found_without_a_server(tasks: Tasks, directory: Path) -> None:
    task = tasks.open(SESSION)
    found = History(directory).task(task.task_id)
    assert found is not None and found.state == "OPEN"
    assert History(directory).task(TaskId("task_none")) is None


def _disk_full(_entries: object) -> int:
    raise StateUnusable("the disk is full.")
