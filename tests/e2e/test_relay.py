"""Several `cpl mcp` on one repository: one serves, the others join, and nobody loses a call."""

import json
import os
import random
import shutil
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.drive import CPL, Cpl, eventually, new_repo
from tests.zygote import PATIENCE


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
            answers = {message["id"]: message for message in (second.answer() for _ in asked)}
            assert sorted(answers) == asked
            assert not any(answers[n]["result"].get("isError") for n in asked)


def test_a_crowd_starting_at_once_agrees_on_one_server(cpl: Cpl) -> None:
    def visit(_: int) -> str:
        with cpl.mcp() as client:
            return str(client.open().call("describe")["result"]["repo_id"])

    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(visit, range(6)))) == 1
    assert cpl.run("status").returncode == 3


def test_a_server_whose_state_is_removed_makes_room_for_the_next(cpl: Cpl) -> None:
    """As `git clean -fdx` does: what is written afterwards is on record, by one server."""
    with cpl.mcp("--profile", "full") as first, cpl.mcp("--profile", "full") as second:
        first.open().call("describe")
        second.open().call("describe")
        shutil.rmtree(cpl.repo / ".codeplane")
        for number, client in enumerate((first, second)):
            new = {"path": f"{number}.txt", "action": "create", "new_content": "x\n"}
            done = client.call("write_source", {"edits": [new]})["result"]["operation"]
            assert client.call("undo", {"operation": done})["result"]["applied"]
        assert pid_of_server(cpl) in (first.process.pid, second.process.pid)
        assert cpl.json("status")["server"]["sessions"] == 2


# Nothing is closed to a superuser but what he gives away himself.
LIKE_A_USER = ("setpriv", "--bounding-set=-dac_override,-dac_read_search") if os.geteuid() == 0 else ()


def test_a_server_outlives_a_repository_that_is_closed_for_a_moment(cpl: Cpl) -> None:
    (cpl.repo / "a.py").write_text("def first(): pass\n")
    with Cpl(cpl.repo, cpl.env, (*LIKE_A_USER, *CPL)).mcp() as client:
        client.open().call("describe")
        cpl.repo.chmod(0)
        closed = client.call("symbols_search", {"query": "first"})
        cpl.repo.chmod(0o755)
        assert closed["result"]["absence"] == "not_indexed"
        assert client.call("symbols_search", {"query": "first"})["result"]["files"]


def damage(index: Path) -> None:
    """Leaves the first page and spoils the others, under whoever has the file open."""
    with index.open("r+b") as file:
        for start in range(4096, index.stat().st_size, 4096):
            file.seek(start + 100)
            file.write(b"\xde\xad" * 1000)


def test_an_index_that_is_damaged_under_a_server_is_made_anew(cpl: Cpl) -> None:
    (cpl.repo / "a.py").write_text("def first(): pass\n")
    cpl.run("init")
    with cpl.mcp() as client:
        client.open()
        damage(cpl.repo / ".codeplane" / "index.db")
        (cpl.repo / "b.py").write_text("def second(): pass\n")
        found = client.call("symbols_search", {"query": "second"})
        if "error" in found:  # otherwise the watcher has come upon the damage before the question
            assert found["error"]["name"] == "INDEX_CORRUPT" and found["error"]["retryable"]
            found = client.call("symbols_search", {"query": "second"})
        assert [file["path"] for file in found["result"]["files"]] == ["b.py"]
        assert "is damaged" in cpl.json("status")["index"]["rebuilt"]
    assert not cpl.json("status").get("index", {}).get("rebuilt")


def test_a_server_in_the_foreground_begins_anew_with_an_index_that_was_damaged(cpl: Cpl) -> None:
    (cpl.repo / "a.py").write_text("def first(): pass\n")
    cpl.run("init")
    with cpl.up() as server:
        damage(cpl.repo / ".codeplane" / "index.db")
        (cpl.repo / "b.py").write_text("def second(): pass\n")
        assert server.process.stdout is not None
        assert cpl.run("call", "symbols_search", '{"query": "second"}').returncode != 0
        with ThreadPoolExecutor(1) as pool:
            again = pool.submit(server.process.stdout.readline)
            cpl.run("call", "symbols_search", '{"query": "second"}')
            assert "url" in json.loads(again.result(PATIENCE))
        assert "b.py" in cpl.run("call", "symbols_search", '{"query": "second"}').stdout


def test_a_server_that_is_to_begin_anew_still_ends_when_it_is_asked_to(cpl: Cpl) -> None:
    cpl.run("init")
    with cpl.up() as server:
        damage(cpl.repo / ".codeplane" / "index.db")
        eventually(lambda: "server ended" in cpl.run("call", "symbols_search", '{"query": "x"}').stderr)
        server.process.terminate()
        server.process.wait(PATIENCE)


def test_an_unknown_profile_is_named(cpl: Cpl) -> None:
    done = cpl.run("mcp", "--profile", "standart")
    assert done.returncode == 2 and "'standard', 'full', 'read'" in done.stderr


