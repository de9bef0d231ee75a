"""Programs that CodePlane starts end in time, whatever they do, and nothing of them is left."""

import sys
import time
from pathlib import Path

import psutil
import pytest

from codeplane.core.errors import Cancelled, ProgramFailed, ProgramMissing
from codeplane.process import Finished, Programs

PYTHON = Path(sys.executable)
CHILD = "[sys.executable, '-c', 'import time; time.sleep(77)']"
WITH_A_CHILD = f"import subprocess, sys; subprocess.Popen({CHILD})"
PROGRAMS = Programs({"PATH": "/usr/bin:/bin", "SEEN": "yes"})


def run(source: str, timeout: float = 20, **options: object) -> Finished:
    return PROGRAMS.run([PYTHON, "-c", source], cwd=Path("/"), timeout=timeout, **options)  # type: ignore[arg-type]


def test_output_input_and_exit_code_are_those_of_the_program() -> None:
    done = run("import sys; print(sys.stdin.read()); print('no', file=sys.stderr); sys.exit(3)", stdin=b"in")
    assert done == Finished(3, b"in\n", b"no\n")
    assert done.said == "no\nin"


def test_a_program_sees_the_environment_that_it_is_given_and_no_other() -> None:
    done = run("import os; print(sorted(os.environ))", env={"MORE": "1"})
    assert {"MORE", "PATH", "SEEN"} <= set(eval(done.stdout))
    assert "HOME" not in eval(done.stdout)


def test_what_is_printed_beyond_the_cap_is_dropped_and_said_so() -> None:
    done = run("print('x' * 5_000_000)", most=1000)
    assert (len(done.stdout), done.is_cut, done.code) == (1000, True, 0)


def test_a_program_that_does_not_read_a_long_input_is_no_problem() -> None:
    assert run("pass", stdin=b"x" * 5_000_000).is_ok


def test_a_program_and_its_children_are_killed_at_the_deadline() -> None:
    source = f"{WITH_A_CHILD}; import time; time.sleep(77)"
    began = time.monotonic()
    assert run(source, timeout=0.5).code is None
    assert time.monotonic() - began < 5
    assert not left()


def test_a_child_that_keeps_the_pipes_open_is_not_waited_for() -> None:
    source = f"{WITH_A_CHILD}; print(1)"
    began = time.monotonic()
    assert run(source) == Finished(0, b"1\n", b"")
    assert time.monotonic() - began < 5
    assert not left()


def test_a_call_that_is_withdrawn_ends_the_program() -> None:
    def check() -> None:
        raise Cancelled("The call was cancelled.")

    with pytest.raises(Cancelled):
        run("import time; time.sleep(77)", check=check)
    assert not left()


def test_death_by_a_signal_is_told() -> None:
    assert run("import os; os.kill(os.getpid(), 9)").code == -9


def test_a_program_is_found_on_the_path_by_its_name_alone(tmp_path: Path) -> None:
    assert PROGRAMS.find("sh") in (Path("/usr/bin/sh"), Path("/bin/sh"))
    for name in ("no-such-program", "./sh", "../bin/sh", ""):
        with pytest.raises(ProgramMissing):
            PROGRAMS.find(name)
    with pytest.raises(ProgramMissing):
        Programs({"PATH": ".:"}).find("sh")
    with pytest.raises(ProgramFailed):
        PROGRAMS.run([tmp_path / "none"], cwd=tmp_path, timeout=1)


def left() -> list[int]:
    time.sleep(0.1)
    return [
        one.pid
        for one in psutil.Process().children(recursive=True)
        if one.status() != psutil.STATUS_ZOMBIE and "sleep(77)" in " ".join(one.cmdline())
    ]
