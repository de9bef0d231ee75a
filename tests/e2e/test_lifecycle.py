"""Starting and stopping: one clear message, an exit code, and nothing left behind."""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.drive import CPL, Cpl, Stdio, end, eventually, git
from tests.zygote import PATIENCE

PR_CAPBSET_DROP, CAP_DAC_OVERRIDE = 24, 1


def leftovers(cpl: Cpl) -> set[str]:
    """What a server must not leave: its port, token, socket and announcement."""
    state = {p.name for p in (cpl.repo / ".codeplane").glob("*")} & {"port", "token", "server.json"}
    return state | {p.name for p in Path(cpl.env["TMPDIR"]).rglob("*.sock")}


def test_a_second_server_is_refused_and_the_first_goes_on(cpl: Cpl) -> None:
    with cpl.up() as server:
        second = cpl.run("up")
        assert second.returncode == 5
        assert f"already being served: cpl up, pid {server.process.pid}" in second.stderr
        assert second.stderr.count("\n") <= 3
        assert cpl.run("status").returncode == 0
    assert leftovers(cpl) == set()


def test_stale_files_of_a_dead_server_are_replaced(cpl: Cpl) -> None:
    with cpl.up() as server:
        server.process.kill()
        server.process.wait()
        assert leftovers(cpl) >= {"port", "token", "server.json"}
        assert cpl.run("status").returncode == 3
        assert "stale" in cpl.run("doctor").stdout
        with cpl.up() as again:
            assert again.token != server.token  # the kernel may give the same port again
            assert json.loads(cpl.run("status", "--json").stdout)["server"]["pid"] == again.process.pid
    assert leftovers(cpl) == set()


def test_a_port_file_that_lies_is_not_believed(cpl: Cpl) -> None:
    cpl.run("init")
    state = cpl.repo / ".codeplane"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        announcement = {"pid": os.getpid(), "port": other.getsockname()[1], "socket": "/nowhere"}
        (state / "server.json").write_text(json.dumps({**announcement, "started_ms": 0, "command": "x"}))
        with cpl.up():
            assert cpl.run("status").returncode == 0


@pytest.mark.parametrize("command", ["up", "mcp", "status", "init", "call describe", "doctor", "trust"])
def test_outside_a_repository_nothing_is_made(cpl: Cpl, elsewhere: Path, command: str) -> None:
    done = cpl.run(*command.split(), cwd=elsewhere)
    assert done.returncode == (1 if command == "doctor" else 4)
    assert "not inside a git repository" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr and list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("command", ["up", "mcp", "init"])
def test_a_bare_repository_is_refused(cpl: Cpl, elsewhere: Path, command: str) -> None:
    git(elsewhere, "init", "-q", "--bare", "bare.git")
    before = sorted((elsewhere / "bare.git").iterdir())
    done = cpl.run(command, cwd=elsewhere / "bare.git")
    assert done.returncode == 4 and "bare repository" in done.stderr
    assert sorted((elsewhere / "bare.git").iterdir()) == before


def test_a_damaged_repository_is_one_message(cpl: Cpl) -> None:
    (cpl.repo / ".git" / "HEAD").unlink()
    done = cpl.run("up")
    assert done.returncode == 4 and "Traceback" not in done.stderr
    assert not (cpl.repo / ".codeplane").exists()


def _without_root_rights() -> None:
    # Root ignores permissions; without this capability it meets them like anyone else.
    if os.getuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="permissions of root are taken away with prctl")
@pytest.mark.parametrize("made_before", [True, False])
def test_a_read_only_state_directory_is_one_message(cpl: Cpl, made_before: bool) -> None:
    if made_before:
        cpl.run("init")
    closed = cpl.repo / ".codeplane" if made_before else cpl.repo
    before = sorted(p.name for p in closed.iterdir())
    closed.chmod(0o500)
    try:
        for command in ("up", "mcp"):
            done = cpl.run(command, preexec_fn=_without_root_rights)
            assert done.returncode == 6
            assert "permission denied" in done.stderr and "Traceback" not in done.stderr
        assert sorted(p.name for p in closed.iterdir()) == before
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_server_cleanly(cpl: Cpl, number: signal.Signals) -> None:
    with cpl.up() as server:
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE) == 0
        assert server.process.stderr is not None
        assert "Traceback" not in server.process.stderr.read()
    assert leftovers(cpl) == set()


