"""Driving the real program from outside: its command line, its stdio, its HTTP port."""

import atexit
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import zygote
from tests.zygote import PATIENCE

CPL = (sys.executable, "-m", "codeplane")
CPL_WITH_TOYS = (sys.executable, str(Path(__file__).parent / "toy_tools.py"))
CLIENT_INFO = {"name": "test", "version": "1"}


def user_env(home: Path, **extra: str) -> dict[str, str]:
    """An environment in which nothing of the developer's own is read or written."""
    home.mkdir(parents=True, exist_ok=True)
    # Sockets need a short path; pytest's own are long.
    run = tempfile.mkdtemp(prefix="cpl-")
    atexit.register(shutil.rmtree, run, ignore_errors=True)
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "PYTHONPATH") if key in os.environ}
    places = {"HOME": str(home), "TMPDIR": run, "GIT_CONFIG_GLOBAL": os.devnull}
    return {**kept, **places, **extra}


def git(repo: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=repo, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def dig(root: Path, levels: int) -> int:
    """Makes directories inside each other, with longer names together than a path may have; the last one is
    open."""
    here = os.open(root, os.O_DIRECTORY)
    for _ in range(levels):
        os.mkdir("n" * 200, dir_fd=here)
        inner = os.open("n" * 200, os.O_DIRECTORY, dir_fd=here)
        os.close(here)
        here = inner
    return here


def new_repo(path: Path, files: Mapping[str, str] | None = None) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    git(path, "init", "-q")
    for name, text in (files or {"README.md": "hello\n"}).items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    git(path, "add", "-A")
    git(path, "commit", "-qm", "start")
    return path


@dataclass
class Cpl:
    """`cpl` run in one repository by one user."""

    repo: Path
    env: dict[str, str]
    program: tuple[str, ...] = CPL

    def run(self, *arguments: str, stdin: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
        pipe = subprocess.PIPE
        options = {"cwd": self.repo, "env": self.env, "text": True, **options}
        start = self._start if "preexec_fn" not in options else subprocess.Popen
        with start([*self.program, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, **options) as process:
            try:
                stdout, stderr = process.communicate(stdin, timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    @property
    def _start(self) -> type["subprocess.Popen[Any]"]:
        """How the program is started: without the imports where it is one that the zygote has."""
        return zygote.Popen if self.program in (CPL, CPL_WITH_TOYS) else subprocess.Popen

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json").stdout)

    @contextmanager
    def up(self, *arguments: str) -> Iterator["Server"]:
        process = self._start(
            [*self.program, "up", "--json", *arguments],
            cwd=self.repo,
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.stderr and process.stderr.read()
        token = (self.repo / ".codeplane" / "token").read_text()
        try:
            yield Server(process, json.loads(line)["url"], token)
        finally:
            end(process)

    @contextmanager
    def mcp(self, *arguments: str) -> Iterator["Stdio"]:
        process = self._start(
            [*self.program, "mcp", *arguments],
            cwd=self.repo,
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        try:
            yield Stdio(process)
        finally:
            end(process)


@dataclass
class Server:
    process: "subprocess.Popen[str]"
    url: str
    token: str

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


class Stdio:
    """A client that speaks the handshake era over the pipes of `cpl mcp`."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._next = 0
        threading.Thread(target=self._read, daemon=True).start()

    def open(self, **capabilities: object) -> "Stdio":
        parameters = {
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": CLIENT_INFO,
        }
        self.request("initialize", parameters)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def send(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        self._next += 1
        params = dict(params or {})
        if method == "tools/call":
            params["_meta"] = {"codeplane/structured": True, **params.get("_meta", {})}
        self.send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params})
        return self._next

    def answer(self, timeout: float = PATIENCE) -> dict[str, Any]:
        return self._answers.get(timeout=timeout)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
        asked = self.ask(method, params)
        while True:
            message = self.answer()
            if message.get("id") == asked:
                return message

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> dict[str, Any]:
        answer = self.request("tools/call", {"name": tool, "arguments": arguments or {}})
        body: dict[str, Any] = answer["result"]["structuredContent"]
        return body

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._answers.put(json.loads(line))


def end(process: "subprocess.Popen[Any]") -> None:
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(PATIENCE)
    finally:
        if process.poll() is None:
            process.kill()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def eventually(condition: Any, timeout: float = PATIENCE) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.02)
