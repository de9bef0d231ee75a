import threading
from pathlib import Path

import pytest

from codeplane.core.errors import IndexCorrupt, ServerStopping, StateUnusable
from codeplane.storage.database import Database, delete_database, open_exact

TABLE = "CREATE TABLE t (n INTEGER)"


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = open_exact(tmp_path / "d.db", TABLE)
    assert made is not None
    return made


def count(database: Database) -> int:
    with database.read() as connection:
        return int(connection.execute("SELECT count(*) FROM t").fetchone()[0])


def test_a_write_that_raises_leaves_nothing(database: Database) -> None:
    with pytest.raises(RuntimeError), database.write() as connection:
        connection.execute("INSERT INTO t VALUES (1)")
        raise RuntimeError
    assert count(database) == 0


def test_a_reader_keeps_its_snapshot_while_another_writes(database: Database) -> None:
    def write() -> None:
        with database.write() as connection:
            connection.execute("INSERT INTO t VALUES (1)")

    with database.read() as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 0
        writer = threading.Thread(target=write)
        writer.start()
        writer.join(5)
        assert not writer.is_alive()
        assert connection.execute("SELECT count(*) FROM t").fetchone()[0] == 0
    assert count(database) == 1


def test_writers_take_turns(database: Database) -> None:
    def write() -> None:
        for _ in range(20):
            with database.write() as connection:
                connection.execute("INSERT INTO t VALUES (1)")

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert count(database) == 80


def test_a_file_of_another_schema_is_not_touched(tmp_path: Path) -> None:
    file = tmp_path / "d.db"
    for _ in range(2):
        opened = open_exact(file, TABLE)
        assert opened is not None
        opened.close()
    before = file.read_bytes()
    assert open_exact(file, TABLE + ";\nCREATE TABLE more (n)") is None
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"not a database at all, but long enough" * 100, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "d.db").write_bytes(content)
    with pytest.raises(IndexCorrupt, match=r"d\.db is damaged"):
        open_exact(tmp_path / "d.db", TABLE)
    assert delete_database(tmp_path / "d.db") >= len(content)
    assert not list(tmp_path.glob("d.db*"))


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "planted.db").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateUnusable):
        open_exact(tmp_path / "planted.db", "CREATE TABLE t (x)")
    assert not (tmp_path / "elsewhere").exists()


def test_closing_waits_for_whoever_is_inside_and_lets_in_nobody(database: Database) -> None:
    inside, leave = threading.Event(), threading.Event()
    seen: list[int] = []

    def read() -> None:
        with database.read() as connection:
            inside.set()
            leave.wait(5)
            seen.append(connection.execute("SELECT count(*) FROM t").fetchone()[0])

    reader, closer = threading.Thread(target=read), threading.Thread(target=database.close)
    reader.start()
    inside.wait(5)
    closer.start()
    with pytest.raises(ServerStopping):
        while True:
            count(database)
    leave.set()
    reader.join(5)
    closer.join(5)
    assert seen == [0] and not closer.is_alive()


def test_threads_that_have_ended_leave_no_connection(tmp_path: Path) -> None:
    database = Database(tmp_path / "x.db")

    def ask() -> None:
        with database.read() as connection:
            connection.execute("SELECT 1").fetchall()

    def in_threads(count: int) -> int:
        for _ in range(count):
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
        return len(database._opened)

    assert in_threads(3) == in_threads(30) == 1
    database.close()
    assert in_threads(0) == 0
