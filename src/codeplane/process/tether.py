"""Programs that end with the process that started them, however that ends.

A process beside the program holds one end of a pipe. The other end is closed by the kernel when its holder
dies, also by SIGKILL: then everything with the program's mark is ended, wherever it has gone. A signal at the
death of a parent (PR_SET_PDEATHSIG) would not do: it comes when a *thread* ends, it is lost where a program
forks, and macOS has none.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final

from codeplane.process.custody import end_processes

# What was being started when the holder died has its mark a moment later.
_SECOND_LOOK_SEC: Final = 0.5


class Tether:
    """The end of the pipe that is held while a program runs."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def tie(self, pid: int) -> None:
        """Names the program, so that what of its session has dropped the mark is ended too."""
        assert self._process.stdin is not None
        with suppress(OSError):  # whoever watched was killed
            os.write(self._process.stdin.fileno(), b"%d\n" % pid)


@contextmanager
def tethered(mark: str, env: Mapping[str, str]) -> Iterator[Tether]:
    """Ends what has a mark if this process ends inside of the block; entered before a program starts."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-m", "codeplane.process.tether", mark],
        cwd="/",
        env=dict(env),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        bufsize=0,
    )
    try:
        yield Tether(process)
    finally:
        # It has nothing to clean up, and may still be starting.
        process.kill()
        process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _watch_pipe(mark: str) -> None:
    """Waits until the other end of stdin is closed, then ends the program."""
    data = sys.stdin.buffer.read()
    pid = int(data) if data.strip().isdigit() else 0
    end_processes(mark, pid)
    time.sleep(_SECOND_LOOK_SEC)
    end_processes(mark, pid)


if __name__ == "__main__":
    _watch_pipe(sys.argv[1])
