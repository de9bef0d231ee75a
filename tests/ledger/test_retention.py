import time
from pathlib import Path

import pytest

from codeplane.config.settings import LedgerSettings
from codeplane.core.ids import SessionId
from codeplane.ledger import Ledger, Limits, Tasks
from codeplane.ledger.verify import verify
from tests.ledger.making import operation, small_ledger

DAY = 86_400


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = time.time()
        monkeypatch.setattr(time, "time", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_segments_end_after_a_day(directory: Path, clock: Clock) -> None:
    ledger = Ledger.open(directory, LedgerSettings())
    for n in range(4):
        ledger.record(operation(f"op_{n}"))
        clock.now += 0.6 * DAY
    assert len(list(directory.glob("*.db"))) == 2
    assert ledger.verify() == []
    ledger.close()


def test_what_is_too_old_goes_and_the_chain_holds(directory: Path, clock: Clock) -> None:
    ledger = Ledger.open(directory, LedgerSettings(keep_days=14))
    for n in range(30):
        ledger.record(operation(f"op_{n}"))
        clock.now += 1.01 * DAY
    names = [o.operation_id for o in ledger.operations(limit=100)]
    assert names[0] == "op_29" and 13 <= len(names) <= 16
    assert ledger.verify() == []
    ledger.close()
    oldest = min(directory.glob("*.db"))
    oldest.unlink()
    assert verify(directory) == [f"{oldest.name}: this segment is missing, and not because of its age."]


def test_no_more_tasks_are_kept_than_were_asked_for(directory: Path) -> None:
    ledger = small_ledger(directory, keep_tasks=5)
    tasks = Tasks(ledger, Limits(9, 9, 999), lambda: (None, None))
    for n in range(20):
        task = tasks.open(SessionId("sess_1"), label=str(n))
        tasks.close(task, "CLOSED_SUCCESS")
    kept = [task.label for task in ledger.tasks(limit=100)]
    assert kept[:5] == ["19", "18", "17", "16", "15"] and len(kept) < 8
    assert ledger.verify() == []
    ledger.close()


def test_an_open_task_outlives_the_segments_it_was_opened_in(directory: Path, clock: Clock) -> None:
    ledger = Ledger.open(directory, LedgerSettings(keep_days=3))
    tasks = Tasks(ledger, Limits(999, 9, 10**6), lambda: (None, None))
    task = tasks.open(SessionId("sess_1"), label="long")
    for n in range(10):
        tasks.record(task, operation(f"op_{n}", task_id=task.task_id))
        clock.now += 1.01 * DAY
    assert not (directory / "000001.db").exists()
    [found] = ledger.tasks()
    assert (found.label, found.state, found.mutations) == ("long", "OPEN", 10)
    ledger.close()


def test_what_is_too_old_goes_without_a_new_row_as_well(directory: Path, clock: Clock) -> None:
    ledger = small_ledger(directory)
    for n in range(5):
        ledger.record(operation(f"op_{n}"))
    ledger.close()
    clock.now += 20 * DAY
    ledger = small_ledger(directory)
    ledger.tidy()
    assert [o.operation_id for o in ledger.operations()] == ["op_4"]
    assert ledger.verify() == []
    ledger.close()


def test_damaged_segments_go_with_those_of_their_age(directory: Path, clock: Clock) -> None:
    ledger = small_ledger(directory)
    for n in range(5):
        ledger.record(operation(f"op_{n}"))
    ledger.close()
    (directory / "000002.db").write_bytes(b"x" * 9999)
    ledger = small_ledger(directory)
    ledger.operations()
    ledger.close()
    assert (directory / "000002.damaged-1.db").exists()
    clock.now += 20 * DAY
    ledger = small_ledger(directory)
    ledger.tidy()
    assert not list(directory.glob("*damaged*")) and ledger.verify() == []
    ledger.close()


def test_a_kill_between_the_row_and_the_deletion_is_made_good(
    directory: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = small_ledger(directory)
    for n in range(5):
        ledger.record(operation(f"op_{n}"))
    ledger.close()
    clock.now += 20 * DAY
    with monkeypatch.context() as killed:
        killed.setattr(
            "codeplane.ledger.retention.delete", lambda _: (_ for _ in ()).throw(KeyboardInterrupt)
        )
        ledger = small_ledger(directory)
        with pytest.raises(KeyboardInterrupt):
            ledger.tidy()
        ledger.close()
    assert verify(directory) == []
    ledger = small_ledger(directory)
    ledger.tidy()
    assert [o.operation_id for o in ledger.operations()] == ["op_4"] and ledger.verify() == []
    ledger.close()
