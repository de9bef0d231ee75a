"""Budgets and flags as a client sees them: through the pipeline, with a toy that charges and records."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.config import Places
from codeplane.ledger import History
from codeplane.server.pipeline import Pipeline, Request
from codeplane.server.profiles import profiles
from codeplane.session import Checkout, RepoSession
from codeplane.tools import Tool
from tests.drive import user_env
from tests.toy_tools import toys_found

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def toys() -> Iterator[dict[str, Tool]]:
    with toys_found() as tools:
        yield tools


@pytest.fixture
def session(repo: Path, home: Path) -> Iterator[RepoSession]:
    limits = ["tasks.max_mutations=2", "tasks.max_test_runs=3"]
    made = RepoSession.open(Checkout.find(repo, Places.of_user(user_env(home)), limits))
    yield made
    made.close()


@pytest.fixture
def ask(session: RepoSession, toys: dict[str, Tool]) -> Ask:
    pipeline = Pipeline(session, toys)

    def call(tool: str, client: str = "a client", **arguments: Any) -> dict[str, Any]:
        return dict(anyio.run(pipeline.call, Request(tool, arguments, client)).body)

    return call


def test_a_task_that_nobody_opened_stops_once_and_goes_on_in_another(ask: Ask) -> None:
    first = [ask("toy_mutate", after=text)["meta"]["task_id"] for text in "xy"]
    refused = ask("toy_mutate", after="z")
    assert refused["error"]["name"] == "TASK_BUDGET_EXCEEDED"
    [hint] = refused["error"]["hints"]
    assert "Repeat the call" in hint and "tasks.max_mutations" in hint
    again = ask("toy_mutate", after="z")
    assert "result" in again and again["meta"]["task_id"] not in first


def test_a_budget_that_is_used_up_ends_the_task_until_another_is_opened(ask: Ask) -> None:
    ask("task_open")
    first = [ask("toy_mutate", after=text)["meta"] for text in "xy"]
    assert {meta["task_state"] for meta in first} == {"OPEN"}
    for _ in range(2):
        refused = ask("toy_mutate", after="z")
        assert refused["error"]["code"] == 6001
        assert refused["error"]["name"] == "TASK_BUDGET_EXCEEDED"
        assert refused["error"]["message"] == "Mutation budget exceeded (2/2)."
        assert refused["error"]["details"]["budget_type"] == "mutations"
        assert refused["meta"]["task_state"] == "CLOSED_FAILED"
        assert refused["meta"]["task_id"] == first[0]["task_id"]
    assert ask("toy_echo", text="reading goes on")["result"]
    assert ask("task_close", outcome="success")["error"]["name"] == "TASK_CLOSED"
    opened = ask("task_open")["meta"]
    assert opened["task_state"] == "OPEN" and opened["task_id"] != first[0]["task_id"]
    assert ask("toy_mutate", after="z")["meta"]["task_id"] == opened["task_id"]


def test_tasks_are_counted_for_an_operator(session: RepoSession, toys: dict[str, Tool]) -> None:
    pipeline = Pipeline(session, toys)
    anyio.run(pipeline.call, Request("task_open", {}, "a client"))
    run = {"kind": "test_run", "failure": "test_a"}
    asked: list[dict[str, str]] = [{}, run, {}, run, {}, {}]  # two more than the limit of changes
    for arguments in asked:
        anyio.run(pipeline.call, Request("toy_mutate", arguments, "a client"))
    anyio.run(pipeline.call, Request("task_open", {}, "a client"))
    lines = set(pipeline.telemetry.render().decode().splitlines())
    assert {
        "codeplane_tasks_open 1.0",
        "codeplane_tasks_opened_total 2.0",
        'codeplane_tasks_closed_total{state="CLOSED_FAILED"} 1.0',
        'codeplane_budget_refusals_total{budget="mutations"} 2.0',
        'codeplane_flags_total{flag="no_op"} 1.0',
        'codeplane_flags_total{flag="non_progress"} 1.0',
    } <= lines, lines


def test_another_client_has_a_budget_of_its_own(ask: Ask) -> None:
    for text in "xyz":
        ask("toy_mutate", after=text)
    assert ask("toy_mutate", client="another", after="x")["meta"]["task_state"] == "OPEN"


def test_more_than_the_settings_allow_is_not_given(ask: Ask) -> None:
    opened = ask("task_open", max_mutations=1000, max_test_runs=1)
    assert opened["result"]["mutations"] == "0/2" and opened["result"]["test_runs"] == "0/1"
    assert opened["meta"]["limits_applied"] == {"max_mutations": {"requested": 1000, "hard_cap": 2}}


def test_the_same_change_twice_is_flagged(ask: Ask) -> None:
    assert "task" not in ask("toy_mutate")["meta"]
    again = ask("toy_mutate")["meta"]
    assert again["task"] == {"flags": ["no_op"]} and again["warnings"][0].startswith("no_op")
    status = ask("task_status")["result"]
    assert status["mutations"] == "2/2" and status["flags"] == ["no_op"]
    assert len(status["operations"]) == 2 and status["operations"][0].endswith("toy_mutate  ok  ~ a.py")


def test_the_same_failure_after_a_change_is_flagged(ask: Ask) -> None:
    run = {"kind": "test_run", "failure": "tests/test_a.py::test_a"}
    assert "task" not in ask("toy_mutate", **run)["meta"]
    ask("toy_mutate")
    assert ask("toy_mutate", **run)["meta"]["task"] == {"flags": ["non_progress"]}


def test_used_up_test_runs_leave_the_task_open(ask: Ask) -> None:
    ask("task_open")
    for _ in range(3):
        ask("toy_mutate", kind="test_run")
    refused = ask("toy_mutate", kind="test_run")
    assert refused["error"]["details"]["budget_type"] == "test_runs"
    assert refused["meta"]["task_state"] == "OPEN" and "result" in ask("toy_mutate")


def test_a_call_stays_in_the_task_that_it_began_in(ask: Ask, session: RepoSession) -> None:
    before = ask("toy_mutate")["meta"]["task_id"]
    after = ask("task_open", label="next")["meta"]["task_id"]
    states = {task.task_id: task.state for task in session.ledger.tasks()}
    assert states == {before: "CLOSED_INTERRUPTED", after: "OPEN"}


def test_reading_leaves_no_rows(ask: Ask, session: RepoSession) -> None:
    ask("toy_echo", text="x")
    ask("task_status")
    ask("task_close", outcome="success")
    assert not session.state.ledger.exists()


def test_a_client_that_leaves_interrupts_its_task(ask: Ask, session: RepoSession) -> None:
    ask("toy_mutate")
    session.sessions.close("a client")
    session.tasks.flush()
    [task] = session.ledger.tasks()
    assert (task.state, task.reason) == ("CLOSED_INTERRUPTED", "the client disconnected")


def test_a_server_that_stops_closes_its_tasks(ask: Ask, session: RepoSession) -> None:
    ask("toy_mutate")
    session.close()
    [task] = History(session.state.ledger).tasks()
    assert (task.state, task.reason, task.mutations) == ("CLOSED_INTERRUPTED", "the server stopped", 1)


def test_the_read_profile_has_what_reads(toys: dict[str, Tool]) -> None:
    offered = profiles(toys)
    assert "task_status" in offered["read"].tools
    assert not {"task_open", "task_close", "toy_mutate"} & offered["read"].tools.keys()
    tasks = {"task_open", "task_close", "task_status", "reset_budget"}
    assert tasks <= offered["full"].tools.keys() and not tasks & offered["standard"].tools.keys()
