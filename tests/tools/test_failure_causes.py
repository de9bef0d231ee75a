"""Failures are grouped by what is wrong, not by the helper that says so."""

from codeplane.answers.failures import failures_by_cause
from codeplane.testrun.results import Case, Status


def failure(test: str, message: str, output: str = "") -> Case:
    return Case(
        f"tests/test_a.py::{test}", "tests/test_a.py", Status.FAILED, 0.0, message,
        "AssertionError", "tests/util.py", 124, "tests/util.py:124: in check", output,
    )  # fmt: skip


def test_assertions_of_one_helper_that_say_different_things_are_different_causes() -> None:
    cases = [failure("test_x", "['1'] != ['2']"), failure("test_y", "['3'] != []")]
    assert [one.same_as for one in failures_by_cause(cases, {})] == [None, None]


def test_assertions_of_one_helper_that_say_the_same_are_one_cause() -> None:
    cases = [failure("test_x", "['1'] != ['2']"), failure("test_y", "['1'] != ['2']")]
    assert [one.same_as for one in failures_by_cause(cases, {})] == [None, "tests/test_a.py::test_x"]


def test_of_what_was_printed_the_end_is_shown_beside_a_stack() -> None:
    printed = "\n".join(f"line {number}" for number in range(20))
    [one] = failures_by_cause([failure("test_x", "wrong", printed)], {})
    assert one.output is not None and one.output.splitlines()[:2] == ["… 14 lines", "line 14"]
