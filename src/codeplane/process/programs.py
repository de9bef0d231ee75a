"""Programs run by argument lists, with an environment of their own, a deadline and a cap on their output."""

import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from codeplane.core.errors import ProgramFailed, ProgramMissing

_CHUNK: Final = 1 << 16
# How often a program that prints nothing is looked at: whether its time is over, whether it is still wanted.
_LOOK_SEC: Final = 0.05
_GRACE_SEC: Final = 2.0
MOST_OUTPUT: Final = 4 << 20


@dataclass(frozen=True)
class Finished:
    """How a program ended. `code` is negative for a signal and None where its time was over."""

    code: int | None
    stdout: bytes
    stderr: bytes
    is_cut: bool = False  # it printed more than is kept; what came first is there

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
        found = shutil.which(name, path=os.pathsep.join(places)) if "/" not in name else None
        if found is None:
            raise ProgramMissing(f"The program {name} is not installed.", hints=[f"Install {name}."])
        return Path(found)

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
    ) -> Finished:
        """Runs a program to its end, or to its deadline: then its whole group is killed and `code` is None.

        `argv` begins with an absolute path. `env` is added to the environment. `check` ends the wait by
        raising; nothing of the program is left then either. `heard` gets what it prints while it prints it.
        """
        assert os.fsdecode(argv[0]).startswith("/"), "BUG: a program is named by its path"
        try:
            process = subprocess.Popen(
                argv,
                cwd=cwd,
                env={**self.env, **(env or {})},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ProgramFailed(f"{os.fsdecode(argv[0])} cannot be started: {error}.") from error
        try:
            return _Talk(process, stdin, most, heard).until(time.monotonic() + timeout, check)
        finally:
            _end(process)


class _Talk:
    """The pipes of one program."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        stdin: bytes,
        most: int,
        heard: Callable[[bytes], None] | None = None,
    ) -> None:
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._process = process
        self._heard = heard
        self._left = memoryview(stdin)
        self._most = most
        self._said: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
        self._is_cut = False
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
        is_late = False
        with self._selector:
            while not is_late and (self._selector.get_map() or self._process.poll() is None):
                for key, _ in self._selector.select(_LOOK_SEC) if self._selector.get_map() else ():
                    self._step(key.fileobj)  # type: ignore[arg-type]
                if check is not None:
                    check()
                if not self._selector.get_map():
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(_LOOK_SEC)
                elif self._process.poll() is not None:
                    self._drain()
                    break
                is_late = time.monotonic() > deadline
        out, err = (bytes(said) for said in self._said.values())
        return Finished(None if is_late else self._process.returncode, out, err, self._is_cut)

    def _drain(self) -> None:
        """What is still in the pipes; a child that was left behind may hold them open for ever."""
        for pipe in [p for p in self._said if not p.closed]:
            while self._read(pipe):
                pass

    def _step(self, pipe: IO[bytes]) -> None:
        if pipe is self._process.stdin:
            try:
                self._left = self._left[os.write(pipe.fileno(), self._left[:_CHUNK]) :]
            except BlockingIOError:
                return
            except BrokenPipeError:
                self._left = self._left[:0]
            if not self._left:
                self._drop(pipe)
        else:
            self._read(pipe)

    def _read(self, pipe: IO[bytes]) -> bool:
        try:
            data = os.read(pipe.fileno(), _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            self._drop(pipe)
            return False
        said = self._said[pipe]
        self._is_cut |= len(said) + len(data) > self._most
        said += data[: self._most - len(said)]
        if self._heard is not None and pipe is self._process.stdout:
            self._heard(data)
        return True

    def _drop(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        pipe.close()


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Nothing of the program's group is left, and nothing of it is waited for in vain."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SEC)
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None and not pipe.closed:
            with suppress(OSError):
                pipe.close()
