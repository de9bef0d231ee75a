import sqlite3
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.config.settings import LedgerSettings
from codeplane.core.errors import InternalError, ServerStopping
from codeplane.core.ids import OperationId, SessionId, TaskId
from codeplane.core.paths import RepoPath
from codeplane.ledger import History, Ledger, Limits, Tasks
from tests.ledger.making import change, digest, operation, small_ledger

EVENTS = st.sampled_from(["turn", "other"])
# Some say what another field would look like, some are no ASCII.
VALUES = st.sampled_from(["w1", "w2", '"work_id":"w1"', "größe", "\\u0000", ""])


def test_a_repository_that_is_only_read_has_no_ledger(ledger: Ledger, directory: Path) -> None:
    assert ledger.operations() == [] and ledger.tasks() == [] and ledger.verify() == []
    assert not directory.exists()


def test_what_is_recorded_is_read_as_it_was(ledger: Ledger) -> None:
    odd = RepoPath("dir/\udcff name\n.py")
    made = operation(
        "op_1",
        changes=(
            change(mode_before=0o644, mode_after=0o755),
            change(odd, before=None, moved_from=RepoPath("x")),
        ),
        repo_before="a",
        failing_tests=("t::one",),
        undoes=OperationId("op_0"),
        recovered=True,
        artifact=digest("log"),
    )
    number = ledger.record(made)
    assert made.short_diff == "~ a.py\n> x -> dir/\\udcff name\\n.py"
    assert ledger.find(OperationId("op_1")) == replace(made, number=number)


def test_the_newest_comes_first_across_segments(directory: Path) -> None:
    ledger = small_ledger(directory)
    numbers = [ledger.record(operation(f"op_{n}")) for n in range(6)]
    assert numbers == sorted(numbers) and len(list(directory.glob("*.db"))) > 3
    assert [o.operation_id for o in ledger.operations(limit=4)] == ["op_5", "op_4", "op_3", "op_2"]
    assert [o.operation_id for o in ledger.operations(before=numbers[2])] == ["op_1", "op_0"]
    ledger.close()


def test_operations_are_found_by_task_and_by_session(ledger: Ledger) -> None:
    ledger.record(operation("op_1"))
    ledger.record(operation("op_2", task_id=TaskId("task_2")))
    ledger.record(operation("op_3", session_id=SessionId("sess_2")))
    assert [o.operation_id for o in ledger.operations(task=TaskId("task_1"))] == ["op_3", "op_1"]
    assert [o.operation_id for o in ledger.operations(session=SessionId("sess_2"))] == ["op_3"]


def test_one_operation_is_recorded_once_whatever_lies_between(directory: Path) -> None:
    ledger = small_ledger(directory)
    for name in ("op_1", "op_2", "op_3"):
        ledger.record(operation(name))
    with pytest.raises(InternalError, match="op_1 is in the ledger already"):
        ledger.record(operation("op_1"))
    ledger.close()
    again = small_ledger(directory)
    with pytest.raises(InternalError):
        again.record(operation("op_2"))
    assert len(again.operations()) == 3
    again.close()


def test_a_ledger_goes_on_where_it_ended(directory: Path) -> None:
    for n in range(3):
        ledger = Ledger.open(directory, LedgerSettings())
        ledger.record(operation(f"op_{n}"))
        assert ledger.verify() == []
        ledger.close()
    assert [path.name for path in directory.iterdir()] == ["000001.db"]
    assert len(History(directory).operations()) == 3


def test_a_closed_ledger_takes_nothing(ledger: Ledger) -> None:
    ledger.close()
    with pytest.raises(ServerStopping):
        ledger.record(operation("op_1"))


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE row SET body = '{}'",
        "DELETE FROM row WHERE number = 2",
        "INSERT OR REPLACE INTO row SELECT number, kind, task, id, '{}', hash FROM row WHERE number = 2",
        "INSERT OR REPLACE INTO row SELECT 99, kind, task, id, '{}', hash FROM row WHERE number = 2",
    ],
)
def test_rows_are_neither_changed_nor_removed(ledger: Ledger, directory: Path, statement: str) -> None:
    ledger.record(operation("op_1"))
    ledger.close()
    connection = sqlite3.connect(directory / "000001.db")
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        connection.execute(statement)
    connection.close()


