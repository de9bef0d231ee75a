"""Manifests that are not what their names promise: the tools that look at them go on."""

from collections.abc import Iterator

import pytest

from tests.drive import new_repo
from tests.tools.repo import Repo

TOML = {
    "many parts": "a." * 20_000 + "a = 1\n",
    "deep": "a = " + "[" * 3_000,
    "digits": "a = " + "1" * 5_000,
    "no table": "tool = [1]\npytest = 'x'\nproject = 3\npackage = []\nworkspace = 'w'\nlib = 1\nbin = 1\n",
    "no table inside": "[tool]\npytest = 1\nruff = 2\nblack = []\nmypy = 'a'\npoetry = 1\n[project]\n"
    "scripts = 1\ndependencies = {a = 1}\n[package]\nname = 1\nedition = []\n[[bin]]\nname = 2\n",
}
JSON = {
    "deep": "[" * 3_000,
    "digits": '{"a": ' + "1" * 5_000 + "}",
    "no object": "[1, 2]",
    "no object inside": '{"scripts": [1], "workspaces": 1, "dependencies": "a", "devDependencies": 3,'
    ' "bin": [2], "name": {}, "require": 1, "require-dev": [],'
    ' "autoload": 1, "compilerOptions": [], "references": {}}',
    "no text inside": '{"scripts": {"test": [1]}, "workspaces": [1], "bin": {"a": 1}, "extends": [1]}',
}
INI = {
    "settings first": "a = 1\n",
    "names alone": "[pytest]\nx\n=\n[tool:pytest]\n[mypy\n",
    "spaces": "[a]\nb" + " " * 9_000,
}
NAMES = {
    "pyproject.toml Cargo.toml pytest.toml ruff.toml": TOML,
    "package.json tsconfig.json composer.json": JSON,
    "setup.cfg tox.ini pytest.ini mypy.ini": INI,
}
SOURCES = {"test_a.py": "def test_a(): pass\n", "a.test.js": "test('a', () => {})\n", "src/lib.rs": ""}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repo]:
    files = dict(SOURCES)
    for names, texts in NAMES.items():
        for name in names.split():
            for kind, text in texts.items():
                place = kind.replace(" ", "-")
                files |= {f"{place}/{name}": text, f"{place}/test_a.py": "", f"{place}/a.test.js": ""}
    tmp_path = tmp_path_factory.mktemp("odd")
    made = Repo.at(new_repo(tmp_path / "repo", files), tmp_path)
    yield made
    made.session.close()


@pytest.mark.parametrize("tool", ["discover_test_targets", "lint_tools", "map_repo"])
def test_a_tool_reads_past_odd_manifests(repo: Repo, tool: str) -> None:
    assert repo.result(tool)
