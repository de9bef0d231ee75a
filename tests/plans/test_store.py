"""Rows of plans and decisions: found as they were written, bounded, and of this very file."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from codeplane.core.errors import PlanGone, StateUnusable
from codeplane.core.ids import PlanId
from codeplane.core.paths import Digest, RepoPath
from codeplane.plans import Decision, DecisionStore, PlanRow, PlanStore, store
from codeplane.storage.database import Database
from codeplane.storage.state_db import open_state_db
from codeplane.working_tree import digest_of

LATER = 10_000


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_state_db(tmp_path / "state.db")
    yield opened
    opened.close()


def row(name: str = "ref_1", made_ms: int = 1, data: bytes = b"content", expires_ms: int = LATER) -> PlanRow:
    contents = {digest_of(data): data}
    return PlanRow(PlanId(name), "toy", "1", '{"body": 1}', made_ms, expires_ms, PlanId("p"), contents)


def ids(database: Database, table: str = "plan", column: str = "id") -> list[str]:
    with database.read() as connection:
        return sorted({one for (one,) in connection.execute(f"SELECT {column} FROM {table}")})


def test_a_plan_is_found_as_it_was_saved_until_it_is_dropped(database: Database) -> None:
    plans = PlanStore(database)
    plans.save(row(data=b"first"))
    plans.save(row(data=b"second"))
    found = plans.find("ref_1")
    assert found == row(data=b"second") and plans.holds("ref_1", row(data=b"second").digest)
    plans.drop("ref_1")
    assert plans.find("ref_1") is None and not ids(database, "plan_content", "plan")


def test_plans_go_by_age_number_and_size(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    plans = PlanStore(database)
    plans.save(row("old", expires_ms=5))
    plans.save(row("new", made_ms=6))
    assert ids(database) == ids(database, "plan_content", "plan") == ["new"]
    monkeypatch.setattr(store, "MOST_PLANS", 2)
    for number in range(3):
        plans.save(row(f"p{number}", made_ms=7))
    assert ids(database) == ["p1", "p2"]
    monkeypatch.setattr(store, "MOST_BYTES", 3000)
    plans.save(row("big", made_ms=8, data=b"x" * 2985))
    assert ids(database) == ids(database, "plan_content", "plan") == ["big"]


def test_a_plan_that_is_too_large_is_refused_and_the_others_stay(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = PlanStore(database)
    plans.save(row("small"))
    monkeypatch.setattr(store, "MOST_BYTES", 1000)
    with pytest.raises(StateUnusable, match="of plans are kept"):
        plans.save(row("big", data=b"x" * 2000))
    assert ids(database) == ["small"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE plan SET body = '{}'",
        "UPDATE plan SET body = x'00ff'",
        "UPDATE plan SET kind = 'other'",
        "UPDATE plan SET expires_ms = 99999999999999",
        "UPDATE plan SET expires_ms = 'never'",
        "UPDATE plan SET digest = ''",
        "UPDATE plan_content SET data = x'00'",
        "UPDATE plan_content SET data = 'text'",
        "UPDATE plan_content SET digest = 'x'",
    ],
)
def test_a_row_that_is_damaged_is_an_error_of_the_catalogue(database: Database, damage: str) -> None:
    plans = PlanStore(database)
    plans.save(row())
    with database.write() as connection:
        connection.execute(damage)
    with pytest.raises(PlanGone, match="damaged") as raised:
        plans.find("ref_1")
    assert raised.value.hints and not raised.value.retryable
    plans.save(row())
    assert plans.find("ref_1") == row()


def test_a_full_disk_is_told_and_what_was_there_stays(database: Database) -> None:
    plans = PlanStore(database)
    plans.save(row("small"))
    with database.write() as connection:
        [(pages,)] = connection.execute("PRAGMA page_count").fetchall()
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StateUnusable, match="no space left") as raised:
        plans.save(row("big", data=b"x" * 1_000_000))
    assert "Free some disk space" in raised.value.hints[0]
    assert plans.find("small") == row("small") and plans.find("big") is None


def test_a_copy_of_the_file_has_no_plans_and_no_decisions(database: Database, tmp_path: Path) -> None:
    PlanStore(database).save(row())
    DecisionStore(database).save("s", decision())
    database.fold()
    shutil.copy(tmp_path / "state.db", tmp_path / "copy.db")
    database.close()
    copy, again = open_state_db(tmp_path / "copy.db"), open_state_db(tmp_path / "state.db")
    assert PlanStore(copy).find("ref_1") is None and DecisionStore(copy).find("s") is None
    assert PlanStore(again).find("ref_1") == row() and DecisionStore(again).find("s") == decision()
    copy.close()
    again.close()


def decision(made_ms: int = 1) -> Decision:
    return Decision({RepoPath("caf\udce9.py"): Digest("0" * 64)}, ["group_1"], {"symbol": "a.b"}, made_ms)


def test_a_decision_is_found_until_many_are_newer(database: Database) -> None:
    decisions = DecisionStore(database)
    decisions.save("first", decision())
    assert decisions.find("first") == decision() and decisions.find("other") is None
    for number in range(200):
        decisions.save(f"s{number}", decision(number + 2))
    assert decisions.find("first") is None and decisions.find("s0") == decision(2)


@pytest.mark.parametrize("text", ["", "[", "1", "[" * 50_000])
def test_a_decision_that_is_damaged_counts_for_nothing(database: Database, text: str) -> None:
    decisions = DecisionStore(database)
    decisions.save("s", decision())
    with database.write() as connection:
        connection.execute("UPDATE decision SET files = ?", (text,))
    assert decisions.find("s") is None
