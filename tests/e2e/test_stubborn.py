"""Clients that do not read, hang up, or send what nobody understands: only they are worse off."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time

import pytest

from tests.drive import CLIENT_INFO, Cpl, Server, eventually
from tests.zygote import PATIENCE

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT_INFO}


def flood(server: Server, count: int) -> list[socket.socket]:
    """Asks for large answers over HTTP and reads none of them."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    headers = {
        **server.headers,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
    connection.request("POST", "/mcp", json.dumps(hello), headers)
    answer = connection.getresponse()
    session = answer.headers["mcp-session-id"]
    answer.read()
    connection.close()
    peers = []
    for number in range(count):
        call = {"name": "describe", "arguments": {"name": "x" * 3_000_000}}
        body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}).encode()
        peer = socket.create_connection(("127.0.0.1", server.port))
        head = "".join(f"{k}: {v}\r\n" for k, v in {**headers, "Mcp-Session-Id": session}.items())
        first = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: {len(body)}\r\n"
        peer.sendall((first + head + "\r\n").encode() + body)
        peers.append(peer)
    return peers


def test_a_stdio_client_that_does_not_read_holds_up_nobody(cpl: Cpl) -> None:
    with subprocess.Popen(
        [*cpl.program, "mcp"], cwd=cpl.repo, env=cpl.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as stubborn:
        assert stubborn.stdin is not None
        stubborn.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode() + b"\n"
        )
        for number in range(1, 60):
            call = {"name": "describe", "arguments": {"name": "x" * 20_000}}
            message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
            stubborn.stdin.write(json.dumps(message).encode() + b"\n")
        stubborn.stdin.flush()
        eventually(lambda: (cpl.repo / ".codeplane" / "port").exists())
        with cpl.mcp() as other:
            assert other.open().call("describe")["result"]["branch"] == "main"
        stubborn.send_signal(signal.SIGTERM)
        assert stubborn.wait(PATIENCE) == 0


def test_http_clients_that_do_not_read_do_not_stop_the_stop(toy_cpl: Cpl) -> None:
    with toy_cpl.up() as server:
        peers = flood(server, 4)
        time.sleep(1)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0
        for peer in peers:
            peer.close()


def test_a_relay_client_that_does_not_read_does_not_stop_the_stop(toy_cpl: Cpl) -> None:
    with toy_cpl.up() as server:
        serving = json.loads((toy_cpl.repo / ".codeplane" / "server.json").read_text())
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(serving["socket"])
            state = str(toy_cpl.repo / ".codeplane")
            peer.sendall(json.dumps({"codeplane": {"state": state, "profile": "full"}}).encode() + b"\n")
            hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
            peer.sendall(json.dumps(hello).encode() + b"\n")
            for number in range(1, 20):
                call = {"name": "describe", "arguments": {"name": "x" * 100_000}}
                message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}
                peer.sendall(json.dumps(message).encode() + b"\n")
            time.sleep(1)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(PATIENCE) == 0


def test_progress_that_nobody_takes_does_not_keep_a_worker(toy_cpl: Cpl) -> None:
    with toy_cpl.up("--set", "server.workers=1") as server:
        serving = json.loads((toy_cpl.repo / ".codeplane" / "server.json").read_text())
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(serving["socket"])
            state = str(toy_cpl.repo / ".codeplane")
            peer.sendall(json.dumps({"codeplane": {"state": state, "profile": "full"}}).encode() + b"\n")
            hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
            call = {"name": "toy_progress_write", "arguments": {"steps": 60}, "_meta": {"progressToken": 1}}
            for message in (hello, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}):
                peer.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
                if message is hello:
                    peer.sendall(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
            time.sleep(0.5)
            started = time.monotonic()
            assert toy_cpl.json("call", "toy_echo", '{"text": "x"}')["result"]["text"] == "x"
            assert time.monotonic() - started < 8
        assert server.process.poll() is None


def test_a_client_that_closes_its_side_of_stdout_ends_it(cpl: Cpl) -> None:
    with subprocess.Popen(
        [*cpl.program, "mcp"], cwd=cpl.repo, env=cpl.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.close()
        process.stdin.write(
            json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}).encode() + b"\n"
        )
        process.stdin.flush()
        assert process.wait(PATIENCE) == 0


