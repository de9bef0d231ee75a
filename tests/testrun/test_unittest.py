"""unittest for real."""

from pathlib import Path

from codeplane.testrun.results import Status
from tests.testrun.project import Project

SOURCE = """\
import unittest

class Numbers(unittest.TestCase):
    def test_good(self):
        pass

    def test_bad(self):
        print("seen")
        self.assertEqual(1, 2)

    def test_error(self):
        {}["key"]

    @unittest.skip("not today")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected(self):
        self.fail()

    def test_parts(self):
        for number in (1, 2):
            with self.subTest(number=number):
                self.assertEqual(number, 1)
"""


def test_results_are_data(tmp_path: Path) -> None:
    project = Project(tmp_path, {"tests/__init__.py": "", "tests/test_a.py": SOURCE})
    assert [found.evidence for found in project.discover().projects] == ["imports of unittest"]
    report = project.run()
    told = {case.id.partition("::Numbers.")[2]: case for case in report.cases}
    assert {name: case.status.value for name, case in told.items()} == {
        "test_good": "passed",
        "test_bad": "failed",
        "test_error": "error",
        "test_skipped": "skipped",
        "test_expected": "skipped",
        "test_parts": "passed",
        "test_parts (number=2)": "failed",
    }
    bad = told["test_bad"]
    assert (bad.id, bad.target) == ("tests/test_a.py::Numbers.test_bad", "tests/test_a.py")
    assert (bad.kind, bad.message, bad.path, bad.line) == ("AssertionError", "1 != 2", "tests/test_a.py", 9)
    assert "seen" in bad.output
    assert not report.flaky


def test_a_test_that_fails_only_once_is_flaky(tmp_path: Path) -> None:
    source = """\
import os, unittest
class T(unittest.TestCase):
    def test_flaky(self):
        was = os.path.exists("seen")
        open("seen", "w").close()
        self.assertTrue(was)
"""
    report = Project(tmp_path, {"test_a.py": source}).run()
    assert report.flaky == {"test_a.py::T.test_flaky"} and not report.failures


def test_a_file_that_cannot_be_imported_does_not_stop_the_others(tmp_path: Path) -> None:
    good = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
    files = {"tests/test_a.py": "import unittest\nimport nothing_there\n", "tests/test_b.py": good}
    report = Project(tmp_path, files).run(workers=1)
    assert report.counts == {Status.ERROR: 1, Status.PASSED: 1}
    [bad] = report.failures
    assert (bad.kind, bad.path, bad.line) == ("ModuleNotFoundError", "tests/test_a.py", 2)


def test_a_class_that_cannot_be_set_up_is_told(tmp_path: Path) -> None:
    source = """\
import unittest
class T(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no set-up")
    def test_a(self): pass
"""
    [bad] = Project(tmp_path, {"test_a.py": source}).run().failures
    assert (bad.target, bad.kind, bad.message, bad.line) == ("test_a.py", "OSError", "no set-up", 5)
