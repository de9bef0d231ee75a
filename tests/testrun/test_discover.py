"""Settings come first, then marks in the tree, then what a language usually has."""

from pathlib import Path

import pytest

from codeplane.core.errors import InvalidSetting
from codeplane.testrun.results import Status
from tests.testrun.project import Project

PASSING = "def test_a(): pass\n"


def found(project: Project, **settings: object) -> dict[str, str]:
    return {one.id: one.runner for one in project.discover(**settings).targets}


def test_a_language_has_its_default(tmp_path: Path) -> None:
    project = Project(tmp_path, {"tests/test_a.py": PASSING, "src/a.py": "", "tests/helper.py": ""})
    assert found(project) == {"tests/test_a.py": "pytest"}
    assert [one.evidence for one in project.discover().projects] == ["default"]


@pytest.mark.parametrize(
    ("file", "text", "evidence"),
    [
        ("pytest.ini", "[pytest]\n", "pytest.ini"),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", "pyproject.toml: tool.pytest"),
        ("setup.cfg", "[tool:pytest]\n", "setup.cfg: tool:pytest"),
        ("tox.ini", "[pytest]\n", "tox.ini: pytest"),
    ],
)
def test_a_mark_says_which_runner(tmp_path: Path, file: str, text: str, evidence: str) -> None:
    project = Project(tmp_path, {file: text, "test_a.py": PASSING})
    assert [one.evidence for one in project.discover().projects] == [evidence]


def test_what_a_project_says_about_its_files_holds(tmp_path: Path) -> None:
    settings = '[tool.pytest.ini_options]\ntestpaths = ["checks"]\npython_files = ["check_*.py"]\n'
    files = {
        "pyproject.toml": settings,
        "checks/check_a.py": "",
        "checks/test_b.py": "",
        "other/check_c.py": "",
    }
    assert found(Project(tmp_path, files)) == {"checks/check_a.py": "pytest"}


def test_a_file_belongs_to_the_nearest_project(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\n",
        "sub/setup.cfg": "[tool:pytest]\n",
        "sub/test_a.py": "",
        "test_b.py": "",
    }
    found = Project(tmp_path, {**files, "none/setup.cfg": "[tool:pytest]\n"}).discover()
    targets = found.targets
    assert [project.root for project in found.projects] == ["sub", ""]
    assert [(one.id, one.root, one.selector) for one in targets] == [
        ("sub/test_a.py", "sub", "test_a.py"),
        ("test_b.py", "", "test_b.py"),
    ]


def test_settings_name_another_runner(tmp_path: Path) -> None:
    project = Project(tmp_path, {"pytest.ini": "[pytest]\n", "test_a.py": "import unittest\n"})
    assert found(project, runners={"python": "unittest"}) == {"test_a.py": "unittest"}
    with pytest.raises(InvalidSetting, match="not a runner for python") as refused:
        found(project, runners={"python": "pytestt"})
    assert refused.value.hints[0] == "tests.runners: {python: pytest}"


def test_excluded_files_are_no_targets(tmp_path: Path) -> None:
    project = Project(tmp_path, {"tests/test_a.py": "", "tests/fixtures/test_b.py": ""})
    assert found(project, exclude=["**/fixtures/**"]) == {"tests/test_a.py": "pytest"}


def test_a_custom_command_runs_the_files_of_its_pattern(tmp_path: Path) -> None:
    files = {"e2e/good.check": "exit 0\n", "e2e/bad.check": "echo wrong; exit 3\n", "test_a.py": PASSING}
    settings = {"custom": [{"pattern": "e2e/*.check", "runner": "shell", "cmd": ["sh", "{path}"]}]}
    project = Project(tmp_path, files)
    assert found(project, **settings) == {
        "e2e/bad.check": "shell",
        "e2e/good.check": "shell",
        "test_a.py": "pytest",
    }
    report = project.run(settings=settings)
    assert report.counts == {Status.PASSED: 2, Status.FAILED: 1}
    [bad] = report.failures
    assert (bad.id, bad.message, bad.output) == ("e2e/bad.check", "sh ended with code 3", "wrong")


def test_a_custom_command_takes_its_files_from_the_runner_of_the_language(tmp_path: Path) -> None:
    custom = [{"pattern": "slow/*.py", "runner": "pytest", "cmd": ["pytest", "{path}"], "timeout_sec": 120}]
    project = Project(tmp_path, {"slow/test_a.py": PASSING, "test_b.py": PASSING})
    assert found(project, custom=custom) == {"slow/test_a.py": "pytest-2", "test_b.py": "pytest"}