def test_an_id_that_is_no_text_does_not_end_the_reading(cpl: Cpl) -> None:
    with cpl.mcp() as client:
        client.open()
        assert client.process.stdin is not None
        client.process.stdin.write(b'{"jsonrpc":"2.0","id":"\xff","x":"' + b"y" * 4_300_000 + b'"}\n')
        client.process.stdin.flush()
        assert client.answer()["id"] is None
        assert client.call("describe")["result"]["branch"] == "main"
        client.process.stdin.close()
        assert client.process.wait(PATIENCE) == 0


def test_a_message_that_cannot_be_read_is_answered_under_its_id(cpl: Cpl) -> None:
    with cpl.mcp() as client:
        client.open()
        assert client.process.stdin is not None
        deep = "[" * 5000 + "]" * 5000
        client.process.stdin.write(
            b'{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"describe","arguments":{"a":'
            + deep.encode()
            + b"}}}\n"
        )
        client.process.stdin.flush()
        assert client.answer()["id"] == 77


@pytest.mark.parametrize("arguments", ['{"nmae":"\\ud800"}', '{"a":' + "[" * 600 + "]" * 600 + "}"])
def test_a_call_that_cannot_be_carried_is_answered(cpl: Cpl, arguments: str) -> None:
    with cpl.up():
        done = cpl.run("call", "describe", arguments)
    assert done.returncode == 1 and "Traceback" not in done.stderr


def test_connections_without_a_request_are_closed(cpl: Cpl) -> None:
    with cpl.up() as server, socket.create_connection(("127.0.0.1", server.port), timeout=15) as slow:
        slow.sendall(b"GET /health HTTP/1.1\r\nHost: ")
        assert slow.recv(10) == b""


@pytest.mark.parametrize(
    ("target", "arguments", "code"),
    [
        ("/dev/full", [], 6),
        (None, ["--set", "logging.outputs=[{destination: /does/not/exist.log}]"], 2),
    ],
)
def test_an_output_that_cannot_be_written_is_one_message(
    cpl: Cpl, target: str | None, arguments: list[str], code: int
) -> None:
    out = os.open(target, os.O_WRONLY) if target else subprocess.DEVNULL
    done = subprocess.run(
        [*cpl.program, "up", *arguments],
        cwd=cpl.repo,
        env=cpl.env,
        stdout=out,
        stderr=subprocess.PIPE,
        timeout=30,
    )
    assert done.returncode == code and b"Traceback" not in done.stderr


def test_two_orderly_stops_in_a_row_lose_no_call(toy_cpl: Cpl) -> None:
    with toy_cpl.mcp() as survivor:
        survivor.open()
        call = {"name": "toy_echo", "arguments": {"text": "x"}}
        for _ in range(3):
            with toy_cpl.mcp() as other:
                other.open().call("toy_echo", {"text": "y"})
                asked = [survivor.ask("tools/call", call) for _ in range(10)]
                pid = toy_cpl.json("status")["server"]["pid"]
                if pid == other.process.pid:
                    other.process.send_signal(signal.SIGTERM)
                answers = [survivor.answer() for _ in asked]
                assert all("result" in a["result"]["structuredContent"] for a in answers)


def test_a_second_signal_does_not_wait(toy_cpl: Cpl) -> None:
    with toy_cpl.up("--set", "server.shutdown_timeout_sec=60") as server, toy_cpl.mcp() as client:
        client.open()
        client.ask("tools/call", {"name": "toy_slow", "arguments": {"steps": 10_000}})
        time.sleep(0.3)
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert server.process.poll() is None
        server.process.send_signal(signal.SIGINT)
        server.process.wait(PATIENCE)
