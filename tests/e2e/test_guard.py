"""The guard, tried from outside on every route that the application has."""

import http.client
import json
import socket
import stat
import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from starlette.routing import Route

from codeplane.server.profiles import profiles
from codeplane.server.transport.guard import GuardRules
from codeplane.server.transport.http import HttpApp
from codeplane.tools import all_tools
from tests.drive import Cpl, Server, eventually

OPERATOR_ROUTES = ["/health", "/ready", "/status", "/metrics"]


def application_routes() -> list[str]:
    """The routes of the application itself, so that a new one is tried without being listed here."""
    paths = [profile.path for profile in profiles(all_tools()).values()]
    rules = GuardRules(1, "t", "/", 1024, 1)
    app = HttpApp({path: Mock() for path in paths}, rules, Mock(), dict)
    return [route.path for route in app.routes if isinstance(route, Route)]


ROUTES = application_routes()


def ask(
    server: Server, path: str, headers: dict[str, str], method: str = "GET", body: bytes = b""
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders(body or None)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


def test_the_routes_are_the_ones_that_are_documented() -> None:
    endpoints = ["/mcp", "/mcp/full", "/mcp/read", "/mcp/controller"]
    assert sorted(ROUTES) == sorted([*OPERATOR_ROUTES, *endpoints])


@pytest.mark.parametrize("path", [*ROUTES, "/", "/nothing/here"])
@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1"}, 421),
        ({"Host": "127.0.0.1:1"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": "Basic {token}"}, 401),
        ({"Authorization": "Bearer {token}x"}, 401),
        ({"Content-Length": "99999999"}, 413),
    ],
)
def test_a_request_that_is_not_ours_is_refused(
    server: Server, path: str, change: dict[str, str], status: int
) -> None:
    headers = {**server.headers, **{k: v.format(token=server.token) for k, v in change.items()}}
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        assert ask(server, path, headers, method).status == status


@pytest.mark.parametrize("path", ROUTES)
def test_a_request_without_a_token_is_refused(server: Server, path: str) -> None:
    response = ask(server, path, {})
    assert (response.status, response.headers["WWW-Authenticate"]) == (401, "Bearer")


@pytest.mark.parametrize("path", OPERATOR_ROUTES)
def test_the_right_token_is_let_in(server: Server, shared: Cpl, path: str) -> None:
    headers = {**server.headers, "Origin": f"http://127.0.0.1:{server.port}"}
    if path == "/ready":
        eventually(lambda: ask(server, path, headers).status == 200)
    response = ask(server, path, headers)
    assert response.status == 200
    assert response.headers["X-CodePlane-Repo"] == str(shared.repo)


def test_two_hosts_or_two_tokens_are_not_taken_for_one(server: Server) -> None:
    own = f"Host: 127.0.0.1:{server.port}\r\n"
    good = f"Authorization: Bearer {server.token}\r\n"
    assert raw(server, f"GET /health HTTP/1.1\r\n{own}{good}\r\n")[9:12] == b"200"
    assert raw(server, f"GET /health HTTP/1.1\r\n{own}Host: evil\r\n{good}\r\n")[9:12] in (b"400", b"421")
    assert raw(server, f"GET /health HTTP/1.1\r\n{own}{good}Authorization: Bearer x\r\n\r\n")[9:12] == b"401"


@pytest.mark.parametrize("path", ROUTES)
def test_a_body_that_is_too_large_is_cut_off_while_it_arrives(server: Server, path: str) -> None:
    head = head_of(server, path) + "Transfer-Encoding: chunked\r\n\r\n"
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as peer:
        peer.sendall(head.encode())
        try:
            for _ in range(8):
                peer.sendall(chunk)
        except ConnectionError:
            pass
        assert peer.recv(64)[9:12] == b"413"


@pytest.mark.parametrize("path", ROUTES)
def test_a_body_that_comes_too_slowly_is_given_up(server: Server, path: str) -> None:
    head = head_of(server, path) + "Content-Length: 100\r\n\r\n{"
    started = time.monotonic()
    assert raw(server, head)[9:12] == b"408"
    assert time.monotonic() - started < 5


def test_a_page_of_another_site_does_not_learn_where_the_repository_is(server: Server) -> None:
    for change in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
        response = ask(server, "/status", {**server.headers, **change})
        assert "X-CodePlane-Repo" not in response.headers
    assert "X-CodePlane-Repo" in ask(server, "/status", {}).headers


def test_the_server_listens_on_loopback_only(server: Server) -> None:
    listening = {
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
        if line.split()[3] == "0A" and int(line.split()[1].split(":")[1], 16) == server.port
    }
    assert listening == {f"0100007F:{server.port:04X}"}


def test_the_token_is_private_and_in_no_log(server: Server, shared: Cpl) -> None:
    state = shared.repo / ".codeplane"
    assert stat.S_IMODE((state / "token").stat().st_mode) == 0o600
    ask(server, "/mcp", {**server.headers, "Content-Type": "application/json"}, "POST", b"{")
    ask(server, "/status?token=" + server.token, {})
    for log in (state / "logs").iterdir():
        assert server.token not in log.read_text()
    shown = shared.run("status", "--verbose", "--json").stdout + shared.run("doctor", "--json").stdout
    assert server.token not in shown


def test_refusals_are_json_and_short(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/health")
    body = json.loads(connection.getresponse().read())
    connection.close()
    assert body["error"]["details"] == {"status": 401}
    assert (body["error"]["code"], body["error"]["name"]) == (1014, "REQUEST_REFUSED")


@pytest.mark.parametrize(
    ("method", "path", "status", "name"),
    [("GET", "/nowhere", 404, "NOT_FOUND"), ("DELETE", "/status", 405, "REQUEST_REFUSED")],
)
def test_what_the_router_refuses_has_the_shape_of_every_error(
    server: Server, method: str, path: str, status: int, name: str
) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers=server.headers)
    response = connection.getresponse()
    error = json.loads(response.read())["error"]
    connection.close()
    assert (response.status, error["name"]) == (status, name)
    assert {"code", "name", "message", "retryable"} <= error.keys()


def head_of(server: Server, path: str) -> str:
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
    )


def raw(server: Server, request: str) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as peer:
        peer.sendall(request.encode())
        return peer.recv(4096)


def test_connections_that_say_nothing_starve_nobody(server: Server) -> None:
    silent = []
    try:
        for number in range(600):
            peer = socket.create_connection(("127.0.0.1", server.port), timeout=10)
            peer.sendall(b"GET /health HT" if number % 2 else b"")
            silent.append(peer)
        for _ in range(5):
            assert ask(server, "/health", server.headers).status == 200
    finally:
        for peer in silent:
            peer.close()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-Infinity", "[NaN]"])
def test_an_id_that_is_none_is_not_echoed_as_broken_json(server: Server, shared: Cpl, number: str) -> None:
    line = f'{{"jsonrpc": "2.0", "id": {number}, "method": "ping"}}'

    def strict(text: str) -> object:
        return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))

    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request("POST", "/mcp", line, {**server.headers, **headers})
    text = connection.getresponse().read().decode()
    connection.close()
    for part in [one[5:] for one in text.splitlines() if one.startswith("data:")] or [text]:
        strict(part)
    with shared.mcp() as client:
        assert client.process.stdin is not None and client.process.stdout is not None
        client.open()
        client.process.stdin.write(line.encode() + b"\n")
        client.process.stdin.flush()
        answer = client.answer()
    assert answer["error"]["code"] in (-32600, -32700) and answer["id"] is None
    strict(json.dumps(answer))
