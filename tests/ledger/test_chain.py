"""Whoever changes the ledger behind its back is found out, with the segment and the row."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from codeplane.ledger import Ledger
from codeplane.ledger.verify import verify
from tests.ledger.making import operation, small_ledger


def tampered(file: Path, *statements: str) -> None:
    """Changes a segment as somebody would who knows SQLite and leaves no other trace."""
    connection = sqlite3.connect(file, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        connection.execute(statement)
    for _, sql in triggers:
        connection.execute(sql)
    connection.close()


@pytest.fixture
def one(ledger: Ledger, directory: Path) -> Path:
    """A segment with a head and five operations."""
    for n in range(5):
        ledger.record(operation(f"op_{n}"))
    ledger.close()
    assert verify(directory) == []
    return directory / "000001.db"


@pytest.mark.parametrize(
    ("statements", "found"),
    [
        (["UPDATE row SET body = replace(body, 'true', 'false') WHERE number = 3"], ["row 3 is not what"]),
        (["UPDATE row SET task = 'task_9' WHERE number = 3"], ["row 3 is not what"]),
        (["UPDATE row SET body = 'no json' WHERE number = 6"], ["row 6 is not what"]),
        (["UPDATE row SET body = x'ff00' WHERE number = 6"], ["row 6 is not what"]),
        (
            [
                "UPDATE row SET number = 99 WHERE number = 3",
                "UPDATE row SET number = 3 WHERE number = 4",
                "UPDATE row SET number = 4 WHERE number = 99",
            ],
            ["row 3 is not what", "row 4 is not what", "row 5 is not what"],
        ),
        (["DELETE FROM row WHERE number = 3"], ["rows 3 to 3 are missing", "row 4 is not what"]),
        (["DELETE FROM row WHERE number = 6"], ["rows after 5 are missing"]),
        (["DELETE FROM row WHERE number = 1"], ["row 2 is the first", "row 2 is not what", "its head"]),
        (["INSERT INTO row VALUES (7, 'operation', 't', 'op_x', '{}', 'h')"], ["row 7 is not what"]),
        (["CREATE TRIGGER t AFTER INSERT ON row BEGIN SELECT 1; END"], ["triggers are not those"]),
        (["DROP VIEW tasks"], ["triggers are not those"]),
    ],
)
def test_a_changed_segment_is_named(one: Path, statements: list[str], found: list[str]) -> None:
    tampered(one, *statements)
    problems = verify(one.parent)
    assert all(problem.startswith("000001.db") for problem in problems)
    assert len(problems) == len(found)
    assert all(part in problem for part, problem in zip(found, problems, strict=True)), problems


def test_a_trigger_that_is_gone_is_seen(one: Path) -> None:
    connection = sqlite3.connect(one)
    connection.execute("DROP TRIGGER row_update")
    connection.close()
    [problem] = verify(one.parent)
    assert "triggers are not those of a segment" in problem


@pytest.fixture
def many(directory: Path) -> list[Path]:
    ledger = small_ledger(directory)
    for n in range(6):
        ledger.record(operation(f"op_{n}"))
    ledger.close()
    assert verify(directory) == []
    return sorted(directory.glob("*.db"))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-4096])


@pytest.mark.parametrize(
    ("which", "harm", "told"),
    [
        (2, Path.unlink, "000003.db: this segment is missing"),
        (0, Path.unlink, "000001.db: this segment is missing, and not because of its age"),
        (-1, Path.unlink, "000006.db: this segment is missing"),
        (2, cut, "000003.db"),
        (2, lambda file: file.write_bytes(b"not a database" * 1000), "000003.db of the ledger is damaged"),
    ],
)
def test_a_segment_that_is_gone_or_cut_is_named(
    many: list[Path], which: int, harm: Callable[[Path], object], told: str
) -> None:
    harm(many[which])
    problems = verify(many[0].parent)
    assert any(problem.startswith(told) for problem in problems), problems


def test_two_segments_that_changed_places_are_named(many: list[Path]) -> None:
    a, b = many[2].read_bytes(), many[3].read_bytes()
    many[2].write_bytes(b)
    many[3].write_bytes(a)
    problems = verify(many[0].parent)
    assert "000003.db: its head is of another segment." in problems
    assert "000004.db: its head is of another segment." in problems


def test_a_segment_that_was_written_anew_does_not_fit(many: list[Path], tmp_path: Path) -> None:
    other = small_ledger(tmp_path / "other")
    for n in range(6):
        other.record(operation(f"op_{n}", op_type="forged"))
    other.close()
    many[2].write_bytes((tmp_path / "other" / many[2].name).read_bytes())
    problems = verify(many[0].parent)
    assert problems == [
        "000003.db: it does not go on where 000002.db ends.",
        "000004.db: it does not go on where 000003.db ends.",
    ]


def test_reading_writes_nothing(many: list[Path]) -> None:
    directory = many[0].parent
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in directory.iterdir()}
    verify(directory)
    after = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in directory.iterdir()}
    assert after == before