def test_a_signal_ends_stdio_cleanly(cpl: Cpl) -> None:
    with cpl.mcp() as client:
        client.open()
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(PATIENCE) == 0
    assert leftovers(cpl) == set()


def test_stdio_ends_when_its_parent_is_killed(cpl: Cpl) -> None:
    script = (
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen({list(CPL)!r} + ['mcp'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "print(child.pid, flush=True)\ntime.sleep(60)\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script], cwd=cpl.repo, env=cpl.env, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    eventually(lambda: (cpl.repo / ".codeplane" / "port").exists() or not alive(child))
    parent.kill()
    end(parent)
    eventually(lambda: not alive(child))
    assert leftovers(cpl) == set()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_what_is_piped_in_is_answered_before_the_end(cpl: Cpl) -> None:
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "describe", "arguments": {}}},
    ]
    done = cpl.run("mcp", stdin="".join(json.dumps(line) + "\n" for line in lines))
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert done.returncode == 0


def test_a_running_call_may_finish_and_an_endless_one_is_ended(toy_cpl: Cpl) -> None:
    with toy_cpl.up("--set", "server.shutdown_timeout_sec=1") as server:
        with toy_cpl.mcp() as quick, toy_cpl.mcp() as endless:
            slow = {"name": "toy_slow", "arguments": {"steps": 6, "step_sec": 0.1}}
            for client, call in ((quick, slow), (endless, {**slow, "arguments": {"steps": 10_000}})):
                client.open()
                client.ask("tools/call", call)
            time.sleep(0.3)
            server.process.send_signal(signal.SIGTERM)
            assert quick.answer()["result"]["structuredContent"]["result"] == {"steps": 6}
            stopped = endless.answer()["result"]["structuredContent"]
            assert stopped["error"]["name"] == "SERVER_STOPPING"
            assert server.process.wait(PATIENCE) == 0


def test_clear_is_refused_while_a_server_runs(cpl: Cpl) -> None:
    with cpl.up():
        assert cpl.run("clear", "--yes").returncode == 5
        assert cpl.run("debug", "index-rebuild").returncode == 5
    assert cpl.run("clear", "--yes").returncode == 0
    assert not (cpl.repo / ".codeplane").exists()


def test_a_port_in_use_is_one_message(cpl: Cpl) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = cpl.run("up", "--set", f"server.port={port}")
    assert done.returncode == 6 and f"Port {port} cannot be used" in done.stderr
    assert leftovers(cpl) == set()


def test_a_wrong_setting_stops_the_start_and_leaves_nothing(cpl: Cpl) -> None:
    done = cpl.run("up", "--set", "server.prot=1")
    assert done.returncode == 2 and "did you mean server.port?" in done.stderr
    assert not (cpl.repo / ".codeplane").exists()


def test_the_repository_may_have_a_long_and_odd_path(cpl: Cpl) -> None:
    odd = cpl.repo.parent / ("ä b'c" * 20) / "repo"
    odd.parent.mkdir()
    shutil.move(cpl.repo, odd)
    moved = Cpl(odd, cpl.env)
    with moved.mcp() as client:
        assert client.open().call("describe")["result"]["repo_root"] == str(odd)
        assert isinstance(client, Stdio)


def test_the_directory_that_a_server_was_started_in_may_go(cpl: Cpl) -> None:
    (cpl.repo / "sub").mkdir()
    with replace(cpl, repo=cpl.repo / "sub").mcp() as client:
        client.open()
        (cpl.repo / "sub").rmdir()
        (cpl.repo / "a.py").write_text("def first(): pass\n")
        found = client.call("symbols_search", {"query": "first"})
        assert [file["path"] for file in found["result"]["files"]] == ["a.py"]
