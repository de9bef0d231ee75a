"""Plans from the shell: a preview in one process, the edits in another, with and without a server."""

import json
from contextlib import nullcontext
from typing import Any

import pytest

from tests.drive import Cpl


@pytest.mark.parametrize("servers", [(False, False), (True, True), (True, False), (False, True)])
def test_a_plan_that_one_call_previews_is_applied_by_another(cpl: Cpl, servers: tuple[bool, bool]) -> None:
    store = cpl.repo / "store.py"
    store.write_text("def load(path):\n    return path\n")
    (cpl.repo / "app.py").write_text("from store import load\n\nload(1)\n")

    def call(is_served: bool, tool: str, **arguments: str) -> Any:
        with cpl.up("--set", "server.port=0") if is_served else nullcontext():
            return cpl.json("call", tool, json.dumps(arguments))

    preview = call(servers[0], "refactor_rename", symbol="store.load", new_name="read", apply="never")
    assert "def load(" in store.read_text()
    plan = preview["result"]["plan"]
    assert call(servers[1], "refactor_apply", plan=plan)["result"]["applied"]
    assert "def read(" in store.read_text() and "read(1)" in (cpl.repo / "app.py").read_text()
    error = call(servers[1], "refactor_apply", plan=plan)["error"]
    assert error["name"] == "PLAN_GONE" and not error["retryable"]


def test_a_plan_is_stale_for_the_next_call_from_the_shell(cpl: Cpl) -> None:
    (cpl.repo / "store.py").write_text("def load(path):\n    return path\n")
    asked = {"symbol": "store.load", "new_name": "read", "apply": "never"}
    plan = cpl.json("call", "refactor_rename", json.dumps(asked))["result"]["plan"]
    (cpl.repo / "app.py").write_text("from store import load\n\nload(1)\n")
    error = cpl.json("call", "refactor_apply", json.dumps({"plan": plan}))["error"]
    assert error["name"] == "PLAN_STALE" and not error["retryable"] and "app.py" in error["message"]
