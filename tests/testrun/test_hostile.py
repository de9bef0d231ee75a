"""Suites that do what they can: each ends in time, with a result, and nothing of it is left."""

import time
from pathlib import Path

import pytest

from codeplane.core.errors import Cancelled
from codeplane.core.paths import RepoPath
from codeplane.process import Finished
from codeplane.testrun import Target
from codeplane.testrun.batch_outcome import Run, judge_batch
from codeplane.testrun.batches import Batch
from codeplane.testrun.results import End, Status
from codeplane.testrun.run import Watch
from codeplane.testrun.runner import Standing
from tests.testrun.project import Project, left

GOOD = "def test_good(): pass\n"


def test_an_endless_loop_is_ended_and_told_where_it_was(tmp_path: Path) -> None:
    loop = "def test_1(): pass\n\ndef test_loop():\n    while True:\n        pass\n\ndef test_2(): pass\n"
    project = Project(tmp_path, {"test_a.py": loop, "test_b.py": GOOD})
    report = project.run(workers=1, target_timeout_sec=2)
    [bad] = report.failures
    assert (bad.id, bad.kind, bad.path) == ("test_a.py::test_loop", "TimedOut", "test_a.py")
    assert bad.line in (4, 5)
    assert report.counts[Status.PASSED] == 2  # the one before it, and the other file
    assert {one.target.id: one.end for one in report.targets} == {
        "test_a.py": End.TIMED_OUT,
        "test_b.py": End.DONE,
    }
    assert not left(str(project.root))


def test_a_loop_at_import_is_found_among_others(tmp_path: Path) -> None:
    project = Project(tmp_path, {"test_a.py": "while True: pass\n", "test_b.py": GOOD})
    report = project.run(workers=1, target_timeout_sec=1)
    assert report.ended(End.TIMED_OUT) == ["test_a.py"]
    assert report.counts[Status.PASSED] == 1


@pytest.mark.parametrize(
    ("act", "told"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("import os; os._exit(0)", "code 0"),
    ],
)
def test_a_crash_is_that_of_the_test_that_ran(tmp_path: Path, act: str, told: str) -> None:
    files = {"test_a.py": f"def test_first(): pass\n\ndef test_crash():\n    {act}\n", "test_b.py": GOOD}
    report = Project(tmp_path, files).run(workers=1, rerun_failures=False)
    [bad] = report.failures
    assert (bad.id, bad.kind) == ("test_a.py::test_crash", "Crashed")
    assert told in bad.message
    assert report.counts[Status.PASSED] == 2


def test_the_line_of_a_segmentation_fault_is_told(tmp_path: Path) -> None:
    files = {"test_a.py": "import ctypes\ndef test_crash():\n    x = 1\n    ctypes.string_at(0)\n"}
    [bad] = Project(tmp_path, files).run(rerun_failures=False).failures
    assert (bad.path, bad.line) == ("test_a.py", 4)


def test_a_fork_bomb_is_counted_and_killed(tmp_path: Path) -> None:
    source = "import os, time\ndef test_bomb():\n    for _ in range(9): os.fork()\n    time.sleep(82)\n"
    project = Project(tmp_path, {"test_a.py": source})
    [bad] = project.run(rerun_failures=False).failures
    assert bad.kind == "TooManyProcesses"
    assert not left(str(project.root))


def test_a_daemon_does_not_outlive_its_test(tmp_path: Path) -> None:
    source = """\
import subprocess, sys
def test_daemon():
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(83)"], start_new_session=True)
"""
    report = Project(tmp_path, {"test_a.py": source}).run()
    assert report.counts == {Status.PASSED: 1}
    assert not left("time.sleep(83)")


def test_a_flood_of_output_is_cut(tmp_path: Path) -> None:
    source = (
        "import os\ndef test_much():\n    for _ in range(100): os.write(1, b'x' * (1 << 20))\n    assert 0\n"
    )
    [bad] = Project(tmp_path, {"test_a.py": source}).run(rerun_failures=False).failures
    assert (bad.kind, len(bad.output) < 2200) == ("AssertionError", True)
    assert "left out" in bad.output


