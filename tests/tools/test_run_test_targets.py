"""Tests run by the tool in a trusted repository: results, records, what they did to the tree."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.drive import new_repo
from tests.programs import needs
from tests.tools.repo import Repo, trust

Trusted = Callable[[Mapping[str, str]], Repo]
CART = """\
def total(items):
    return sum(items)


def unused(x):
    if x:
        return 1
    return 2
"""
TEST = "from app.cart import total, unused\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
FILES = {
    ".gitignore": ".venv\n__pycache__/\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
    "app/__init__.py": "",
    "app/cart.py": CART,
    "tests/test_cart.py": TEST,
    "tests/test_other.py": "def test_other():\n    pass\n",
}


@pytest.fixture
def trusted(tmp_path: Path) -> Iterator[Trusted]:
    repos: list[Repo] = []

    def make(files: Mapping[str, str]) -> Repo:
        root = new_repo(tmp_path / "repo", files)
        # The environment of the project is the one that runs this test.
        (root / ".venv").symlink_to(sys.prefix)
        trust(root, tmp_path)
        repos.append(Repo.at(root, tmp_path))
        return repos[-1]

    yield make
    for repo in repos:
        repo.session.close()


def meta(repo: Repo, **arguments: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    answer = repo.ask("run_test_targets", **arguments)
    assert not answer.is_error, answer.body
    return answer.body["result"], answer.body["meta"]


def test_only_what_a_change_concerns_is_run(trusted: Trusted) -> None:
    repo = trusted(FILES)
    assert repo.result("run_test_targets")["summary"].startswith("2 passed in 2 targets")
    repo.write("app/cart.py", CART.replace("sum(items)", "sum(items) + 1"))
    result, told = meta(repo, affected_by="changes")
    assert not result["ok"] and result["summary"].startswith("1 failed in 1 target,")
    [failure] = result["failures"]
    assert (failure["test"], failure["at"]) == ("tests/test_cart.py::test_total", "tests/test_cart.py:5")
    assert failure["error"] == "AssertionError: assert 4 == 3"
    assert result["selection"] == "complete"
    assert told["next_actions"] == [
        'read_source {"targets": ["tests/test_cart.py:5"]}',
        'run_test_targets {"tests": ["tests/test_cart.py::test_total"], "baseline": true}',
    ]
    repo.write("app/cart.py", CART)
    again = repo.result("run_test_targets", tests=["tests/test_cart.py::test_total"])
    assert again["ok"] and again["summary"].startswith("1 passed in 1 target,")


def test_a_run_is_charged_and_on_record_with_what_it_changed(trusted: Trusted) -> None:
    writes = "def test_writes():\n    open('made.txt', 'w').write('x')\n    assert 0\n"
    repo = trusted({**FILES, "tests/test_writes.py": writes})
    result = repo.result("run_test_targets", target_filter="test_writes")
    assert result["changed_files"] == ["made.txt"]
    [row] = [one for one in repo.session.ledger.operations(limit=10) if one.op_type == "test_run"]
    assert row.operation_id == result["operation"] and not row.success
    assert row.failing_tests == ("tests/test_writes.py::test_writes",)
    assert row.failure_fingerprint == result["fingerprint"] and row.failure_class == "AssertionError"
    assert row.repo_before != row.repo_after
    assert [(change.path, change.before) for change in row.changes] == [("made.txt", None)]
    assert repo.error("undo")["name"] == "NOT_FOUND"


def test_the_same_failure_after_a_change_is_no_progress(trusted: Trusted) -> None:
    repo = trusted({**FILES, "tests/test_bad.py": "def test_bad():\n    assert 1 == 2\n"})
    first, _ = meta(repo, target_filter="test_bad")
    edit = {"path": "app/cart.py", "action": "update", "old_content": "return 2", "new_content": "return 3"}
    repo.result("write_source", edits=[edit])
    second, told = meta(repo, target_filter="test_bad")
    assert second["fingerprint"] == first["fingerprint"] and second["suite"] == first["suite"]
    assert told["task"]["flags"] == ["non_progress"]


def test_test_runs_have_a_budget(trusted: Trusted) -> None:
    repo = trusted(FILES)
    repo.result("task_open", max_test_runs=1)
    repo.result("run_test_targets", target_filter="test_other")
    assert repo.error("run_test_targets")["details"]["budget_type"] == "test_runs"


def test_coverage_is_that_of_what_the_tests_import(trusted: Trusted) -> None:
    repo = trusted({**FILES, "elsewhere/other.py": "x = 1\n"})
    repo.write("app/cart.py", CART + "\n\ndef added():\n    return 4\n")
    result = repo.result("run_test_targets", affected_by="changes", coverage=True)
    assert result["ok"]
    assert result["coverage"]["files"] == ["50% app/cart.py: 6-8, 12"]
    assert result["coverage"]["uncovered_changes"] == ["app/cart.py: 12"]
    assert "changed_files" not in result


def test_a_target_or_a_test_that_is_not_there_is_told_with_the_nearest(trusted: Trusted) -> None:
    repo = trusted(FILES)
    error = repo.error("run_test_targets", target_filter="tests/test_carts.py")
    assert (error["name"], error["hints"][0]) == ("NOT_FOUND", '{"target_filter": "tests/test_cart.py"}')
    assert repo.error("run_test_targets", tests=["tests/nothing.py::test_x"])["name"] == "NOT_FOUND"
    result = repo.result("run_test_targets", tests=["tests/test_cart.py::test_nothing"])
    assert not result["ok"]


def test_a_runner_that_is_missing_is_told_with_what_to_do(trusted: Trusted) -> None:
    repo = trusted(FILES)
    (repo.root / ".venv").unlink()
    (repo.root / ".venv/bin").mkdir(parents=True)
    python = repo.root / ".venv/bin/python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    error = repo.error("run_test_targets")
    assert error["code"] == 7001
    assert any("pip install pytest" in hint for hint in error["hints"])


def test_many_failures_make_no_long_answer(trusted: Trusted) -> None:
    many = "import pytest\n@pytest.mark.parametrize('n', range(300))\ndef test_n(n):\n    print('y' * 5000)\n"
    many += "    assert {'key': 'x' * 2000, 'n': n} == {}\n"
    repo = trusted({**FILES, "tests/test_many.py": many})
    answer = repo.ask("run_test_targets", target_filter="test_many", rerun=False)
    result = answer.body["result"]
    assert len(result["failures"]) + result["more"] == 300
    assert len(answer.text) < 7_500


def test_a_repository_without_tests_is_told(trusted: Trusted) -> None:
    result, told = meta(trusted({"a.py": "x = 1\n"}))
    assert (result["ok"], result["summary"]) == (False, "no test targets: nothing was run")
    assert told["warnings"] == ["Found neither tests nor a test runner."]


def test_what_tests_cost_is_remembered(trusted: Trusted) -> None:
    slow = "import time\ndef test_slow():\n    time.sleep(0.4)\n"
    repo = trusted({**FILES, "tests/test_slow.py": slow})
    repo.result("run_test_targets")
    listed = repo.result("discover_test_targets", paths=["tests/test_slow.py"])["targets"]
    assert listed[0].startswith("pytest tests/test_slow.py 0.")


def test_a_suite_that_deletes_the_repository_has_an_answer(trusted: Trusted) -> None:
    source = "import os, shutil\ndef test_a():\n    shutil.rmtree(os.getcwd())\n    assert 0\n"
    repo = trusted({**FILES, "tests/test_gone.py": source})
    answer = repo.ask("run_test_targets", target_filter="test_gone")
    if answer.is_error:
        assert answer.body["error"]["name"] != "INTERNAL_ERROR", answer.body
    else:
        assert not answer.body["result"]["ok"]


def test_several_targets_are_named_at_once(trusted: Trusted) -> None:
    repo = trusted({**FILES, "tests/test_third.py": "def test_third():\n    pass\n"})
    result = repo.result("run_test_targets", targets=["tests/test_other.py", "tests/test_th*"])
    assert result["summary"].startswith("2 passed in 2 targets")
    error = repo.error("run_test_targets", target_filter=["tests/test_other.py", "tests/test_thrid.py"])
    assert error["hints"][0] == '{"target_filter": "tests/test_third.py"}'


def test_the_stack_of_one_place_is_told_once(trusted: Trusted) -> None:
    text = (
        "import pytest\n\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_n(n):\n"
        "    assert [n] == [3]\n\n\ndef test_other():\n    raise KeyError('x')\n"
    )
    result = trusted({**FILES, "tests/test_cart.py": text}).result("run_test_targets")
    first, third, second = result["failures"]
    assert first["error"] == "AssertionError: assert [1] == [3]"
    assert first["stack"].startswith("tests/test_cart.py:6 in test_n\n    assert [n] == [3]\n")
    assert first["error"] not in first["stack"]
    assert "stack" not in second and "stack" in third


def test_a_target_without_time_is_told_with_the_setting(trusted: Trusted) -> None:
    config = "tests:\n  target_timeout_sec: 1\n"
    files = {**FILES, "tests/test_cart.py": "import time\n\n\ndef test_slow():\n    time.sleep(60)\n"}
    repo = trusted({**files, ".codeplane/config.yaml": config})
    result, told = meta(repo)
    assert result["not_done"] == {"timed out": ["tests/test_cart.py"]}
    assert "tests.target_timeout_sec" in told["warnings"][0]


GO = """\
package x

