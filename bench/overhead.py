"""CPU that a trivial tool costs on the server, through the whole pipeline and on bare `mcp`."""

import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.drive import CPL_WITH_TOYS

from bench.measure import MODERN, Figure, ask, cpu_seconds, message, scratch, timed

CALLS = 1500
ROUNDS = 5
ARGUMENTS = {"text": "hello"}
PARAMS = {"name": "toy_echo", "arguments": ARGUMENTS}


def figures() -> list[Figure]:
    with _http_servers() as (ours, peer):
        http_ratio = _ratio(ours, peer, _call_http)
    with _stdio_servers() as (ours, peer):
        stdio_ratio = _ratio(ours, peer, _call_stdio)
    return [
        Figure("tool call over HTTP, CPU", http_ratio[0], "×", 1.3, http_ratio[1]),
        Figure("tool call over stdio, CPU", stdio_ratio[0], "×", None, stdio_ratio[1]),
    ]


def _ratio(ours: Any, peer: Any, call: Any) -> tuple[float, str]:
    """Both are measured in turns, so that a noisy moment meets both; the best round of each counts."""
    call(ours, 200)
    call(peer, 200)
    rounds = [[_spend(target, call) for target in (ours, peer)] for _ in range(ROUNDS)]
    (best, wall), (floor, peer_wall) = (min(column) for column in zip(*rounds, strict=True))
    told = f"{best:.2f} ms a call; bare mcp {floor:.2f} ms (wall {wall:.2f} and {peer_wall:.2f})"
    return best / floor, told


def _spend(target: Any, call: Any) -> tuple[float, float]:
    """CPU of the server and wall time, in milliseconds a call."""
    before = cpu_seconds(target[0])
    wall = timed(lambda: call(target, CALLS))
    return (cpu_seconds(target[0]) - before) / CALLS * 1000, wall / CALLS * 1000


def _call_http(target: Any, count: int) -> None:
    _, port, headers, path = target
    connection = http.client.HTTPConnection("127.0.0.1", port)
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "toy_echo",
        **headers,
    }
    for number in range(count):
        connection.request("POST", path, json.dumps(message("tools/call", PARAMS, number)), sent)
        answer = json.loads(connection.getresponse().read())
        assert "hello" in answer["result"]["content"][0]["text"], answer
    connection.close()


def _call_stdio(target: Any, count: int) -> None:
    for number in range(count):
        answer = ask(target[0], "tools/call", PARAMS, number)
        assert "hello" in answer["result"]["content"][0]["text"], answer


@contextmanager
def _http_servers() -> Iterator[tuple[Any, Any]]:
    with scratch() as (repo, env):
        up = subprocess.Popen(
            [*CPL_WITH_TOYS, "up", "--json", "--set", "logging.level=error"],
            cwd=repo,
            env=env,
            stdout=subprocess.PIPE,
            text=True,
        )
        peer = subprocess.Popen(
            [sys.executable, "-m", "bench.peers", "http"], stdout=subprocess.PIPE, text=True
        )
        try:
            assert up.stdout is not None and peer.stdout is not None
            port = int(json.loads(up.stdout.readline())["url"].rsplit(":", 1)[1])
            token = (repo / ".codeplane" / "token").read_text()
            peer_port = int(peer.stdout.readline())
            yield (up, port, {"Authorization": f"Bearer {token}"}, "/mcp"), (peer, peer_port, {}, "/mcp")
        finally:
            _end(up, peer)


@contextmanager
def _stdio_servers() -> Iterator[tuple[Any, Any]]:
    with scratch() as (repo, env):
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        quiet = {**pipes, "stderr": subprocess.DEVNULL}
        ours = subprocess.Popen([*CPL_WITH_TOYS, "mcp"], cwd=repo, env=env, **quiet)
        peer = subprocess.Popen([sys.executable, "-m", "bench.peers"], **quiet)
        try:
            yield (ours,), (peer,)
        finally:
            _end(ours, peer)


def _end(*processes: "subprocess.Popen[Any]") -> None:
    for process in processes:
        process.terminate()
        process.communicate()
