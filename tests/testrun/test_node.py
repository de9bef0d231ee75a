"""Node's own runner for real."""

import os
from pathlib import Path

import pytest

from codeplane.testrun.results import End, Status
from tests.conformance.node import node
from tests.testrun.project import Project

SOURCE = """\
const test = require("node:test");
const assert = require("node:assert");
const { describe, it } = test;

test("good", () => {});
test("bad", () => {
  console.log("seen");
  assert.strictEqual(1, 2);
});
describe("group", () => {
  it("raises", () => { throw new TypeError("boom"); });
  it.skip("skipped", () => {});
});
"""


@pytest.fixture(autouse=True)
def node_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(node().parent), prepend=os.pathsep)


def test_results_are_data(tmp_path: Path) -> None:
    package = '{"scripts": {"test": "node --test"}}'
    project = Project(tmp_path, {"web/package.json": package, "web/a.test.js": SOURCE})
    assert [found.evidence for found in project.discover().projects] == ["web/package.json: node --test"]
    report = project.run()
    told = {case.id: case for case in report.cases}
    assert {name: case.status for name, case in told.items()} == {
        "web/a.test.js::good": Status.PASSED,
        "web/a.test.js::bad": Status.FAILED,
        "web/a.test.js::group > raises": Status.FAILED,
        "web/a.test.js::group > skipped": Status.SKIPPED,
    }
    bad, raises = told["web/a.test.js::bad"], told["web/a.test.js::group > raises"]
    assert (bad.kind, bad.path, bad.line) == ("AssertionError", "web/a.test.js", 8)
    assert bad.message == "Expected values to be strictly equal: 1 !== 2"
    assert "seen" in bad.output
    assert (raises.kind, raises.message, raises.line) == ("TypeError", "boom", 11)


def test_a_file_that_cannot_be_loaded_is_told_and_one_that_hangs_is_ended(tmp_path: Path) -> None:
    files = {
        "a.test.js": 'require("node:test");\nthrow new Error("no set-up");\n',
        "b.test.js": 'require("node:test")("good", () => {});\n',
        "c.test.js": 'require("node:test")("hangs", () => { for (;;); });\n',
    }
    report = Project(tmp_path, files).run(target_timeout_sec=3, rerun_failures=False)
    told = {case.target: case for case in report.failures}
    assert (told["a.test.js"].message, told["a.test.js"].line) == ("no set-up", 2)
    assert told["c.test.js"].kind == "TimedOut"
    assert report.counts[Status.PASSED] == 1
    assert report.ended(End.TIMED_OUT) == ["c.test.js"]


def test_tests_of_one_name_are_counted_one_by_one(tmp_path: Path) -> None:
    same = 'const test = require("node:test");\n'
    same += 'for (const n of [1, 2, 3]) test("same", () => {});\n'
    same += 'for (const n of [1, 2]) test("bad", () => { throw new TypeError("boom"); });\n'
    package = '{"scripts": {"test": "node --test"}}'
    report = Project(tmp_path, {"package.json": package, "a.test.js": same}).run(rerun_failures=False)
    assert report.counts == {Status.PASSED: 3, Status.FAILED: 2}
