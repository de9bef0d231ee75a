"""Several `cpl mcp` on one repository: one serves, the others join, and nobody loses a call."""

import json
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.drive import Cpl, eventually


def pid_of_server(cpl: Cpl) -> int:
    return int(cpl.json("status")["server"]["pid"])


def test_the_second_joins_the_first(cpl: Cpl) -> None:
    with cpl.mcp() as first, cpl.mcp() as second:
        one, two = (client.open().call("describe")["meta"] for client in (first, second))
        assert one["session_id"] != two["session_id"]
        assert pid_of_server(cpl) in (first.process.pid, second.process.pid)
        assert cpl.json("status")["server"]["sessions"] == 2


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_another_takes_over_and_the_handshake_is_repeated(cpl: Cpl, how: signal.Signals) -> None:
    with cpl.mcp() as first:
        first.open()
        with cpl.mcp() as second, cpl.mcp() as third:
            for client in (second, third):
                client.open().call("describe")
            first.process.send_signal(how)
            first.process.wait()
            for client in (second, third):
                assert client.call("describe")["result"]["branch"] == "main"
            assert pid_of_server(cpl) in (second.process.pid, third.process.pid)


def test_a_read_that_was_running_is_done_again(toy_cpl: Cpl) -> None:
    with toy_cpl.mcp() as first:
        first.open()
        with toy_cpl.mcp() as second:
            second.open()
            second.ask("tools/call", {"name": "toy_slow", "arguments": {"steps": 10, "step_sec": 0.1}})
            second.request("ping")
            first.process.kill()
            assert second.answer()["result"]["structuredContent"]["result"] == {"steps": 10}


def test_a_write_that_was_running_is_not_done_again(toy_cpl: Cpl) -> None:
    with toy_cpl.mcp() as first:
        first.open()
        with toy_cpl.mcp("--profile", "full") as second:
            second.open()
            second.ask("tools/call", {"name": "toy_write", "arguments": {"name": "w", "seconds": 30}})
            file = toy_cpl.repo / ".codeplane" / "w"
            eventually(lambda: file.exists() and file.read_text() == "begun\n")
            first.process.kill()
            body = second.answer()["result"]["structuredContent"]
            assert body["error"]["name"] == "CALL_INTERRUPTED"
            second.call("describe")
            assert file.read_text() == "begun\n"


def test_calls_that_had_not_started_are_all_answered(toy_cpl: Cpl) -> None:
    with toy_cpl.mcp() as first:
        first.open()
        with toy_cpl.mcp() as second:
            second.open()
            asked = [
                second.ask("tools/call", {"name": "toy_slow", "arguments": {"steps": 3, "step_sec": 0.1}})
                for _ in range(30)
            ]
            first.process.kill()
            asked += [
                second.ask("tools/call", {"name": "toy_echo", "arguments": {"text": str(n)}})
                for n in range(30)
            ]
            answers = {message["id"]: message for message in (second.answer(30) for _ in asked)}
            assert sorted(answers) == asked
            assert not any(answers[n]["result"].get("isError") for n in asked)


def test_a_crowd_starting_at_once_agrees_on_one_server(cpl: Cpl) -> None:
    def visit(_: int) -> str:
        with cpl.mcp() as client:
            return str(client.open().call("describe")["result"]["repo_id"])

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(visit, range(6)))) == 1
    assert cpl.run("status").returncode == 3


def test_an_unknown_profile_is_named(cpl: Cpl) -> None:
    done = cpl.run("mcp", "--profile", "standart")
    assert done.returncode == 2 and "did you mean 'standard'?" in done.stderr


def test_nonsense_on_stdin_is_answered_and_survived(cpl: Cpl) -> None:
    with cpl.mcp() as client:
        client.open()
        assert client.process.stdin is not None
        client.process.stdin.write(b"this is not json\n\n\xff\xfe\n[1]\n")
        client.process.stdin.flush()
        errors = [client.answer()["error"]["code"] for _ in range(3)]
        assert errors == [-32700, -32700, -32700]
        assert client.call("describe")["result"]["branch"] == "main"


def test_a_stranger_on_the_socket_gets_nothing(cpl: Cpl) -> None:
    with cpl.up():
        path = json.loads((cpl.repo / ".codeplane" / "server.json").read_text())["socket"]
        for line in (b"GET / HTTP/1.1\r\n", b'{"codeplane": 1}\n', b"[]\n", b"\x00" * 100 + b"\n"):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(10)
                stranger.connect(path)
                stranger.sendall(line)
                assert stranger.recv(100) == b""
        assert cpl.run("status").returncode == 0