def test_output_in_colours_and_of_any_bytes_is_text(tmp_path: Path) -> None:
    printed = "b'\\x1b[31mred\\x1b[0m \\xff\\xfe end'"
    source = f"import os\ndef test_a():\n    os.write(1, {printed})\n    assert 0, '\\x1b[1mbold\\udc80'\n"
    [bad] = Project(tmp_path, {"test_a.py": source}).run(rerun_failures=False).failures
    assert "\x1b" not in bad.output and "red" in bad.output and "end" in bad.output
    assert bad.message.startswith("bold")
    bad.message.encode()


def test_a_suite_that_deletes_its_own_directory_has_a_result(tmp_path: Path) -> None:
    source = "import os, shutil\ndef test_a():\n    shutil.rmtree(os.path.dirname(__file__))\n    assert 0\n"
    project = Project(tmp_path, {"tests/test_a.py": source, "tests/test_b.py": GOOD})
    report = project.run(workers=1)
    assert "tests/test_a.py::test_a" in [case.id for case in report.failures]


def test_a_suite_that_deletes_the_repository_has_a_result(tmp_path: Path) -> None:
    source = "import os, shutil\ndef test_a():\n    shutil.rmtree(os.getcwd())\n"
    project = Project(tmp_path, {"test_a.py": source, "test_b.py": GOOD})
    report = project.run(workers=1)
    assert report.counts == {Status.PASSED: 2}
    assert not project.root.exists()


def test_a_run_is_cancelled_at_once_and_nothing_is_left(tmp_path: Path) -> None:
    project = Project(tmp_path, {"test_a.py": "import time\ndef test_a(): time.sleep(84)\n"})
    heard: list[str | None] = []
    began = time.monotonic()

    def check() -> None:
        if "test_a.py" in heard:
            raise Cancelled("The call was cancelled.")

    with pytest.raises(Cancelled):
        project.run(watch=Watch(check, lambda done, total, told: heard.append(told)), target_timeout_sec=60)
    assert time.monotonic() - began < 30
    assert not left(str(project.root))


def test_the_whole_run_has_a_deadline(tmp_path: Path) -> None:
    slow = "import time\ndef test_a(): time.sleep(85)\n"
    files = {"test_a.py": slow, "test_b.py": slow, "test_c.py": slow}
    report = Project(tmp_path, files).run(workers=1, total_timeout_sec=3, target_timeout_sec=60)
    assert report.stopped == "time"
    assert set(report.ended(End.NOT_RUN)) >= {"test_b.py", "test_c.py"}


def test_what_ran_when_the_time_of_the_whole_run_was_over_is_named(tmp_path: Path) -> None:
    targets = tuple(
        Target(name, "pytest", "python", RepoPath(name), RepoPath("")) for name in ("a.py", "b.py")
    )
    batch = Batch("pytest", targets)
    standing = Standing("a.py", "a.py::test_slow", ("a.py",))
    ended = Finished(None, b"", b"", ended_for="asked")
    outcome = judge_batch(Run(batch, tmp_path, ended, (), None, standing, "", "time"))
    assert outcome.ends == {"a.py": End.TIMED_OUT, "b.py": End.NOT_RUN}
    [case] = outcome.cases
    assert (case.id, case.kind) == ("a.py::test_slow", "TimedOut")
    assert not judge_batch(Run(batch, tmp_path, ended, (), None, standing, "", "fail_fast")).cases


def test_fail_fast_stops_at_the_first_failure(tmp_path: Path) -> None:
    files = {
        "test_a.py": "def test_a(): assert 0\n",
        "test_b.py": "import time\ndef test_b(): time.sleep(86)\n",
    }
    report = Project(tmp_path, files).run(workers=2, fail_fast=True, target_timeout_sec=60)
    assert report.stopped == "fail_fast"
    assert [case.id for case in report.failures] == ["test_a.py::test_a"]
    assert report.ended(End.NOT_RUN) == ["test_b.py"]


def test_progress_grows_with_every_word(tmp_path: Path) -> None:
    heard: list[tuple[float, float | None]] = []
    crash = "import os\ndef test_crash(): os._exit(3)\n"
    files = {"test_a.py": crash, "test_b.py": GOOD, "test_c.py": "def test_bad(): assert 0\n"}
    watch = Watch(progress=lambda done, total, told: heard.append((done, total)))
    Project(tmp_path, files).run(workers=1, watch=watch)
    done = [one for one, _ in heard]
    assert done == sorted(set(done)) and all(total is not None and one <= total for one, total in heard)
