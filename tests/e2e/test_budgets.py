"""Budgets, flags and restarts with real edits: in the envelope, and in what an operator sees."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.drive import CPL_WITH_TOYS, Cpl, Stdio
from tests.zygote import PATIENCE


@pytest.fixture
def repo(repo: Path) -> Path:
    (repo / "a.py").write_text("x = 1\n")
    return repo


def edit(client: Stdio, old: str, new: str) -> dict[str, Any]:
    """Replaces a line of a.py."""
    asked = {"path": "a.py", "expected_content": old, "new_content": new}
    return client.call("write_source", {"edits": [asked]})


def shown(cpl: Cpl, name: str) -> list[str]:
    """The values of one row of `cpl status`."""
    lines = cpl.run("status").stdout.splitlines()
    return [line.removeprefix(name).strip() for line in lines if line.startswith(f"{name} ")]


def test_used_up_edits_end_the_task_and_change_nothing(cpl: Cpl) -> None:
    with cpl.mcp("--profile", "full") as client:
        task = client.open().call("task_open", {"label": "small", "max_mutations": 2})["meta"]["task_id"]
        for number in (1, 2):
            meta = edit(client, f"x = {number}", f"x = {number + 1}")["meta"]
            assert (meta["task_id"], meta["task_state"]) == (task, "OPEN")
        assert shown(cpl, "task") == [f'{task} "small" OPEN, 2/2 changes, 0/100 test runs']
        refused = [edit(client, "x = 3", "x = 4") for _ in range(2)]
        for answer in refused:
            error = answer["error"]
            assert (error["code"], error["name"]) == (6001, "TASK_BUDGET_EXCEEDED")
            assert error["message"] == "Mutation budget exceeded (2/2)." and not error["retryable"]
            figures = {"budget_type": "mutations", "limit": 2, "current": 2}
            assert error["details"] == {"task_id": task, **figures} and error["hints"] == ["task_open {}"]
            assert answer["meta"]["task_state"] == "CLOSED_FAILED"
        assert (cpl.repo / "a.py").read_text() == "x = 3\n"
        assert client.call("read_source", {"targets": ["a.py"]})["result"]
        assert shown(cpl, "task") == []
        [ended] = shown(cpl, "last task")
        assert ended.startswith(f'{task} "small" CLOSED_FAILED (mutations 2/2), 2/2 changes')
        assert "TASK_BUDGET_EXCEEDED  limit: mutations" in shown(cpl, "operation")[0]
        following = client.call("task_open")["meta"]["task_id"]
        assert edit(client, "x = 3", "x = 4")["meta"]["task_id"] == following != task


def test_the_same_edit_twice_is_flagged_and_counted(cpl: Cpl) -> None:
    with cpl.mcp("--profile", "full") as client:
        client.open()
        assert "task" not in edit(client, "x = 1", "x = 2")["meta"]
        (cpl.repo / "a.py").write_text("x = 1\n")  # somebody takes it back each time
        again = edit(client, "x = 1", "x = 2")["meta"]
        assert again["task"] == {"flags": ["no_op"]} and again["warnings"][0].startswith("no_op")
        assert shown(cpl, "task")[0].endswith("2/200 changes, 0/100 test runs, no_op")
        assert "task" not in edit(client, "x = 2", "x = 3")["meta"]
        assert edit(client, "x = 3", "x = 3")["meta"]["task"] == {"flags": ["no_op"]}
        assert client.call("task_status")["result"]["mutations"] == "4/200"


def test_the_same_failure_after_an_edit_is_flagged(cpl: Cpl) -> None:
    toys = Cpl(cpl.repo, cpl.env, CPL_WITH_TOYS)
    run = {"kind": "test_run", "failure": "tests/test_a.py::test_a"}
    with toys.mcp("--profile", "full") as client:
        client.open()
        assert "task" not in client.call("toy_mutate", run)["meta"]
        assert "task" not in client.call("toy_mutate", run)["meta"], "nothing was changed in between"
        edit(client, "x = 1", "x = 2")
        assert client.call("toy_mutate", run)["meta"]["task"] == {"flags": ["non_progress"]}
        assert shown(cpl, "task")[0].endswith("1/200 changes, 3/100 test runs, non_progress")


def test_a_task_does_not_outlive_its_server(cpl: Cpl) -> None:
    with cpl.mcp("--profile", "full") as client:
        task = client.open().call("task_open", {"label": "long"})["meta"]["task_id"]
        edit(client, "x = 1", "x = 2")
        os.kill(client.process.pid, signal.SIGKILL)
        client.process.wait(PATIENCE)
    assert shown(cpl, "task") == [
        f'{task} "long" OPEN (its server has ended), 1/200 changes, 0/100 test runs'
    ]
    with cpl.mcp("--profile", "full") as client:
        answer = client.open().call("task_status", {"task_id": task})
        assert (answer["result"]["state"], answer["result"]["mutations"]) == ("CLOSED_INTERRUPTED", "1/200")
        assert answer["meta"]["task_state"] == "OPEN" and answer["meta"]["task_id"] != task
        ended = f'{task} "long" CLOSED_INTERRUPTED (the server ended), 1/200 changes, 0/100 test runs'
        assert shown(cpl, "task") == [] and shown(cpl, "last task") == [ended]
        meta = edit(client, "x = 2", "x = 3")["meta"]
        assert meta["task_state"] == "OPEN" and meta["task_id"] != task
        assert [line.split()[0] for line in shown(cpl, "task")] == [meta["task_id"]]
    assert (cpl.repo / "a.py").read_text() == "x = 3\n"
