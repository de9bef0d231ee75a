import time

import pytest

from codeplane.core.ids import SessionId
from codeplane.session import Sessions
from codeplane.session.clients import ClientSession


def test_an_idle_session_is_closed_and_its_task_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions(idle_sec=60, read_budget=1000)
    first = sessions.enter("client")
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 59)
    assert sessions.enter("client") is first
    monkeypatch.setattr(time, "monotonic", lambda: now + 59 + 61)
    assert sessions.enter("client") is not first
    assert first.task.state == "CLOSED_INTERRUPTED"


def test_a_client_may_choose_the_id_of_its_session() -> None:
    sessions = Sessions(idle_sec=60, read_budget=1000)
    assert sessions.enter("asked:mine", SessionId("mine")).session_id == "mine"


def test_the_number_of_sessions_is_bounded() -> None:
    sessions = Sessions(idle_sec=60, read_budget=1000)
    kept: list[ClientSession] = [sessions.enter(str(n)) for n in range(1001)]
    assert len(sessions) == 1000 and kept[0].task.state == "CLOSED_INTERRUPTED"
