"""jest and vitest, for real."""

import json
from pathlib import Path

import pytest

from codeplane.testrun import Case, Status
from codeplane.testrun.coverage import read_coverage
from codeplane.testrun.runners import RUNNERS
from tests.conformance.node import node, required
from tests.testrun.real import found_targets, run_tests, written

JEST = ("jest", "29.7.0")
VITEST = ("vitest", "3.2.4")
TESTS = """\
test("halves", () => {
  expect(half(4)).toBe(2);
});
describe("odd numbers", () => {
  test("are wrong", () => {
    expect(half(5)).toBe(3);
  });
  test.skip("come later", () => {});
});
test("breaks", () => {
  half(null.x);
});
"""


@pytest.fixture
def node_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(node().parent), prepend=":")


def project(root: Path, tool: Path, files: dict[str, str]) -> Path:
    made = written(root, files)
    (made / "node_modules").symlink_to(tool.parent)
    return made


def told(cases: dict[str, Case]) -> dict[str, Case]:
    return {name.partition("::")[2]: case for name, case in cases.items()}


def check_ends(cases: dict[str, Case], file: str, message: str) -> None:
    named = told(cases)
    assert {name: case.status for name, case in named.items()} == {
        "halves": Status.PASSED,
        "odd numbers are wrong": Status.FAILED,
        "odd numbers come later": Status.SKIPPED,
        "breaks": Status.FAILED,
    }
    wrong, breaks = named["odd numbers are wrong"], named["breaks"]
    assert (wrong.target, wrong.path, wrong.line) == (file, file, 7)
    assert message in wrong.message and not wrong.message.startswith(f"{wrong.kind}: ")
    [frame] = [line for line in wrong.stack.splitlines() if line.strip().startswith("at ")]
    assert f"{file}:7:" in frame and f"/{file}" not in frame
    assert (breaks.kind, breaks.path, breaks.line) == ("TypeError", file, 12)


def test_configurations_and_packages_show_the_runner(tmp_path: Path) -> None:
    files = {
        "web/vitest.config.ts": "",
        "web/src/a.test.ts": "",
        "old/package.json": '{"jest": {}}',
        "old/__tests__/b.js": "",
        "old/node_modules/x/c.test.js": "",
        "more/package.json": '{"devDependencies": {"jest": "^29"}}',
        "more/d.spec.tsx": "",
    }
    root = written(tmp_path, files)
    assert [(one.id, one.root) for one in found_targets(RUNNERS["vitest"], root)] == [
        ("web/src/a.test.ts", "web")
    ]
    assert [(one.id, one.root, one.language) for one in found_targets(RUNNERS["jest"], root)] == [
        ("more/d.spec.tsx", "more", "tsx"),
        ("old/__tests__/b.js", "old", "javascript"),
    ]


def test_tests_of_types_are_run_where_a_script_has_vitest_check_them(tmp_path: Path) -> None:
    for script, is_checked in (
        ("eslint . && vitest run --typecheck", True),
        ("vitest --typecheck.enabled --coverage", True),
        ("vitest run && tsc --typecheck", False),
        ("vitest run --typecheck=false", False),
        ("vitest run", False),
    ):
        package = {"devDependencies": {"vitest": "*"}, "scripts": {"test": script}}
        files = {"package.json": json.dumps(package), "a.test.ts": "", "types.test-d.ts": ""}
        found = found_targets(RUNNERS["vitest"], written(tmp_path, files))
        assert [one.id for one in found] == ["a.test.ts", *["types.test-d.ts"] * is_checked], script


def test_every_end_of_a_test_of_jest_is_told(tmp_path: Path, node_first: None) -> None:
    files = {
        "package.json": '{"name": "toy", "jest": {}}',
        "half.js": "module.exports = (n) => Math.floor(n / 2);\n",
        "half.test.js": 'const half = require("./half");' + "\n" + TESTS,
    }
    root = project(tmp_path / "repo", required(*JEST), files)
    check_ends(run_tests("jest", root, tmp_path / "reports"), "half.test.js", "toBe")
    one = ["half.test.js::odd numbers are wrong"]
    assert list(run_tests("jest", root, tmp_path / "one", one)) == one


def test_a_file_that_jest_cannot_load_is_shown(tmp_path: Path, node_first: None) -> None:
    files = {
        "package.json": '{"jest": {}}',
        "a.test.js": 'require("./nowhere");\n',
        "b.test.js": 'test("b", () => {});\n',
    }
    root = project(tmp_path / "repo", required(*JEST), files)
    cases = run_tests("jest", root, tmp_path / "reports")
    broken = cases["a.test.js"]
    assert (broken.target, broken.status, broken.path, broken.line) == (
        "a.test.js",
        Status.ERROR,
        "a.test.js",
        1,
    )
    assert "Cannot find module './nowhere'" in broken.message
    assert cases["b.test.js::b"].status is Status.PASSED


