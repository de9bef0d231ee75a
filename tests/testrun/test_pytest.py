"""pytest for real: results as data, whatever a suite does."""

import ast
from pathlib import Path

from codeplane.testrun.results import End, Status
from codeplane.testrun.runners._lines import REPORTERS
from tests.testrun.project import Project, one

FAILING = """\
import helper

def test_good():
    assert helper.double(2) == 4

def test_bad():
    print("seen")
    assert helper.double(2) == 5

def test_raises():
    helper.broken({})
"""
HELPER = """\
def double(x):
    return 2 * x

def broken(table):
    return table["key"]
"""


def test_failures_are_data(tmp_path: Path) -> None:
    project = Project(tmp_path, {"test_a.py": FAILING, "helper.py": HELPER})
    report = project.run()
    assert report.counts == {Status.PASSED: 1, Status.FAILED: 2}
    bad, raises = report.failures
    assert (bad.id, bad.target, bad.kind, bad.path, bad.line) == (
        "test_a.py::test_bad",
        "test_a.py",
        "AssertionError",
        "test_a.py",
        8,
    )
    assert bad.message == "assert 4 == 5"
    assert "test_a.py:8 in test_bad" in bad.stack and "where 4 = " in bad.stack
    assert "seen" in bad.output
    assert (raises.kind, raises.message, raises.path, raises.line) == ("KeyError", "'key'", "helper.py", 5)
    assert "test_a.py:11 in test_raises" in raises.stack
    assert [result.end for result in report.targets] == [End.DONE]
    assert not (project.root / ".pytest_cache").exists()


def test_a_file_that_cannot_be_imported_is_told_with_its_line(tmp_path: Path) -> None:
    project = Project(tmp_path, {"tests/test_a.py": "import os\nimport nothing_there\n"})
    case = one(project.run(rerun_failures=False))
    assert (case.status, case.kind, case.path, case.line) == (
        Status.ERROR,
        "ModuleNotFoundError",
        "tests/test_a.py",
        2,
    )
    assert "nothing_there" in case.message
    assert "<frozen" not in case.stack


def test_a_file_that_cannot_be_imported_does_not_stop_the_others(tmp_path: Path) -> None:
    files = {"test_a.py": "import nothing_there\n", "test_b.py": "def test_b(): pass\n"}
    report = Project(tmp_path, files).run(workers=1, rerun_failures=False)
    assert report.counts == {Status.ERROR: 1, Status.PASSED: 1}


def test_reporters_are_written_for_old_interpreters() -> None:
    for file in REPORTERS.glob("*.py"):
        ast.parse(file.read_text(), feature_version=(3, 8))


def test_a_syntax_error_is_told_with_its_line(tmp_path: Path) -> None:
    case = one(Project(tmp_path, {"test_a.py": "x = 1\ndef f(:\n"}).run())
    assert (case.kind, case.path, case.line) == ("SyntaxError", "test_a.py", 2)


def test_a_conftest_that_fails_is_told_once_and_stops_its_own_directory_alone(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "a/conftest.py": "\nraise ValueError('no set-up')\n",
        "a/test_a.py": "def test_a(): pass\n",
        "b/test_b.py": "def test_b(): pass\n",
    }
    report = Project(tmp_path, files).run(workers=1)
    [bad] = report.failures
    assert (bad.kind, bad.message, bad.path, bad.line) == ("ValueError", "no set-up", "a/conftest.py", 2)
    assert {result.target.id: result.end for result in report.targets} == {
        "a/test_a.py": End.NOT_RUN,
        "b/test_b.py": End.DONE,
    }


def test_a_plugin_that_is_missing_is_told_with_the_file_that_asks_for_it(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = --no-such-option\n", "test_a.py": "def test_a(): pass\n"}
    case = one(Project(tmp_path, files).run())
    assert (case.kind, case.path) == ("UsageError", "pytest.ini")
    assert "--no-such-option" in case.message


def test_errors_skips_and_expected_failures_are_told_apart(tmp_path: Path) -> None:
    source = """\
import pytest

@pytest.fixture
def broken():
    raise RuntimeError("no fixture")

def test_error(broken): pass

@pytest.mark.skip(reason="not today")
def test_skipped(): pass

@pytest.mark.xfail
def test_expected(): assert 0

@pytest.fixture
def leaves():
    yield
    assert False, "left behind"

def test_teardown(leaves): pass
"""
    report = Project(tmp_path, {"test_a.py": source}).run(rerun_failures=False)
    told = {case.id.partition("::")[2]: (case.status, case.message) for case in report.cases}
    assert told == {
        "test_error": (Status.ERROR, "no fixture"),
        "test_skipped": (Status.SKIPPED, "Skipped: not today"),
        "test_expected": (Status.SKIPPED, "expected to fail"),
        "test_teardown": (Status.ERROR, "left behind"),
    }


def test_no_tests_are_no_failure(tmp_path: Path) -> None:
    report = Project(tmp_path, {"test_a.py": "x = 1\n"}).run()
    assert not report.cases and report.ended(End.NO_TESTS) == ["test_a.py"]


def test_ids_begin_at_the_top_of_the_repository(tmp_path: Path) -> None:
    files = {"web/api/pytest.ini": "[pytest]\n", "web/api/tests/test_a.py": "def test_a(): assert 0\n"}
    report = Project(tmp_path, files).run()
    [bad] = report.failures
    assert (bad.id, bad.path) == ("web/api/tests/test_a.py::test_a", "web/api/tests/test_a.py")


def test_the_id_of_a_conftest_begins_at_the_top_as_well(tmp_path: Path) -> None:
    files = {
        "web/pytest.ini": "[pytest]\n",
        "web/conftest.py": "1 / 0\n",
        "web/test_a.py": "def test_a(): pass\n",
    }
    [bad] = Project(tmp_path, files).run().failures
    assert (bad.id, bad.path, bad.line) == ("web/conftest.py", "web/conftest.py", 1)


def test_a_test_that_fails_only_once_is_flaky(tmp_path: Path) -> None:
    source = """\
import os
def test_flaky():
    was = os.path.exists("seen")
    open("seen", "w").close()
    assert was
def test_bad(): assert 0
"""
    project = Project(tmp_path, {"test_a.py": source})
    report = project.run()
    assert report.flaky == {"test_a.py::test_flaky"}
    assert [case.id for case in report.failures] == ["test_a.py::test_bad"]


def test_a_project_that_spreads_its_tests_itself_is_run_in_one_process(tmp_path: Path) -> None:
    files = {"pytest.ini": "[pytest]\naddopts = -n 2\n", "test_a.py": "def test_a(): pass\n"}
    assert Project(tmp_path, files).run().counts == {Status.PASSED: 1}


def test_tests_do_not_see_the_reporter(tmp_path: Path) -> None:
    source = """\
import os, subprocess, sys
def test_environment():
    assert "PYTHONPATH" not in os.environ and "CODEPLANE_REPORT" not in os.environ
    assert not [one for one in sys.path if one.endswith("reporters")]
    code = subprocess.call([sys.executable, "-m", "pytest", "-q", "other.py"])
    assert code == 1
"""
    files = {"test_a.py": source, "other.py": "def test_other(): assert 0\n"}
    assert Project(tmp_path, files).run().counts == {Status.PASSED: 1}
