"""A call that needs trust asks the user where the client can be asked, in both ways that MCP has for it."""

import json
from typing import Any

import pytest

from tests.drive import CLIENT_INFO, Cpl, Server, Stdio
from tests.e2e.test_http import MODERN, post

TEST = {"name": "run_test_targets", "arguments": {"target_filter": "test_a"}}
YES = {"action": "accept", "content": {"trust": True}}
NO_ANSWERS: list[dict[str, Any]] = [
    {"action": "decline"},
    {"action": "cancel"},
    {"action": "accept", "content": {"trust": False}},
    {"action": "accept", "content": {}},
]


@pytest.fixture
def tested(cpl: Cpl) -> Cpl:
    (cpl.repo / "test_a.py").write_text("def test_a():\n    pass\n")
    (cpl.repo / "pytest.ini").write_text("[pytest]\n")
    return cpl


def answered(client: Stdio, answer: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Calls the tool and answers what the server asks; the questions and the result."""
    asked, questions = client.ask("tools/call", TEST), []
    while True:
        message = client.answer()
        if message.get("method") == "elicitation/create":
            questions.append(message["params"]["message"])
            client.send({"jsonrpc": "2.0", "id": message["id"], "result": answer})
        elif message.get("id") == asked and "method" not in message:
            return questions, message["result"]["structuredContent"]


def test_the_user_is_asked_in_the_middle_of_the_call(tested: Cpl) -> None:
    with tested.mcp() as process:
        questions, body = answered(process.open(elicitation={}), YES)
    assert len(questions) == 1 and str(tested.repo) in questions[0]
    assert "1 passed" in body["result"]["summary"]
    assert tested.json("trust", "--show")["trusted"] is True


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_anything_but_yes_is_no_and_is_not_asked_again(tested: Cpl, answer: dict[str, Any]) -> None:
    with tested.mcp() as process:
        client = process.open(elicitation={"form": {}})
        questions, body = answered(client, answer)
        assert len(questions) == 1 and body["error"]["name"] == "NOT_TRUSTED"
        questions, body = answered(client, YES)
        assert not questions and body["error"]["hints"] == ["cpl trust"]
    assert tested.json("trust", "--show")["trusted"] is False


def test_a_client_that_shows_no_forms_is_not_asked(tested: Cpl) -> None:
    with tested.mcp() as process:
        questions, body = answered(process.open(elicitation={"url": {}}), YES)
    assert not questions and body["error"]["name"] == "NOT_TRUSTED"


def modern(server: Server, **more: Any) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
        "codeplane/structured": True,
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {**TEST, "_meta": meta, **more}}
    names = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "run_test_targets"}
    text = post(server, "/mcp", message, **names)[1]
    lines = [line[5:] for line in text.splitlines() if line.startswith("data:")] or [text]
    result: dict[str, Any] = json.loads(lines[-1])["result"]
    return result


def test_the_call_is_answered_with_the_question_and_repeated_with_the_answer(tested: Cpl) -> None:
    with tested.up() as server:
        invented = modern(server, inputResponses={"trust": YES}, requestState="invented")
        asked = modern(server)
        assert asked["resultType"] == invented["resultType"] == "input_required"
        assert asked["inputRequests"]["trust"]["method"] == "elicitation/create"
        assert tested.json("trust", "--show")["trusted"] is False
        done = modern(server, inputResponses={"trust": YES}, requestState=asked["requestState"])
        assert "1 passed" in done["structuredContent"]["result"]["summary"]
    assert tested.json("trust", "--show")["trusted"] is True
