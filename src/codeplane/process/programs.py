"""Programs run by argument lists, with an environment of their own, a deadline and a cap on their output."""

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from codeplane.core.errors import ProgramFailed, ProgramMissing
from codeplane.process.custody import Custody, Held
from codeplane.process.tether import tethered

_CHUNK: Final = 1 << 16
# How often a program that prints nothing is looked at: whether its time is over, whether it is still wanted.
_LOOK_SEC: Final = 0.05
_GRACE_SEC: Final = 2.0
_LAST_SEC: Final = 30.0
# More than a pipe holds: what is still printing then is not waited for.
_MOST_DRAINED: Final = 64
MOST_OUTPUT: Final = 4 << 20


@dataclass(frozen=True)
class Finished:
    """How a program ended. `code` is negative for a signal and None where its time was over."""

    code: int | None
    stdout: bytes
    stderr: bytes
    is_cut: bool = False  # it printed more than is kept; what came first is there
    # Why it was ended in custody: `time`, `asked`, `memory` or `processes` where it had taken too many.
    ended_for: str = ""

    @property
    def is_ok(self) -> bool:
        return self.code == 0

    @property
    def said(self) -> str:
        """What it printed, errors first, as text to be shown."""
        parts = (self.stderr, self.stdout)
        return "\n".join(part.decode("utf-8", "replace").strip() for part in parts if part.strip())


@dataclass(frozen=True)
class Programs:
    """What is installed on the machine, by the user's own search path."""

    env: Mapping[str, str]  # all that a program sees, unless it is given more

    def find(self, name: str) -> Path:
        """The absolute path of a program; never one in the current directory."""
        places = [place for place in self.env.get("PATH", "").split(os.pathsep) if place.startswith("/")]
        program = shutil.which(name, path=os.pathsep.join(places)) if "/" not in name else None
        if program is None:
            raise ProgramMissing(f"The program {name} is not installed.", hints=[f"Install {name}."])
        return Path(program)

    def run(
        self,
        argv: Sequence[str | bytes | Path],
        *,
        cwd: Path,
        timeout: float,
        env: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        most: int = MOST_OUTPUT,
        check: Callable[[], None] | None = None,
        heard: Callable[[bytes], None] | None = None,
        custody: Custody | None = None,
    ) -> Finished:
        """Runs a program to its end, or to its deadline: then its whole group is killed and `code` is None.

        `argv` begins with an absolute path. `env` is added to the environment. `check` ends the wait by
        raising; nothing of the program is left then either. `heard` gets what it prints while it prints it.
        In custody all of its descendants are ended, and of a long output the beginning and the end are kept.
        """
        assert os.fsdecode(argv[0]).startswith("/"), "BUG: a program is named by its path"
        base_env = {**self.env, **(env or {})}
        whole_env = {**base_env, **(custody.env(base_env) if custody is not None else {})}
        with ExitStack() as stack:
            try:
                # First: from its start on, the program is never without the one that watches.
                tether = (
                    stack.enter_context(tethered(custody.mark, self.env))
                    if custody is not None and custody.is_tied
                    else None
                )
                process = _start_process(argv, cwd, whole_env)
            except (OSError, ValueError) as error:
                raise ProgramFailed(f"{os.fsdecode(argv[0])} cannot be started: {error}.") from error
            if tether is not None:
                tether.tie(process.pid)
            custodian = Held(custody, process.pid) if custody is not None else None
            try:
                return _Talk(process, stdin, most, heard, custodian).until(time.monotonic() + timeout, check)
            finally:
                _end_group(process)
                if custodian is not None:
                    custodian.end()
                    # It may have had so many children that it took its time to die.
                    with suppress(subprocess.TimeoutExpired):
                        process.wait(_LAST_SEC)


def _start_process(
    argv: Sequence[str | bytes | Path], cwd: Path, env: Mapping[str, str]
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


class _Said:
    """What is kept of what a program prints: the beginning, or as much of the end as well."""

    def __init__(self, most: int, keeps_end: bool) -> None:
        self._first_size = most // 2 if keeps_end else most
        self._last_size = most - self._first_size
        self._first, self._last = bytearray(), bytearray()
        self.dropped = 0

    def add(self, data: bytes) -> None:
        room = self._first_size - len(self._first)
        self._first += data[:room]
        self._last += data[room:]
        if len(self._last) > 2 * self._last_size:
            self._shorten_text()

    def _shorten_text(self) -> None:
        extra = max(0, len(self._last) - self._last_size)
        self.dropped += extra
        del self._last[:extra]

    def __bytes__(self) -> bytes:
        self._shorten_text()
        if not self.dropped or not self._last_size:
            return bytes(self._first + self._last)
        return bytes(self._first) + b"\n... %d bytes left out ...\n" % self.dropped + bytes(self._last)


class _Talk:
    """The pipes of one program."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        stdin: bytes,
        most: int,
        heard: Callable[[bytes], None] | None = None,
        held: Held | None = None,
    ) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._heard = heard
        self._held = held
        self._left = memoryview(stdin)
        self._said = {pipe: _Said(most, held is not None) for pipe in (process.stdout, process.stderr)}
        self._selector = selectors.DefaultSelector()
        for pipe in self._said:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ)
        if stdin:
            os.set_blocking(process.stdin.fileno(), False)
            self._selector.register(process.stdin, selectors.EVENT_WRITE)
        else:
            process.stdin.close()

    def until(self, deadline: float, check: Callable[[], None] | None) -> Finished:
        over = ""
        with self._selector:
            while not over and (self._selector.get_map() or self._process.poll() is None):
                for key, _ in self._selector.select(_LOOK_SEC) if self._selector.get_map() else ():
                    self._serve_pipe(key.fileobj)  # type: ignore[arg-type]
                if check is not None:
                    check()
                if not self._selector.get_map():
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(_LOOK_SEC)
                elif self._process.poll() is not None:
                    self._drain_pipes()
                    break
                over = "time" if time.monotonic() > deadline else self._held.why_over() if self._held else ""
            if over and self._held is not None:
                self._held.ask()
                self._drain_pipes()
        out, err = (bytes(said) for said in self._said.values())
        is_cut = any(said.dropped for said in self._said.values())
        return Finished(None if over else self._process.returncode, out, err, is_cut, over)

    def _drain_pipes(self) -> None:
        """What is still in the pipes; a child that was left behind may hold them open for ever."""
        for pipe in [p for p in self._said if not p.closed]:
            for _ in range(_MOST_DRAINED):
                if not self._read_pipe(pipe):
                    break

    def _serve_pipe(self, pipe: IO[bytes]) -> None:
        if pipe is self._process.stdin:
            try:
                self._left = self._left[os.write(pipe.fileno(), self._left[:_CHUNK]) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._left = self._left[:0]
            if not self._left:
                self._drop_pipe(pipe)
        else:
            self._read_pipe(pipe)

    def _read_pipe(self, pipe: IO[bytes]) -> bool:
        try:
            data = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._drop_pipe(pipe)
            return False
        self._said[pipe].add(data)
        if self._heard is not None and pipe is self._process.stdout:
            self._heard(data)
        return True

    def _drop_pipe(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        pipe.close()


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    """Nothing of the program's group is left, and nothing of it is waited for in vain."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SEC)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None and not pipe.closed:
            with suppress(OSError):
                pipe.close()
