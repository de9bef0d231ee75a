"""Starts `cpl` in a tenth of the time: a process that has imported everything forks for each start.

What runs in the fork is the program itself, with its own arguments, environment, directory and pipes. Tests
of the start as such use `subprocess`.
"""

import atexit
import gc
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
# For what must happen, on a machine that does much else: whoever waits that long waits for nothing.
PATIENCE = 300.0
_ASKED = 1 << 20


class Popen(subprocess.Popen[Any]):
    """A process that the zygote has forked; the program is `-m MODULE` or a script."""

    def _execute_child(self, args: Any, *more: Any) -> None:
        """As the class above does it, but for the fork."""
        cwd, env, pipes = more[4], more[5], more[9:15]
        given = [pipes[0], pipes[3], pipes[5]]
        self._zygote = zygote()
        try:
            fds = [number if fd == -1 else fd for number, fd in enumerate(given)]
            self.pid = self._zygote.fork(list(args), os.fspath(cwd), env, fds)
            self._child_created = True
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, wait_flags: int) -> tuple[int, int]:
        ended = self._zygote.ended[self.pid]
        if not ended.wait(None if wait_flags == 0 else 0):
            return 0, 0
        return self.pid, self._zygote.statuses[self.pid]

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        if self.returncode is None:
            pid, status = self._try_wait(os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


class Zygote:
    """The process that forks, seen from the tests."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", "tests.zygote", str(theirs.fileno())]
            null = subprocess.DEVNULL
            self._process = subprocess.Popen(
                command, cwd=ROOT, pass_fds=[theirs.fileno()], stdin=null, stdout=null
            )
        self._socket = ours
        self._guard = threading.Lock()
        self._answers: list[tuple[int, str | None]] = []
        self._is_gone = False
        self._forked = threading.Condition()
        self.ended: dict[int, threading.Event] = {}
        self.statuses: dict[int, int] = {}
        self._listener = threading.Thread(target=self._listen, name="zygote", daemon=True)
        self._listener.start()
        atexit.register(self.close)

    def fork(self, args: list[str], cwd: str, env: Mapping[str, str] | None, fds: list[int]) -> int:
        asked = {"args": args, "cwd": cwd, "env": dict(os.environ if env is None else env)}
        with self._guard, self._forked:
            data = json.dumps(asked).encode() + b"\n"
            sent = socket.send_fds(self._socket, [data], fds)
            self._socket.sendall(data[sent:])
            self._forked.wait_for(lambda: self._answers or self._is_gone, PATIENCE)
            assert not self._is_gone, f"the zygote has ended with {self._process.wait()}"
            assert self._answers, f"the zygote has not answered for {PATIENCE} seconds"
            pid, failure = self._answers.pop()
            if failure is not None:
                raise OSError(f"the zygote cannot fork: {failure}")
            return pid

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._listener.join(5)
        self._socket.close()

    def _listen(self) -> None:
        with suppress(ConnectionError), self._socket.makefile("rb") as lines:
            for line in lines:
                self._note(*json.loads(line))
        with self._forked:
            self._is_gone = True
            self._forked.notify()

    def _note(self, pid: int, status: int | str | None) -> None:
        if isinstance(status, int):
            self.statuses[pid] = status
            self.ended[pid].set()
            return
        self.ended[pid] = threading.Event()
        with self._forked:
            self._answers.append((pid, status))
            self._forked.notify()


@cache
def zygote() -> Zygote:
    """The one of this process."""
    return Zygote()


def serve(channel: socket.socket) -> None:
    """Forks for each request until the tests end. Returns in the forks, ready to run the program."""
    wake, woken = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    interrupted = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken)
    while True:
        ready, _, _ = select.select([channel.fileno(), wake], [], [])
        if wake in ready:
            os.read(wake, 4096)
            _tell_ended(channel)
        if channel.fileno() not in ready:
            continue
        data, fds, _, _ = socket.recv_fds(channel, _ASKED, 3)
        while data and not data.endswith(b"\n"):
            data += channel.recv(_ASKED)
        if not data:
            os._exit(0)
        failure = None
        try:
            child = os.fork()
        except OSError as error:
            child, failure = -1, str(error)
        if child == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, interrupted)
            for fd in (wake, woken, channel.detach()):
                os.close(fd)
            _become(json.loads(data), fds)
            return
        for fd in fds:
            os.close(fd)
        channel.sendall(json.dumps([child, failure]).encode() + b"\n")


def _tell_ended(channel: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        channel.sendall(json.dumps([pid, status]).encode() + b"\n")


def _become(asked: Mapping[str, Any], fds: list[int]) -> None:
    """Arguments, environment, directory and pipes are those of the program."""
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
    for fd in fds:
        os.close(fd)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    tempfile.tempdir = None
    _look_for_git_settings(Path(asked["env"]["HOME"]))
    sys.argv = asked["args"][1:]
    if sys.argv[0] == "-m":
        sys.argv.pop(0)


def _look_for_git_settings(home: Path) -> None:
    """Where libgit2 looks is settled at its first use."""
    from pygit2 import settings
    from pygit2.enums import ConfigLevel

    settings.search_path[ConfigLevel.GLOBAL] = str(home)
    settings.search_path[ConfigLevel.XDG] = str(home / ".config" / "git")


def main() -> None:
    import codeplane

    channel = socket.socket(fileno=int(sys.argv[1]))
    channel.set_inheritable(False)
    for module in pkgutil.walk_packages(codeplane.__path__, "codeplane."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    gc.collect()
    gc.freeze()
    serve(channel)
    program = sys.argv[0]
    if program.endswith(".py"):
        sys.path[0] = str(Path(program).parent)
        runpy.run_path(program, run_name="__main__")
    else:
        sys.path[0] = os.getcwd()
        runpy.run_module(program, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