import "testing"

func TestA(t *testing.T) { t.Fatal("no") }

func TestB(t *testing.T) {}
"""


def test_the_id_of_a_failure_runs_it_alone(trusted: Trusted) -> None:
    needs("go")
    repo = trusted({"go.mod": "module example.org/x\n\ngo 1.19\n", "x_test.go": GO})
    result, told = meta(repo)
    assert result["failures"][0]["test"] == ".::TestA"
    assert told["next_actions"][-1] == 'run_test_targets {"tests": [".::TestA"]}'
    for name in (".::TestA", "x_test.go::TestA"):
        assert repo.result("run_test_targets", tests=[name])["summary"].startswith("1 failed in 1 target,")
    whole = repo.result("run_test_targets", tests=["x_test.go", ".::TestA"])
    assert whole["summary"].startswith("1 failed, 1 passed")


def test_targets_that_nothing_could_be_run_of_are_not_said_to_have_no_tests(trusted: Trusted) -> None:
    needs("go")
    result = trusted({"go.mod": "nonsense\n", "x_test.go": GO}).result("run_test_targets")
    assert result["not_done"] == {"not run": ["."]}
    assert result["failures"][0]["error"].startswith("RunnerFailed: ")


def test_tests_that_reach_a_changed_definition_come_first(trusted: Trusted) -> None:
    files = {
        **FILES,
        "tests/test_cart.py": "import app.cart\n\n\ndef test_it():\n    assert app.cart\n",
        "tests/test_total.py": TEST,
        "tests/test_far.py": "from app.other import twice\n\n\ndef test_far():\n    assert twice([1])\n",
        "app/other.py": "from app.cart import total\n\n\ndef twice(x):\n    return 2 * total(x)\n",
    }
    repo = trusted(files)
    repo.write(
        "app/cart.py", CART.replace("    return sum(items)", "    items = items\n    return sum(items)")
    )
    found = repo.result("inspect_affected_tests")["tests"]
    assert found == [
        "high exact tests/test_total.py reaches → app.cart",
        "high chain:2 tests/test_far.py reaches → app.other",
        "high exact tests/test_cart.py → app.cart",
    ]
    repo.write("app/cart.py", CART.replace("    if x:\n        return 1\n", ""))
    assert not any("reaches" in one for one in repo.result("inspect_affected_tests")["tests"])


def test_a_changed_file_that_a_runner_runs_is_run(trusted: Trusted) -> None:
    config = 'tests:\n  custom:\n    - {pattern: "flows/*.flow", runner: flow, cmd: [cat, "{path}"]}\n'
    repo = trusted({**FILES, "flows/a.flow": "a\n", "flows/b.flow": "b\n", ".codeplane/config.yaml": config})
    result = repo.result("run_test_targets", affected_by=["flows/a.flow"])
    assert result["summary"].startswith("1 passed in 1 target,")


def test_failures_are_told_in_the_order_of_their_files(trusted: Trusted) -> None:
    slow = "import time\n\n\ndef test_it():\n    time.sleep(1)\n    assert 0\n"
    files = {"tests/test_a.py": slow, "tests/test_b.py": "def test_it():\n    assert 0\n"}
    config = "tests:\n  custom:\n" + "".join(
        f'    - {{pattern: "{name}", runner: r{number}, cmd: [python3, -m, pytest, "{{path}}"]}}\n'
        for number, name in enumerate(files)
    )
    result = trusted({**FILES, **files, ".codeplane/config.yaml": config}).result(
        "run_test_targets", target_filter=list(files), rerun=False
    )
    assert [one["test"] for one in result["failures"]] == list(files)


def test_a_path_that_was_never_there_is_told(trusted: Trusted) -> None:
    repo = trusted(FILES)
    (repo.root / "tests/test_other.py").unlink()
    answer = repo.ask("inspect_affected_tests", affected_by=["app/crat.py", "tests/test_other.py"]).body
    [warning] = answer["meta"]["warnings"]
    assert warning == "app/crat.py is not a file of the repository; did you mean app/cart.py?"


def test_a_command_that_fails_is_told_with_what_it_printed(trusted: Trusted) -> None:
    config = 'tests:\n  custom:\n    - {pattern: "flows/*.sh", runner: flow, cmd: [sh, "{path}"]}\n'
    printed = "one\n" + "filling\n" * 100 + "the reason\n" + "filling\n" * 60
    files = {**FILES, "flows/a.sh": f"cat <<'END'\n{printed}END\nexit 1\n", ".codeplane/config.yaml": config}
    result = trusted(files).result("run_test_targets", target_filter="flows/", rerun=False)
    [failure] = result["failures"]
    assert "the reason" in failure["output"]


def test_a_new_directory_that_the_rules_keep_back_is_no_change(trusted: Trusted) -> None:
    repo = trusted(FILES)
    for name in ("app/__pycache__/cart.pyc", "node_modules/cart/a.js", "app/fresh/new.py"):
        (repo.root / name).parent.mkdir(parents=True)
        (repo.root / name).write_text("X = 1\n")
    assert repo.result("inspect_affected_tests")["changed"] == ["app/fresh/new.py"]


KINDS = """\
import pytest
from app.cart import total, unused


