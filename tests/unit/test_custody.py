"""What runs the repository's own code is ended with all that it has started."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from codeplane.core.errors import Cancelled
from codeplane.process import Finished, Programs
from codeplane.process.custody import Custody
from tests.drive import eventually

PYTHON = Path(sys.executable)
PROGRAMS = Programs({"PATH": "/usr/bin:/bin"})
# A grandchild in a session of its own, whose parent is gone: no group and no parent leads to it.
DAEMON = (
    "import os, time\nif not os.fork():\n os.setsid()\n if not os.fork():\n  time.sleep(78)\n os._exit(0)\n"
)


def run(source: str, timeout: float = 20, **options: object) -> Finished:
    argv = [PYTHON, "-S", "-c", source]
    return PROGRAMS.run(argv, cwd=Path("/"), timeout=timeout, **options)  # type: ignore[arg-type]


def left(text: str) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "status"])
        if text in " ".join(process.info["cmdline"] or ()) and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def test_a_daemon_that_was_left_behind_is_ended_with_its_program() -> None:
    assert run(f"{DAEMON}time.sleep(0.3)", custody=Custody()).is_ok
    assert not left("time.sleep(78)")


def test_a_daemon_is_ended_when_the_call_is_withdrawn() -> None:
    began = time.monotonic()

    def check() -> None:
        if time.monotonic() - began > 0.5:
            raise Cancelled("The call was cancelled.")

    with pytest.raises(Cancelled):
        run(f"{DAEMON}time.sleep(78)", check=check, custody=Custody())
    assert not left("time.sleep(78)")


def test_a_program_inside_of_another_custody_belongs_to_both() -> None:
    inner = Custody().env({"CODEPLANE_CUSTODY": "outer;"})
    assert inner["CODEPLANE_CUSTODY"].startswith("outer;") and len(inner["CODEPLANE_CUSTODY"]) > 10


def test_processes_are_counted_and_a_fork_bomb_is_ended() -> None:
    bomb = "import os, time\nfor _ in range(9):\n os.fork()\ntime.sleep(79)"
    done = run(bomb, timeout=30, custody=Custody(most_processes=60))
    assert (done.code, done.ended_for) == (None, "processes")
    assert not left("time.sleep(79)")


def test_a_fork_bomb_in_sessions_of_their_own_is_ended_too() -> None:
    apart = " os.getpid() == os.getsid(0) or os.setsid()\n"
    bomb = f"import os, time\nfor _ in range(7):\n os.fork()\n{apart}time.sleep(80)"
    done = run(bomb, timeout=30, custody=Custody(most_processes=40))
    assert done.ended_for == "processes"
    assert not left("time.sleep(80)")


def test_of_a_long_output_the_beginning_and_the_end_are_kept() -> None:
    source = "print('first')\nfor _ in range(1000): print('x' * 10000)\nprint('last')"
    done = run(source, most=1000, custody=Custody())
    assert done.is_cut and len(done.stdout) < 1100
    assert done.stdout.startswith(b"first\n") and done.stdout.endswith(b"last\n")
    assert b"bytes left out" in done.stdout


def test_a_gigabyte_of_output_takes_no_memory() -> None:
    looks: list[int] = []
    count = itertools.count()

    def watch() -> bool:
        if next(count) % 500 == 0:
            looks.append(psutil.Process().memory_info().rss)
        return False

    head: list[str | bytes | Path] = [PROGRAMS.find("head"), "-c", str(1 << 30), "/dev/zero"]
    done = PROGRAMS.run(head, cwd=Path("/"), timeout=120, custody=Custody(is_over=watch))
    assert done.is_ok and done.is_cut
    assert max(looks) - looks[0] < 64 << 20


def test_a_program_is_ended_when_it_is_asked_to_and_what_it_said_is_kept() -> None:
    over = threading.Event()
    threading.Timer(0.5, over.set).start()
    source = (
        "import faulthandler, signal, sys, time\n"
        "faulthandler.register(signal.SIGUSR1)\nprint('begun', flush=True)\ntime.sleep(81)"
    )
    done = run(source, custody=Custody(is_over=over.is_set, last_words=signal.SIGUSR1))
    assert (done.code, done.ended_for, done.stdout) == (None, "asked", b"begun\n")
    assert b"line 4" in done.stderr


def test_no_core_file_is_left_by_a_crash(tmp_path: Path) -> None:
    done = PROGRAMS.run(
        [PYTHON, "-c", "import resource; print(resource.getrlimit(resource.RLIMIT_CORE))"],
        cwd=tmp_path,
        timeout=20,
        custody=Custody(),
    )
    if sys.platform == "linux":
        assert done.stdout.startswith(b"(0, ")  # the hard limit is that of whoever runs the tests
    assert os.listdir(tmp_path) == []


def test_the_memory_of_all_processes_together_is_bounded() -> None:
    hungry = (
        "import os, time\nfor _ in range(3):\n if not os.fork():\n"
        "  keep = b'x' * (60 << 20)\n  time.sleep(83)\ntime.sleep(83)"
    )
    done = run(hungry, timeout=30, custody=Custody(most_resident=150 << 20))
    assert (done.code, done.ended_for) == (None, "memory")
    assert not left("time.sleep(83)")


def test_memory_counts_where_a_process_has_dropped_its_environment() -> None:
    hungry = f"keep = b'x' * (200 << 20); import time; time.sleep(84) # {PYTHON}"
    source = f"import os\nos.execve({str(PYTHON)!r}, ['python', '-S', '-c', {hungry!r}], {{}})"
    done = run(source, timeout=30, custody=Custody(most_resident=150 << 20))
    assert (done.code, done.ended_for) == (None, "memory")


def test_a_program_that_is_tied_ends_with_a_process_that_is_killed() -> None:
    daemon = DAEMON.replace("78", "85")
    bare = (
        f"import os\nos.execve({str(PYTHON)!r}, ['python', '-S', '-c', 'import time; time.sleep(85)'], {{}})"
    )
    program = f"{daemon}if not os.fork():\n time.sleep(85)\n{bare}"
    source = (
        "from pathlib import Path\nfrom codeplane.process import Programs\n"
        "from codeplane.process.custody import Custody\n"
        f"argv = [Path({str(PYTHON)!r}), '-S', '-c', {program!r}]\n"
        "Programs({}).run(argv, cwd=Path('/'), timeout=85, custody=Custody(is_tied=True))"
    )
    process = subprocess.Popen([PYTHON, "-c", source])
    eventually(lambda: len(set(left("time.sleep(85)")) - {process.pid}) >= 3)
    process.kill()
    process.wait()
    eventually(lambda: not left("time.sleep(85)"), timeout=20)


def test_the_one_who_watches_a_program_ends_with_it() -> None:
    custody = Custody(is_tied=True)
    assert run("pass", custody=custody).is_ok
    assert not left(custody.mark)


def test_programs_give_way_as_they_are_told_to() -> None:
    source = "import os, time; time.sleep(0.5); print(os.getpriority(os.PRIO_PROCESS, 0))"
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    assert run(source, custody=Custody(niceness=nice + 5)).stdout.split() == [str(nice + 5).encode()]
