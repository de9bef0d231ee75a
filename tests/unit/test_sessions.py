import time
from pathlib import Path

import pytest

from codeplane.config.settings import LedgerSettings
from codeplane.core.ids import SessionId
from codeplane.ledger import Ledger, Limits, Tasks
from codeplane.session import Sessions
from codeplane.session.clients.sessions import ClientSession


@pytest.fixture
def sessions(tmp_path: Path) -> Sessions:
    tasks = Tasks(Ledger.open(tmp_path / "ledger", LedgerSettings()), Limits(9, 9, 99), lambda: (None, None))
    return Sessions(idle_sec=60, read_budget=1000, tasks=tasks)


def test_an_idle_session_is_closed_and_its_task_with_it(
    sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = sessions.enter("client")
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 59)
    assert sessions.enter("client") is first
    monkeypatch.setattr(time, "monotonic", lambda: now + 59 + 61)
    assert sessions.enter("client") is not first
    assert first.task.state == "CLOSED_INTERRUPTED"


def test_a_client_may_choose_the_id_of_its_session(sessions: Sessions) -> None:
    assert sessions.enter("asked:mine", SessionId("mine")).session_id == "mine"


def test_the_number_of_sessions_is_bounded(sessions: Sessions) -> None:
    kept: list[ClientSession] = [sessions.enter(str(n)) for n in range(1001)]
    assert len(sessions) == 1000 and kept[0].task.state == "CLOSED_INTERRUPTED"