def test_eight_threads_record_five_hundred_rows(directory: Path) -> None:
    ledger = Ledger.open(directory, LedgerSettings(), segment_bytes=120_000)
    numbers: list[int] = []

    def record(thread: int) -> None:
        numbers.extend(ledger.record(operation(f"op_{n}")) for n in range(thread, 500, 8))

    threads = [threading.Thread(target=record, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(numbers)) == 500 and ledger.verify() == []
    assert {o.operation_id for o in ledger.operations(limit=1000)} == {f"op_{n}" for n in range(500)}
    assert len(list(directory.glob("*.db"))) > 1
    ledger.close()


def test_the_last_that_can_be_undone(ledger: Ledger) -> None:
    def last() -> str | None:
        found = ledger.last_undoable()
        return found.operation_id if found else None

    assert last() is None
    ledger.record(operation("op_1"))
    ledger.record(operation("op_2"))
    ledger.record(operation("op_3", success=False))
    ledger.record(operation("op_4", changes=()))
    assert last() == "op_2"
    ledger.record(operation("op_5", undoes=OperationId("op_2")))
    assert last() == "op_1"
    ledger.record(operation("op_6", undoes=OperationId("op_5")))
    assert last() == "op_6"
    ledger.record(operation("op_7", undoes=OperationId("op_6")))
    assert last() == "op_1"
    ledger.record(operation("op_8", undoes=OperationId("op_1")))
    assert last() is None
    assert ledger.last_undoable(session=SessionId("other")) is None


def test_the_contents_that_the_rows_speak_of(ledger: Ledger) -> None:
    ledger.record(operation("op_1", changes=(change(before=None, after="x"), change("b", "y", None))))
    assert ledger.digests() == {digest("x"), digest("y")}


def test_the_views_have_the_columns_that_were_asked_for(ledger: Ledger, directory: Path) -> None:
    ledger.record(operation("op_1", insertions=3, deletions=1, failing_tests=("t",)))
    ledger.close()
    connection = sqlite3.connect(directory / "000001.db")
    connection.row_factory = sqlite3.Row
    [row] = connection.execute("SELECT * FROM operations").fetchall()
    assert row["op_id"] == 2 and row["task_id"] == "task_1" and row["success"] == 1
    assert row["timestamp"] == "2023-11-14T22:13:20.000Z" and row["duration_ms"] == 5
    assert row["changed_paths"] == '["a.py"]' and row["failing_tests"] == '["t"]'
    assert row["diff_stats"] == '{"files_changed":1,"insertions":3,"deletions":1}'
    names = set(row.keys())
    assert names >= {"repo_before_hash", "repo_after_hash", "short_diff", "mutation_fingerprint"}
    assert names >= {"failure_fingerprint", "failure_class", "limit_triggered", "op_type"}
    connection.close()


@given(
    st.lists(st.fixed_dictionaries({"event": EVENTS, "work_id": VALUES}, optional={"note": VALUES})), VALUES
)
def test_events_are_found_by_name_and_by_a_field(bodies: list[dict[str, str]], value: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger.open(Path(folder) / "ledger", LedgerSettings())
        tasks = Tasks(ledger, Limits(9, 9, 999), lambda: (None, None))
        tasks.record_event(tasks.begin(SessionId("sess_1")), *bodies)
        found = ledger.events_named("turn", field=("work_id", value))
        wanted = [one for one in reversed(bodies) if one["event"] == "turn" and one["work_id"] == value]
        assert [
            {key: one[key] for key in one if key in ("event", "work_id", "note")} for one in found
        ] == wanted
        ledger.close()
