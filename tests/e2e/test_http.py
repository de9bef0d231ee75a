"""MCP over HTTP: both protocol eras, profiles, sessions, progress, and the goodbye of a stopping server."""

import http.client
import json
import signal
from typing import Any

import pytest

from tests.drive import CLIENT_INFO, Cpl, Server
from tests.zygote import PATIENCE

MODERN = "2026-07-28"
ACCEPT = "application/json, text/event-stream"


def post(
    server: Server, path: str, message: dict[str, Any], **headers: str
) -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    sent = {"Content-Type": "application/json", "Accept": ACCEPT, **server.headers, **headers}
    connection.request("POST", path, json.dumps(message), sent)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response, text


def modern(server: Server, method: str, params: dict[str, Any], path: str = "/mcp", **headers: str) -> str:
    meta = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
        "io.modelcontextprotocol/clientCapabilities": {},
        "codeplane/structured": True,
        **params.pop("_meta", {}),
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    names = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
    if "name" in params:
        names["Mcp-Name"] = params["name"]
    return post(server, path, message, **names, **headers)[1]


def call(server: Server, tool: str, arguments: dict[str, Any], **options: Any) -> dict[str, Any]:
    answer = json.loads(modern(server, "tools/call", {"name": tool, "arguments": arguments}, **options))
    body: dict[str, Any] = answer["result"]["structuredContent"]
    return body


def tools(server: Server, path: str) -> set[str]:
    return {t["name"] for t in json.loads(modern(server, "tools/list", {}, path))["result"]["tools"]}


def test_each_profile_has_its_own_tools(server: Server) -> None:
    standard, full, read = (tools(server, path) for path in ("/mcp", "/mcp/full", "/mcp/read"))
    assert "toy_write" in full and "toy_write" not in standard | read
    assert standard <= full and read <= full and "describe" in standard & read


def test_a_tool_of_another_profile_says_how_to_get_it(server: Server) -> None:
    body = call(server, "toy_write", {"name": "w"}, path="/mcp/read")
    assert body["error"]["name"] == "UNKNOWN_TOOL" and "profile" in body["error"]["message"]
    assert "cpl call toy_write" in body["error"]["hints"][0] and "/mcp/full" in body["error"]["hints"][1]


def test_the_answer_is_text_and_data_only_for_who_asks(server: Server) -> None:
    def answer(asked: bool, **headers: str) -> dict[str, Any]:
        params = {
            "name": "toy_echo",
            "arguments": {"text": "hällo"},
            "_meta": {"codeplane/structured": asked},
        }
        result: dict[str, Any] = json.loads(modern(server, "tools/call", params, **headers))["result"]
        assert result["content"][0]["text"].startswith("text: hällo\n")
        return result

    assert "structuredContent" not in answer(asked=False)
    assert answer(asked=True)["structuredContent"]["result"]["text"] == "hällo"
    assert "structuredContent" in answer(asked=False, **{"X-CodePlane-Structured": "1"})


def test_a_client_program_is_one_session_unless_it_names_another(server: Server) -> None:
    one, two = (call(server, "toy_echo", {"text": "x"})["meta"]["session_id"] for _ in range(2))
    named = call(server, "toy_echo", {"text": "x"}, **{"X-CodePlane-Session": "mine"})["meta"]
    assert one == two and named["session_id"] == "mine" and named["task_id"].startswith("task_")
    params = {"name": "toy_echo", "arguments": {"text": "x"}, "_meta": {"codeplane/session": "in-meta"}}
    meta = json.loads(modern(server, "tools/call", params))["result"]["structuredContent"]["meta"]
    assert meta["session_id"] == "in-meta"


def test_progress_is_sent_while_the_call_runs(server: Server) -> None:
    params = {
        "name": "toy_slow",
        "arguments": {"steps": 3, "step_sec": 0.01},
        "_meta": {"progressToken": "p"},
    }
    events = [
        json.loads(line[6:])
        for line in modern(server, "tools/call", params).splitlines()
        if line[:5] == "data:"
    ]
    progress = [e["params"]["progress"] for e in events if e.get("method") == "notifications/progress"]
    assert progress == [1, 2, 3] and events[-1]["result"]["structuredContent"]["result"] == {"steps": 3}


def test_a_failure_shows_no_traceback(server: Server, shared: Cpl) -> None:
    text = modern(server, "tools/call", {"name": "toy_broken", "arguments": {}})
    assert "INTERNAL_ERROR" in text and "Traceback" not in text and "secret detail" not in text
    assert shared.json("status")["server"]["last_error"]["name"] == "ZeroDivisionError"


def test_metrics_count_calls_by_outcome(server: Server) -> None:
    call(server, "toy_echo", {"wrong": 1})
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", "/metrics", headers=server.headers)
    text = connection.getresponse().read().decode()
    connection.close()
    assert 'codeplane_tool_calls_total{outcome="invalid_argument",tool="toy_echo"}' in text
    for metric in ("sessions_open", "uptime_seconds", "process_resident_memory_bytes", "process_open_files"):
        assert f"codeplane_{metric} " in text


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"[" * 10_000])
def test_a_malformed_message_is_refused_and_survived(server: Server, body: bytes) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    sent = {"Content-Type": "application/json", "Accept": ACCEPT, **server.headers}
    connection.request("POST", "/mcp", body, sent)
    response = connection.getresponse()
    assert 400 <= response.status < 500 and b"Traceback" not in response.read()
    connection.close()
    assert call(server, "toy_echo", {"text": "x"})["result"]["text"] == "x"


def open_legacy(server: Server) -> str:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}
    response, _ = post(server, "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    return response.headers["mcp-session-id"]


def test_an_event_stream_hears_that_the_server_stops(cpl: Cpl) -> None:
    with cpl.up() as server:
        session = open_legacy(server)
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        connection.request(
            "GET",
            "/mcp",
            headers={**server.headers, "Accept": "text/event-stream", "Mcp-Session-Id": session},
        )
        stream = connection.getresponse()
        assert stream.status == 200
        server.process.send_signal(signal.SIGTERM)
        assert "event: shutdown" in stream.read().decode()
        stream.close()
        connection.close()
        assert server.process.wait(PATIENCE) == 0


def test_a_handshake_session_is_a_session_of_its_own(server: Server) -> None:
    ids = set()
    for _ in range(2):
        session = open_legacy(server)
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"}
        structured = {"codeplane/structured": True}
        params = {"name": "toy_echo", "arguments": {"text": "x"}, "_meta": structured}
        _, text = post(server, "/mcp", {**message, "params": params}, **{"Mcp-Session-Id": session})
        data = next(line[6:] for line in text.splitlines() if line.startswith("data: {"))
        ids.add(json.loads(data)["result"]["structuredContent"]["meta"]["session_id"])
    assert len(ids) == 2
