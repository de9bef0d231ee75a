"""The first calls on a new repository: a part of the index, and the tree itself for the rest."""

import time
from pathlib import Path

import pytest

from codeplane.core.ids import new_request_id
from codeplane.session import Call, RepoSession
from codeplane.session.upkeep import Upkeep
from tests.tools.conftest import Ask

COUNT = 600  # more than are read before a call is answered in any case


@pytest.fixture
def repo(repo: Path) -> Path:
    for number in range(COUNT):
        (repo / f"part_{number:03}.py").write_text(f"def step_{number}():\n    return 'value {number}'\n")
    return repo


@pytest.fixture(autouse=True)
def _no_patience(session: RepoSession) -> None:
    session._first_due = time.monotonic()


def test_words_and_patterns_are_found_in_files_that_are_not_read_yet(
    ask: Ask, repo: Path, session: RepoSession
) -> None:
    last = f"part_{COUNT - 1}.py"
    body = ask("search", query=f"step_{COUNT - 1}")
    assert session.index.unread
    assert [file["path"] for file in body["result"]["files"]] == [last]
    assert "files are not indexed yet" in body["meta"]["warnings"][0]
    pattern = ask("search", query=rf"value {COUNT - 1}\b", mode="regex")
    assert [file["path"] for file in pattern["result"]["files"]] == [last]
    several = ask("search", query=f"where is the value {COUNT - 1}", languages=["python"])
    assert several["result"]["files"][0]["path"] == last


def test_files_are_read_and_listed_before_they_are_indexed(
    ask: Ask, repo: Path, session: RepoSession
) -> None:
    body = ask("read_source", targets=[f"part_{COUNT - 1}.py"])
    assert session.index.unread
    assert body["result"]["files"][0]["lines"] == 2
    assert ask("list_files", pattern="part_*.py", limit=1)["result"]["files"] == COUNT


def test_a_symbol_that_may_come_is_to_be_asked_for_again(ask: Ask, repo: Path, session: RepoSession) -> None:
    error = ask("read_source", targets=[f"step_{COUNT - 1}"])["error"]
    assert (error["name"], error["retryable"]) == ("NOT_READ_YET", True)
    assert "files have been read" in error["hints"][-1]
    while session.index.unread:
        session.index.refresh()
    assert "error" not in ask("read_source", targets=[f"step_{COUNT - 1}"])


def test_without_a_server_what_changes_files_reads_everything_first(
    ask: Ask, repo: Path, session: RepoSession
) -> None:
    ask("refactor_rename", symbol=f"step_{COUNT - 1}", new_name="last_step")
    assert not session.index.unread


def test_a_server_tells_how_far_the_index_is_while_a_call_waits(repo: Path, session: RepoSession) -> None:
    session._first_due = time.monotonic() + 60
    session.index.catch_up()  # everything is known and unread, as right after the start
    assert session.index.unread
    told: list[tuple[float, float | None]] = []
    call = Call(session, session.sessions.enter("a client", None), new_request_id())
    call.report = lambda done, total, _: told.append((done, total))
    session.upkeep.start(None)
    with call.snapshot() as snapshot:
        assert not snapshot.coverage.unread
    assert told
    assert {total for _, total in told} == {COUNT + 1}  # and the README
    assert not call.warnings


def test_a_server_answers_in_time_and_renames_nothing_by_halves(
    ask: Ask, repo: Path, session: RepoSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.index.catch_up()
    # The thread that reads is there, and does not come to it.
    monkeypatch.setattr(Upkeep, "is_running", True)
    body = ask("search", query=f"step_{COUNT - 1}")
    assert body["result"]["files"][0]["path"] == f"part_{COUNT - 1}.py"
    assert "Ask again in a few seconds" in body["meta"]["warnings"][0]
    renamed = ask("refactor_rename", symbol=f"part_{COUNT - 1}.py:1", new_name="last_step")
    assert renamed["error"]["retryable"]
    assert "last_step" not in (repo / f"part_{COUNT - 1}.py").read_text()


def test_a_rename_is_not_applied_while_another_file_is_unread(
    ask: Ask, repo: Path, session: RepoSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.index.refresh()
    with session.index.database.write() as connection:
        connection.execute(
            "UPDATE item SET digest = (SELECT digest FROM blob WHERE id = blob), blob = NULL"
            " WHERE place = (SELECT id FROM place WHERE path = 'part_007.py')"
        )
    monkeypatch.setattr(session.index, "refresh", lambda *_, **__: 0)
    body = ask("refactor_rename", symbol="part_001.step_1", new_name="first_step")
    assert "first_step" not in (repo / "part_001.py").read_text()
    assert "read" in str(body)