def test_nonsense_on_stdin_is_answered_and_survived(cpl: Cpl) -> None:
    with cpl.mcp() as client:
        client.open()
        assert client.process.stdin is not None
        client.process.stdin.write(b"this is not json\n\n\xff\xfe\n[1]\n")
        client.process.stdin.flush()
        errors = [client.answer()["error"]["code"] for _ in range(3)]
        assert errors == [-32700, -32700, -32700]
        assert client.call("describe")["result"]["branch"] == "main"


@pytest.mark.parametrize("odd", [1.5, None, [1]])
def test_a_request_with_an_odd_id_is_refused(cpl: Cpl, odd: object) -> None:
    with cpl.mcp() as client:
        client.open().send({"jsonrpc": "2.0", "id": odd, "method": "ping"})
        answer = client.answer()
        assert (answer["id"], answer["error"]["code"]) == (odd, -32600)


def test_a_stranger_on_the_socket_gets_nothing(cpl: Cpl) -> None:
    with cpl.up():
        path = json.loads((cpl.repo / ".codeplane" / "server.json").read_text())["socket"]
        for line in (b"GET / HTTP/1.1\r\n", b'{"codeplane": 1}\n', b"[]\n", b"\x00" * 100 + b"\n"):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(PATIENCE)
                stranger.connect(path)
                stranger.sendall(line)
                assert stranger.recv(100) == b""
        assert cpl.run("status").returncode == 0


def test_a_call_that_comes_while_the_server_stops_goes_to_the_next(toy_cpl: Cpl) -> None:
    with toy_cpl.up() as server, toy_cpl.mcp() as busy, toy_cpl.mcp() as late:
        busy.open()
        late.open()
        asked = busy.ask("tools/call", {"name": "toy_slow", "arguments": {"steps": 10, "step_sec": 0.1}})
        busy.request("ping")
        server.process.send_signal(signal.SIGTERM)
        assert late.call("toy_echo", {"text": "x"})["result"]["text"] == "x"
        answer = busy.answer()
        assert (answer["id"], answer["result"]["structuredContent"]["result"]) == (asked, {"steps": 10})


def test_a_write_that_outlasts_the_shutdown_is_answered_truly(toy_cpl: Cpl) -> None:
    with toy_cpl.up("--set", "server.shutdown_timeout_sec=0.2") as server:
        with toy_cpl.mcp("--profile", "full") as client:
            client.open()
            client.ask("tools/call", {"name": "toy_write", "arguments": {"name": "w", "seconds": 1}})
            file = toy_cpl.repo / ".codeplane" / "w"
            eventually(lambda: file.exists() and file.read_text() == "begun\n")
            server.process.send_signal(signal.SIGTERM)
            assert client.answer()["result"]["structuredContent"]["result"] == {"lines": 2}


def test_a_message_that_is_too_large_is_refused_alone(cpl: Cpl) -> None:
    with cpl.mcp() as client:
        client.open()
        asked = client.ask("tools/call", {"name": "describe", "arguments": {"name": "x" * 5_000_000}})
        answer = client.answer()
        assert answer["id"] == asked and "over 4194304 bytes" in answer["error"]["message"]
        assert client.call("describe")["result"]["branch"] == "main"


def test_a_shipped_announcement_leads_to_no_other_repository(cpl: Cpl, tmp_path: Path) -> None:
    other = Cpl(new_repo(tmp_path / "other"), cpl.env)
    with other.up():
        cpl.run("init")
        for name in ("server.json", "port", "token"):
            (cpl.repo / ".codeplane" / name).write_bytes((other.repo / ".codeplane" / name).read_bytes())
        assert cpl.json("call", "describe")["result"]["repo_root"] == str(cpl.repo)
        assert cpl.run("status").returncode == 3
        with cpl.mcp() as client:
            assert client.open().call("describe")["result"]["repo_root"] == str(cpl.repo)


def test_a_configured_port_in_use_does_not_stop_stdio(cpl: Cpl) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        cpl.env["CODEPLANE__SERVER__PORT"] = str(taken.getsockname()[1])
        with cpl.mcp() as client:
            assert client.open().call("describe")["result"]["branch"] == "main"


@pytest.mark.soak
def test_servers_are_killed_all_day_and_every_call_is_answered(toy_cpl: Cpl) -> None:
    """Clients come, call, are killed at random; the survivors get each answer exactly once."""
    rounds, chance = 60, random.Random(7)
    with ExitStack() as stack:
        crowd = [stack.enter_context(toy_cpl.mcp()).open() for _ in range(3)]
        for turn in range(rounds):
            asked = {
                id(client): [
                    client.ask("tools/call", {"name": "toy_echo", "arguments": {"text": f"{turn}.{n}"}})
                    for n in range(20)
                ]
                for client in crowd
            }
            victim = crowd.pop(chance.randrange(len(crowd)))
            victim.process.kill()
            for client in crowd:
                answers = [client.answer() for _ in asked[id(client)]]
                assert sorted(answer["id"] for answer in answers) == asked[id(client)]
                assert all("result" in answer["result"]["structuredContent"] for answer in answers)
            crowd.append(stack.enter_context(toy_cpl.mcp()).open())
    print(f"{rounds} servers killed, {rounds * 40} calls of survivors answered")
