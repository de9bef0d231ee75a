"""Section 1: the one tool through real clients, over the pipes of `cpl mcp` and over `/mcp/controller`."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.controller.lab import APP
from tests.drive import CLIENT_INFO, Cpl, new_repo, user_env
from tests.e2e.test_http import modern

Ask = Callable[[str, dict[str, Any]], dict[str, Any]]


@pytest.fixture(scope="module", params=["stdio", "http"])
def ask(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Sends one message to the controller's endpoint and returns the whole answer."""
    base = tmp_path_factory.mktemp("transport")
    cpl = Cpl(new_repo(base / "repo", APP), user_env(base / "home"))
    if request.param == "stdio":
        with cpl.mcp("--profile", "controller") as client:
            client.open()
            yield client.request
    else:
        with cpl.up() as server:
            yield lambda method, params: json.loads(modern(server, method, dict(params), "/mcp/controller"))


def turn(ask: Ask, **arguments: Any) -> dict[str, Any]:
    answer = ask("tools/call", {"name": "controller_turn", "arguments": arguments})
    body: dict[str, Any] = answer["result"]["structuredContent"]["result"]
    return body


def test_the_only_tool_is_the_turn_with_verbs_to_choose_from(ask: Ask) -> None:
    [tool] = ask("tools/list", {})["result"]["tools"]
    assert tool["name"] == "controller_turn"
    assert len(tool["inputSchema"]["properties"]["verb"]["enum"]) == 20


def test_an_unknown_method_is_an_error_of_the_protocol(ask: Ask) -> None:
    assert ask("no/such/method", {})["error"]["code"] == -32601


def test_another_tool_is_refused_and_changes_nothing(ask: Ask) -> None:
    answer = ask("tools/call", {"name": "write_source", "arguments": {"path": "pager.py"}})
    assert "error" in answer or answer["result"]["isError"] is True


def test_a_missing_verb_is_denied_with_a_call_that_works(ask: Ask) -> None:
    denial = turn(ask, workId="t1")
    assert denial["denyReasons"] == ["PLAN_SCOPE_VIOLATION"]
    action = denial["suggestedAction"]
    assert turn(ask, workId="t1", verb=action["verb"], **action["args"])["denyReasons"] == []


def test_a_turn_is_answered_in_text_and_in_structure(ask: Ask) -> None:
    arguments = {"verb": "read_file_lines", "targetFile": "pager.py", "workId": "t2"}
    answer = ask("tools/call", {"name": "controller_turn", "arguments": arguments})["result"]
    assert "PLAN_REQUIRED t2" in answer["content"][0]["text"]
    assert answer["structuredContent"]["result"]["result"]["targetFile"] == "pager.py"


def test_a_write_before_a_plan_is_denied_over_the_wire(ask: Ask) -> None:
    edits = [{"oldText": "total // size", "newText": "0"}]
    denial = turn(
        ask, workId="t3", verb="apply_code_patch", planNodeId="n1", targetFile="pager.py", edits=edits
    )
    assert denial["denyReasons"] == ["PLAN_SCOPE_VIOLATION"]
    read = turn(ask, workId="t3", verb="read_file_lines", targetFile="pager.py")
    assert "return total // size" in read["result"]["text"]


def test_the_handshake_names_the_server_and_says_how_to_end(cpl: Cpl) -> None:
    with cpl.mcp("--profile", "controller") as client:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}
        result = client.request("initialize", params)["result"]
        assert result["serverInfo"]["name"]
        assert "signal_task_complete" in result["instructions"]
        client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert client.request("ping")["result"] == {}
