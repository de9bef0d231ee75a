"""What a snippet may try: each attempt ends in a typed error, and the host's output stays silent."""

import contextlib
import subprocess
import sys
import sysconfig
import threading
import time
from pathlib import Path

import psutil
import pytest

from codeplane.core.errors import (
    CodePlaneError,
    SandboxFailed,
    SandboxMemory,
    SandboxShapeMismatch,
    SandboxTimeout,
    SandboxUnavailable,
)
from codeplane.sandbox import run_snippet
from codeplane.sandbox.snippet import MOST_OUTPUT

ATTEMPTS: dict[str, tuple[type[CodePlaneError], str]] = {
    "read a file": (SandboxFailed, "open('/etc/passwd').read()"),
    "read by path": (SandboxFailed, "from pathlib import Path\nPath('/etc/passwd').read_text()"),
    "write a file": (SandboxFailed, "open('/tmp/codeplane-escape', 'w').write('out')"),
    "list a folder": (SandboxFailed, "import os\nos.listdir('/')"),
    "read the environment": (SandboxFailed, "import os\nos.environ['PATH']"),
    "read one variable": (SandboxFailed, "import os\nos.getenv('PATH')"),
    "open a socket": (SandboxFailed, "import socket\nsocket.create_connection(('127.0.0.1', 80))"),
    "fetch an address": (SandboxFailed, "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')"),
    "start a program": (SandboxFailed, "import subprocess\nsubprocess.run(['id'])"),
    "start a shell": (SandboxFailed, "import os\nos.system('id')"),
    "import the host": (SandboxFailed, "import codeplane"),
    "import by name": (SandboxFailed, "__import__('os').system('id')"),
    "reach through classes": (SandboxFailed, "().__class__.__bases__[0].__subclasses__()"),
    "reach through frames": (SandboxFailed, "(lambda: 0).__globals__"),
    "read through eval": (SandboxFailed, "eval(\"open('/etc/passwd').read()\")"),
    "ask the user": (SandboxFailed, "input()"),
    "exit": (SandboxFailed, "raise SystemExit(0)"),
    "interrupt": (SandboxFailed, "raise KeyboardInterrupt"),
    "recursion": (SandboxFailed, "def f():\n    return f()\nf()"),
    "brackets": (SandboxFailed, "(" * 5_000 + ")" * 5_000),
    "endless loop": (SandboxTimeout, "while True:\n    pass"),
    "loop that catches": (
        SandboxTimeout,
        "while True:\n try:\n  while True:\n   pass\n except BaseException:\n  pass",
    ),
    "endless output": (SandboxTimeout, "while True:\n    print('x' * 1000)"),
    "growing list": (SandboxMemory, "rows = []\nwhile True:\n    rows.append('a' * 1000)"),
    "growing list that catches": (
        SandboxMemory,
        "rows = []\nwhile True:\n try:\n  rows.append('a' * 100000)\n except BaseException:\n  pass",
    ),
    "one large text": (SandboxMemory, "'a' * 10**10"),
    "one large number": (SandboxMemory, "2 ** 10**9"),
    "a text of everything": (
        SandboxMemory,
        "row = [0] * 10\nfor _ in range(9):\n    row = [row] * 10\nrepr(row)",
    ),
    "deep answer": (SandboxShapeMismatch, "row = []\nfor _ in range(100000):\n    row = [row]\nrow"),
    "answer without end": (
        SandboxShapeMismatch,
        "row = [0] * 10\nfor _ in range(9):\n    row = [row] * 10\nrow",
    ),
    "large answer": (SandboxShapeMismatch, "['a' * 1000000] * 1000"),
    "long number": (SandboxShapeMismatch, "10 ** 5000"),
    "not a number": (SandboxShapeMismatch, "float('nan')"),
    "answer that is a function": (SandboxShapeMismatch, "{'f': {1, 2}}"),
}


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_no_attempt_gets_out(attempt: str, capfd: pytest.CaptureFixture[str]) -> None:
    expected, code = ATTEMPTS[attempt]
    with pytest.raises(expected) as error:
        run_snippet(code, {}, timeout_sec=1, memory_mb=32)
    assert type(error.value) is expected
    assert capfd.readouterr().out == ""
    assert not Path("/tmp/codeplane-escape").exists()


def test_a_sleep_takes_no_time(capfd: pytest.CaptureFixture[str]) -> None:
    code = "import asyncio, time\ntime.sleep(300)\nasync def nap():\n await asyncio.sleep(300)\n return 7\n"
    start = time.monotonic()
    assert run_snippet(code + "asyncio.run(nap())", {}, timeout_sec=20).value == 7
    assert time.monotonic() - start < 100
    assert capfd.readouterr().out == ""


def test_output_is_collected_and_cut_while_the_snippet_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    outcome = run_snippet("for n in range(5000):\n    print('line', n)\n'done'", {})
    assert (outcome.value, outcome.is_output_cut) == ("done", True)
    assert outcome.output.startswith("line 0\nline 1\n")
    assert len(outcome.output) == MOST_OUTPUT
    assert capfd.readouterr().out == ""


def test_no_worker_outlives_its_snippet() -> None:
    before = set(psutil.Process().children(recursive=True))
    for code in ("1", "while True:\n    pass", "1 / 0"):
        with contextlib.suppress(SandboxTimeout, SandboxFailed):
            run_snippet(code, {}, timeout_sec=0.3)
    workers = set(psutil.Process().children(recursive=True)) - before
    _, alive = psutil.wait_procs(list(workers), timeout=10)
    assert alive == []


def test_a_worker_that_is_killed_is_a_typed_error() -> None:
    outcomes: list[BaseException] = []

    def run_loop() -> None:
        try:
            run_snippet("while True:\n    pass", {}, timeout_sec=20)
        except CodePlaneError as error:
            outcomes.append(error)

    before = set(psutil.Process().children(recursive=True))
    thread = threading.Thread(target=run_loop)
    thread.start()
    workers: set[psutil.Process] = set()
    while not workers and thread.is_alive():
        workers = {p for p in set(psutil.Process().children(recursive=True)) - before if p.name() == "monty"}
    for worker in workers:
        worker.kill()
    thread.join(30)
    # On a busy machine the time limit may come first.
    assert [type(error) for error in outcomes] in ([SandboxFailed], [SandboxUnavailable], [SandboxTimeout])


def test_a_missing_interpreter_is_a_typed_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda *_: str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SandboxUnavailable, match="no program monty"):
        run_snippet("1", {})


def test_the_worker_of_a_killed_server_ends_at_its_time_limit() -> None:
    code = "from codeplane.sandbox import run_snippet; run_snippet('while True: pass', {}, timeout_sec=3)"
    with subprocess.Popen([sys.executable, "-c", code]) as host:
        workers: list[psutil.Process] = []
        while not workers and host.poll() is None:
            children = psutil.Process(host.pid).children(recursive=True)
            workers = [child for child in children if child.name() == "monty"]
        host.kill()
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert workers
    assert alive == []