def test_every_end_of_a_test_of_vitest_is_told(tmp_path: Path, node_first: None) -> None:
    files = {
        "package.json": '{"name": "toy", "type": "module", "devDependencies": {"vitest": "*"}}',
        "half.ts": "export const half = (n: number) => Math.floor(n / 2);\n",
        "half.test.ts": 'import { half } from "./half"; import { describe, expect, test } from "vitest";'
        "\n" + TESTS,
    }
    root = project(tmp_path / "repo", required(*VITEST, is_native=True), files)
    check_ends(run_tests("vitest", root, tmp_path / "reports"), "half.test.ts", "expected 2 to be 3")
    one = ["half.test.ts::odd numbers are wrong"]
    assert list(run_tests("vitest", root, tmp_path / "one", one)) == one


def test_an_error_after_a_test_of_vitest_is_told(tmp_path: Path, node_first: None) -> None:
    late = 'import { test } from "vitest";\n'
    late += 'test("good", () => {\n  Promise.reject(new TypeError("too late"));\n});\n'
    files = {"package.json": '{"type": "module", "devDependencies": {"vitest": "*"}}', "a.test.ts": late}
    root = project(tmp_path / "repo", required(*VITEST, is_native=True), files)
    cases = run_tests("vitest", root, tmp_path / "reports")
    assert cases["a.test.ts::good"].status is Status.PASSED
    outside = cases["vitest"]
    assert (outside.status, outside.kind, outside.message) == (Status.ERROR, "TypeError", "too late")
    assert (outside.path, outside.line) == ("a.test.ts", 3)


def test_coverage_of_jest_is_read_from_its_report(tmp_path: Path, node_first: None) -> None:
    files = {
        "package.json": '{"name": "toy", "jest": {}}',
        "half.js": "module.exports = (n) => {\n  if (n === 0) {\n    return 0;\n  }\n  return n / 2;\n};\n",
        "half.test.js": 'const half = require("./half");\ntest("halves", () => { half(4); });\n',
    }
    root = project(tmp_path / "repo", required(*JEST), files)
    run_tests("jest", root, tmp_path / "reports", coverage=(root,))
    found = read_coverage(tmp_path / "reports", root)
    assert found is not None and found.files["half.js"].missing == [3]


PROJECTS = """\
import { defineConfig } from 'vitest/config';
// include: ['wrong/**']
export default defineConfig({
  test: {
    coverage: { include: ['src/**'] },
    include: ['test/**/*.{js,ts}', 'more/?(x|y).check.?(c|m)[jt]s?(x)'],
    exclude: [...configDefaults.exclude, 'test/helpers.ts', "test/**/.eslintrc.js"],
    projects: [
      { extends: true, test: { name: 'sync' }, define: { 'global.SYNC': true } },
      { test: { include: ["slow/*.ts"], setupFiles: [join(here, 'a.ts')] } },
    ],
  },
});
"""


def test_a_configuration_says_which_files_are_tests_of_vitest(tmp_path: Path) -> None:
    files = [
        "test/object.ts",
        "test/helpers.ts",
        "test/deep/a.js",
        "more/x.check.mts",
        "slow/b.ts",
        "src/c.ts",
    ]
    root = written(tmp_path, {"vitest.config.ts": PROJECTS, **dict.fromkeys(files, "")})
    wanted = ["more/x.check.mts", "slow/b.ts", "test/deep/a.js", "test/object.ts"]
    assert [one.id for one in found_targets(RUNNERS["vitest"], root)] == wanted


def test_patterns_that_are_computed_leave_the_usual_names(tmp_path: Path) -> None:
    config = "export default { plugins: [a({test: 1})], test: { include: patterns(['x/**']) } }"
    files = {"vite.config.ts": config, "package.json": '{"devDependencies": {"vitest": "3"}}'}
    root = written(tmp_path, {**files, "x/a.ts": "", "x/b.test.ts": ""})
    assert [one.id for one in found_targets(RUNNERS["vitest"], root)] == ["x/b.test.ts"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("package.json", '{"jest": {"testMatch": ["<rootDir>/checks/**/*.js", "!**/d.js"]}}'),
        (
            "jest.config.js",
            "module.exports = {testRegex: '/checks/.*\\\\.js$', testPathIgnorePatterns: ['/d']}",
        ),
    ],
)
def test_a_configuration_says_which_files_are_tests_of_jest(tmp_path: Path, file: str, text: str) -> None:
    root = written(tmp_path, {file: text, "checks/a.js": "", "checks/d.js": "", "src/b.test.js": ""})
    assert [one.id for one in found_targets(RUNNERS["jest"], root)] == ["checks/a.js"]
