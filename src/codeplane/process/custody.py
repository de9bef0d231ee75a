"""Programs that may do anything: found by a mark in their environment, wherever they have gone, and ended."""

import os
import resource
import secrets
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

_VARIABLE: Final = "CODEPLANE_CUSTODY"
_LARGEST_FILE: Final = 4 << 30
_ROUNDS: Final = 50
_PAGE: Final = resource.getpagesize()
_COUNT_SEC: Final = 0.2
_LAST_WORDS_SEC: Final = 0.3


@dataclass(frozen=True)
class Custody:
    """How a program is held that runs the repository's own code: none of its descendants outlives it,
    whatever groups and sessions they make, and no more of them live at once than it may have."""

    most_processes: int = 256
    # Resident size of all of them together, in bytes: what more of it takes is ended.
    most_resident: int | None = None
    niceness: int = 0  # how far they give way to others
    is_tied: bool = False  # whether they end with this process, even where that is killed
    # Asked often; true ends the program as its deadline does.
    is_over: Callable[[], bool] | None = None
    # Sent to a program whose time is over, so that it can tell where it is.
    last_words: signal.Signals | None = None
    mark: str = field(default_factory=lambda: f"{secrets.token_hex(8)};", init=False)

    def env(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment with the mark; a program inside of another's custody has both."""
        # The variable is asked of the given environment: a test run may be run by a test.
        return {_VARIABLE: base.get(_VARIABLE, "") + self.mark}


class Held:
    """One running program in custody."""

    def __init__(self, custody: Custody, pid: int) -> None:
        self._custody, self._pid = custody, pid
        self._others = _processes_there()
        self._next_count = time.monotonic() + _COUNT_SEC
        _limit_process(pid)
        if custody.niceness:
            with suppress(OSError):  # it may have ended already
                os.setpriority(os.PRIO_PGRP, pid, custody.niceness)

    def why_over(self) -> str:
        """Why the program has to end now; "" while it may go on."""
        if self._custody.is_over is not None and self._custody.is_over():
            return "asked"
        now = time.monotonic()
        if now < self._next_count:
            return ""
        self._next_count = now + _COUNT_SEC
        if self._custody.most_resident is not None and self._resident() > self._custody.most_resident:
            return "memory"
        most = self._custody.most_processes
        # Looking at each is slow: only when so many have come that it can be too many.
        if (
            _processes_there() - self._others > most
            and sum(1 for _ in _marked_processes(self._custody.mark)) > most
        ):
            return "processes"
        return ""

    def _resident(self) -> int:
        """The memory of the program's session and of what has left it, in bytes."""
        pids = {*_session_members(self._pid), *_marked_processes(self._custody.mark)}
        return sum(map(_resident_size, pids))

    def ask(self) -> None:
        """Lets the program tell where it is, before it is ended."""
        if self._custody.last_words is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(self._pid, self._custody.last_words)
                time.sleep(_LAST_WORDS_SEC)

    def end(self) -> int:
        """Kills what is left and says how many that were; those that appear meanwhile as well."""
        return end_processes(self._custody.mark)


def end_processes(mark: str, session: int = 0) -> int:
    """Kills what has a mark, and what is in a session, until nothing is left; how many that were."""
    pids: set[int] = set()
    for _ in range(_ROUNDS):
        left = {*_marked_processes(mark), *(_session_members(session) if session else ())}
        if not left:
            break
        # None of them may make another while the rest are killed.
        for sign in (signal.SIGSTOP, signal.SIGKILL):
            for pid in left:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, sign)
        pids |= left
        time.sleep(0.005)
    return len(pids)


def _limit_process(pid: int) -> None:
    """No core files, and none of more than some gigabytes. Where the system can't, the rest has to do."""
    if sys.platform != "linux":
        return
    with suppress(OSError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))


def _session_members(session: int) -> list[int]:
    return [pid for pid in psutil.pids() if _session_of(pid) == session]


def _session_of(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def _resident_size(pid: int) -> int:
    if sys.platform == "linux":
        with suppress(OSError, IndexError, ValueError):
            return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
        return 0
    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return 0


def _processes_there() -> int:
    return len(psutil.pids())


def _marked_processes(mark: str) -> Iterator[int]:
    """The living processes with a mark in their environment."""
    if sys.platform != "linux":
        yield from _marked_elsewhere(mark)
        return
    data, own = mark.encode(), os.getpid()
    for pid in psutil.pids():
        if pid == own:
            continue
        try:
            is_found = data in Path(f"/proc/{pid}/environ").read_bytes()
        except OSError:
            continue
        if is_found:  # a dead one that nobody has asked for has no environment
            yield pid


def _marked_elsewhere(mark: str) -> Iterator[int]:
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if mark in process.environ().get(_VARIABLE, "") and process.status() != psutil.STATUS_ZOMBIE:
                yield process.pid