@pytest.mark.parametrize("n", range(12))
def test_total(n):
    assert total([n]) == n


def test_first():
    assert total([1]) == 1


def test_second():
    assert unused(0) == 2
"""
BROKEN = CART.replace("sum(items)", "summed[items]").replace("return 2", "return 3")


def test_failures_are_grouped_by_cause_with_one_example_each(trusted: Trusted) -> None:
    repo = trusted({**FILES, "app/cart.py": BROKEN, "tests/test_cart.py": KINDS})
    answer = repo.ask("run_test_targets", rerun=False)
    result = answer.body["result"]
    assert result["summary"].startswith("14 failed, 1 passed in 2 targets,")
    assert result["summary"].endswith("; 2 causes")
    examples = [one for one in result["failures"] if "same_as" not in one]
    assert [(one["test"], one.get("alike")) for one in examples] == [
        ("tests/test_cart.py::test_total[0]", 12),
        ("tests/test_cart.py::test_second", None),
    ]
    assert examples[0]["at"] == "app/cart.py:2"
    lines = answer.text.splitlines()
    assert lines[1] == (
        "FAILED tests/test_cart.py::test_total[0] - NameError: name 'summed' is not defined"
        " (app/cart.py:2), and 12 more"
    )
    start = lines.index("Same cause as tests/test_cart.py::test_total[0]:")
    assert lines[start + 1 : start + 3] == ["  tests/test_cart.py", "    test_total[1]"]
    assert "    test_first" in lines


def test_every_failure_is_reached_by_the_cursor(trusted: Trusted) -> None:
    many = "".join(f"def test_{n}():\n    assert [{n}] == ['{'x' * 300}']\n\n\n" for n in range(40))
    repo = trusted({**FILES, "tests/test_many.py": many})
    answer = repo.ask("run_test_targets", target_filter="test_many", rerun=False)
    ids: list[str] = []
    while True:
        assert len(answer.text) < 7_500
        result = answer.body["result"]
        ids += [one["test"] for one in result["failures"]]
        if "next_cursor" not in result:
            break
        answer = repo.ask("run_test_targets", cursor=result["next_cursor"])
    assert ids == [f"tests/test_many.py::test_{n}" for n in range(40)]


def test_failures_of_an_earlier_run_on_the_unchanged_tree_are_marked(trusted: Trusted) -> None:
    bad = "def test_bad():\n    assert 1 == 2\n"
    repo = trusted({**FILES, "tests/test_bad.py": bad})
    assert "before" not in repo.result("run_test_targets", rerun=False)["failures"][0]
    repo.write("app/cart.py", BROKEN)
    repo.write("tests/test_bad.py", "import app.cart\n\n\n" + bad)
    result, told = meta(repo, affected_by="changes", rerun=False)
    assert [(one["test"], "before" in one) for one in result["failures"]] == [
        ("tests/test_cart.py::test_total", False),
        ("tests/test_bad.py::test_bad", True),
    ]
    assert result["summary"].endswith("; 1 of 2 failures pre-existing")
    assert told["next_actions"][0] == 'read_source {"targets": ["app/cart.py:2"]}'
    repo.write("tests/test_bad.py", bad.replace("== 2", "== 3"))
    assert "before" not in repo.result("run_test_targets", target_filter="test_bad")["failures"][0]


def test_failures_are_run_at_head_when_asked(trusted: Trusted) -> None:
    repo = trusted({**FILES, "tests/test_bad.py": "def test_bad():\n    assert 1 == 2\n"})
    repo.write("app/cart.py", BROKEN)
    repo.write("tests/test_new.py", "from app.cart import total\n\n\ndef test_new():\n    assert total([])\n")
    result = repo.result("run_test_targets", rerun=False, baseline=True)
    assert {one["test"]: "before" in one for one in result["failures"]} == {
        "tests/test_cart.py::test_total": False,
        "tests/test_new.py::test_new": False,
        "tests/test_bad.py::test_bad": True,
    }
    assert (repo.root / "app/cart.py").read_text() == BROKEN
    # It is known from now on.
    again = repo.result("run_test_targets", rerun=False, target_filter="test_bad")
    assert again["failures"][0]["before"]


@pytest.mark.parametrize(
    ("files", "cause"),
    [
        ({"tests/conftest.py": "import nothing_such\n"}, "No module named 'nothing_such'"),
        ({"pytest.ini": "[pytest]\naddopts = -p nothing_such\n"}, "No module named 'nothing_such'"),
        ({"pytest.ini": "[pytest]\naddopts = --nothing-such\n"}, "unrecognized arguments: --nothing-such"),
        ({"pytest.ini": "[pytest\n"}, "pytest.ini"),
        ({"pytest.ini": "[pytest]\nrequired_plugins = nothing-such\n"}, "nothing-such"),
    ],
)
def test_a_runner_that_cannot_begin_shows_what_it_printed(
    trusted: Trusted, files: Mapping[str, str], cause: str
) -> None:
    answer = trusted({**FILES, **files}).ask("run_test_targets", rerun=False)
    first = answer.text.splitlines()[1]
    assert first.startswith("FAILED ") and cause in first, answer.text


def test_a_package_of_the_repository_that_is_not_installed_is_told(trusted: Trusted) -> None:
    files = {"src/shop/__init__.py": "", "tests/test_a.py": "import shop\n", ".gitignore": ".venv\n"}
    _, told = meta(trusted(files), rerun=False)
    assert told["warnings"][0].startswith("shop is this repository's own, and the environment")


def test_a_custom_command_is_read_as_the_runner_that_it_names(trusted: Trusted) -> None:
    config = (
        'tests:\n  custom:\n    - {pattern: "tests/test_cart.py", runner: pytest,'
        ' cmd: [python3, -m, pytest, "{path}", -q]}\n'
    )
    repo = trusted(
        {**FILES, "app/cart.py": BROKEN, "tests/test_cart.py": KINDS, ".codeplane/config.yaml": config}
    )
    result = repo.result("run_test_targets", target_filter="test_cart", rerun=False)
    assert result["summary"].startswith("14 failed in 1 target,")
    assert result["failures"][0]["test"] == "tests/test_cart.py::test_total[0]"
    assert result["failures"][0]["at"] == "app/cart.py:2"


def test_a_test_of_a_custom_command_may_run_pytest_itself(trusted: Trusted) -> None:
    config = (
        'tests:\n  custom:\n    - {pattern: "tests/test_cart.py", runner: pytest,'
        ' cmd: [python3, -m, pytest, "{path}", -q]}\n'
    )
    inner = "import subprocess, sys\n\n\ndef test_in():\n    args = '-m', 'pytest', 'tests/test_other.py'\n"
    inner += "    assert subprocess.run([sys.executable, *args]).returncode == 0\n"
    repo = trusted({**FILES, "tests/test_cart.py": inner, ".codeplane/config.yaml": config})
    result = repo.result("run_test_targets", target_filter="test_cart", rerun=False)
    assert result["summary"].startswith("1 passed in 1 target,")


def test_a_custom_command_that_fails_where_its_tests_pass_is_told(trusted: Trusted) -> None:
    config = (
        'tests:\n  custom:\n    - {pattern: "tests/test_cart.py", runner: pytest,'
        " cmd: [sh, -c, 'python3 -m pytest -q {path}; exit 3']}\n"
    )
    repo = trusted({**FILES, ".codeplane/config.yaml": config})
    result = repo.result("run_test_targets", target_filter="test_cart", rerun=False)
    assert result["summary"].startswith("1 failed, 1 passed in 1 target,")
    assert result["failures"][0]["error"] == "sh ended with code 3"


def test_coverage_of_go_is_read_from_its_profile(trusted: Trusted) -> None:
    needs("go")
    source = "package x\n\nfunc Half(n int) int {\n\tif n == 0 {\n\t\treturn 0\n\t}\n\treturn n / 2\n}\n"
    test = 'package x\n\nimport "testing"\n\nfunc TestA(t *testing.T) {\n\tHalf(4)\n}\n'
    files = {"m/go.mod": "module example.org/x\n\ngo 1.19\n", "m/x.go": source, "m/x_test.go": test}
    result = trusted(files).result("run_test_targets", coverage=True)
    assert result["coverage"]["files"] == ["60% m/x.go: 5-6"]


def test_a_runner_without_coverage_is_named(trusted: Trusted) -> None:
    config = 'tests:\n  custom:\n    - {pattern: "flows/*.sh", runner: flow, cmd: [sh, "{path}"]}\n'
    repo = trusted({"flows/a.sh": "true\n", ".codeplane/config.yaml": config})
    _, told = meta(repo, coverage=True)
    assert told["warnings"] == ["Coverage was not measured: flow coverage is not supported."]
