"""Tests run through a real client of `cpl mcp`: trust, progress, cancellation, time."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.drive import Cpl, Stdio, eventually, new_repo, user_env
from tests.testrun.project import left

FILES = {
    ".gitignore": ".venv\n__pycache__/\n",
    "app.py": "def one():\n    return 1\n",
    "tests/test_app.py": "from app import one\n\n\ndef test_one():\n    assert one() == 1\n",
    "tests/test_slow.py": "import time\n\n\ndef test_slow():\n    time.sleep(1.5)\n",
    "tests/test_hangs.py": "import time\n\n\ndef test_hangs():\n    time.sleep(87)\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Cpl:
    cpl = Cpl(new_repo(tmp_path / "shop", FILES), user_env(tmp_path / "home"))
    (cpl.repo / ".venv").symlink_to(sys.prefix)
    return cpl


def ask(client: Stdio, arguments: dict[str, Any]) -> int:
    call = {"name": "run_test_targets", "arguments": arguments, "_meta": {"progressToken": "p"}}
    return client.ask("tools/call", call)


def until_answered(client: Stdio, asked: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    heard: list[dict[str, Any]] = []
    while True:
        message = client.answer()
        if message.get("id") == asked:
            return message["result"]["structuredContent"], heard
        heard.append(message)


def test_tests_are_run_once_the_user_trusts_the_repository(shop: Cpl) -> None:
    with shop.mcp() as process:
        error = process.open().call("run_test_targets", {"target_filter": "test_app"})["error"]
        assert (error["code"], error["hints"][0]) == (2005, "cpl trust")
    assert shop.run("trust").returncode == 0
    # A run has its own deadline, whatever that of other calls is.
    shop.env["CODEPLANE__SERVER__CALL_TIMEOUT_SEC"] = "1"
    with shop.mcp() as process:
        client = process.open()
        body, heard = until_answered(client, ask(client, {"target_filter": "test_slow"}))
        assert body["result"]["summary"].startswith("1 passed in 1 target,"), body
        told = [
            one["params"].get("message") for one in heard if one.get("method") == "notifications/progress"
        ]
        assert "tests/test_slow.py" in told


def test_trust_holds_at_once_in_a_running_server(shop: Cpl) -> None:
    with shop.mcp() as process:
        client = process.open()
        refused = client.call("run_test_targets", {"target_filter": "test_app"})["error"]
        assert refused["hints"] == ["cpl trust"]
        shop.run("trust")
        assert client.call("run_test_targets", {"target_filter": "test_app"})["result"]["summary"]
        shop.run("trust", "--revoke")
        assert "error" in client.call("run_test_targets", {"target_filter": "test_app"})


def test_settings_that_trust_brings_in_count_at_once_or_say_what_is_wrong(shop: Cpl) -> None:
    with shop.mcp() as process:
        client = process.open()
        assert "result" in client.call("list_files")
        (shop.repo / ".codeplane" / "config.yaml").write_text("server: {call_timeout_sec: -1}\n")
        assert "result" in client.call("list_files"), "nobody has trusted it"
        shop.run("trust")
        for _ in range(2):
            assert client.call("list_files")["error"]["name"] == "INVALID_SETTING"
        (shop.repo / ".codeplane" / "config.yaml").write_text("tests: {exclude: ['**']}\n")
        assert "result" in client.call("list_files")
        refused = client.call("run_test_targets", {"target_filter": "test_app"})
        assert "passed" not in json.dumps(refused), "the setting excludes every test"


def test_a_secret_opens_at_the_users_word_and_not_by_a_file(shop: Cpl) -> None:
    (shop.repo / ".env").write_text("TOKEN = 'top'\n")
    shop.run("trust")
    with shop.mcp() as process:
        client = process.open()
        rules = {"path": ".cplignore", "action": "create", "content": "!.env\n"}
        assert "result" in client.call("write_source", {"edits": [rules]})
        ask = {"targets": [{"path": ".env"}]}
        assert "top" not in json.dumps(client.call("read_source", ask))
        assert "!.env" in shop.run("trust", "--secrets").stdout
        assert "top" in json.dumps(client.call("read_source", ask))
        (shop.repo / ".npmrc").write_text("token = top\n")
        (shop.repo / ".cplignore").write_text("!.env\n!.npmrc\n")
        assert "top" not in json.dumps(client.call("read_source", {"targets": [{"path": ".npmrc"}]}))
        shop.run("trust", "--revoke")
        assert "top" not in json.dumps(client.call("read_source", ask))


def test_a_cancelled_run_leaves_no_process(shop: Cpl) -> None:
    shop.run("trust")
    with shop.mcp("--profile", "full") as process:
        client = process.open()
        asked = ask(client, {"target_filter": "test_hangs"})
        while "test_hangs" not in str(client.answer()):
            pass
        client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": asked}})
        eventually(lambda: not left("codeplane_pytest"))
        # The row is written when all of them are gone.
        eventually(lambda: "CANCELLED" in json.dumps(client.call("task_status")["result"]))


def test_a_run_from_the_command_line(shop: Cpl) -> None:
    shop.run("trust")
    (shop.repo / "app.py").write_text("def one():\n    return 2\n")
    began = time.monotonic()
    done = shop.run("call", "run_test_targets", '{"affected_by": "changes"}')
    assert "assert 2 == 1" in done.stdout, (done.stdout, done.stderr, time.monotonic() - began)


def test_doctor_tells_which_runners_are_missing(shop: Cpl) -> None:
    [told] = [one for one in shop.json("doctor")["checks"] if one["check"] == "tests"]
    assert told["outcome"] == "note" and "cpl trust" in told["detail"]
    shop.run("trust")
    assert {"check": "tests", "outcome": "ok", "detail": "pytest is installed"} in shop.json("doctor")[
        "checks"
    ]
    (shop.repo / ".venv").unlink()
    (shop.repo / ".venv" / "bin").mkdir(parents=True)
    (shop.repo / ".venv" / "bin" / "python").symlink_to("/bin/false")
    done = shop.run("doctor")
    assert "Test runner 'pytest' not found" in done.stdout and "pip install pytest" in done.stdout
    assert done.returncode == 0
