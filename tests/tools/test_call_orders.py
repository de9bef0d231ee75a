"""Reading tools answer the same whatever was called before them on the same server, on real packages."""

import json
import random
import re
import shutil
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from bench.corpora import python_package

from codeplane.tools import Effect, all_tools
from tests.drive import git
from tests.tools.repo import Repo


class Package(NamedTuple):
    name: str
    version: str
    module: str  # a file that is changed and asked about
    symbol: str  # a class in it
    test: str  # a test file


PACKAGES = (
    Package("flask", "3.1.0", "src/flask/app.py", "flask.app.Flask", "tests/test_basic.py"),
    Package("starlette", "0.41.3", "starlette/requests.py", "Request", "tests/test_requests.py"),
)
MORE = (
    Package("click", "8.1.8", "src/click/core.py", "Command", "tests/test_commands.py"),
    Package("jinja2", "3.1.5", "src/jinja2/environment.py", "Environment", "tests/test_api.py"),
    Package("httpx", "0.28.1", "httpx/_models.py", "Headers", "tests/models/test_headers.py"),
)
# Answers that tell what the session has done so far.
# A revision counts the changes that calls have seen, and a commit that was asked about is indexed.
TELLING_OF_CALLS = frozenset(
    ("task_status", "reset_budget", "describe", "index_refresh_overlay", "index_ensure_baseline")
)

METHOD = re.compile(r"^    def \w+\(self", re.MULTILINE)
FUNCTION = re.compile(r"^def \w+\((?=\w)", re.MULTILINE)
NO_SUCH_PLAN = {"name": "PLAN_GONE"}
MOMENT = re.compile(r"\b\d{13}\b")  # milliseconds
ID = re.compile(r"\b[a-z]+_[0-9a-f]{12}\b")


def arguments(package: Package, tool: str) -> dict[str, Any]:
    """A call that makes the tool work: what it requires, or what leads furthest."""
    values = {
        "symbol": package.symbol,
        "target": package.symbol,
        "entry_point": package.symbol,
        "path": package.module,
        "targets": [package.module],
        "refactor_id": "none",
        "plan": "none",
        "kind": "exception",
    }
    extra: dict[str, dict[str, Any]] = {
        "search": {"query": package.symbol},
        "symbols_search": {"query": package.symbol},
        "inspect_affected_tests": {"affected_by": [package.module, "tests/conftest.py"]},
        "semantic_diff": {"base": "HEAD"},
        "git_history": {"path": package.module},
        "find_pattern": {"pattern": "return $X"},
        "delta_try": {
            "path": package.module,
            "operations": [{"operation": "add_import", "import": "import colorsys"}],
        },
    }
    required = [name for name, field in all_tools()[tool].input.model_fields.items() if field.is_required()]
    return {name: values[name] for name in required} | extra.get(tool, {})


def changes(package: Package) -> dict[str, dict[str, Any]]:
    """Calls that change files, each taken back before the next call."""
    return {
        "refactor_rename": {"symbol": package.symbol, "new_name": "Other", "apply": "certain_part"},
        "refactor_delete": {"target": package.test, "apply": "certain_part"},
        "write_source": {"edits": [{"path": package.module, "action": "delete"}]},
    }


def change(repo: Repo, package: Package, tool: str) -> str:
    """What a change answers; undone, it leaves everything as it was."""
    result = repo.result(tool, **changes(package)[tool])
    applied = result["applied"]
    repo.result("undo", operation=(applied if isinstance(applied, dict) else result)["operation"])
    return MOMENT.sub("<moment>", ID.sub("<id>", json.dumps(result)))


def reading_tools() -> list[str]:
    return sorted(name for name, tool in all_tools().items() if tool.effect is Effect.READ)


def changed(package: Package, base: Path) -> Path:
    """A copy of the package with a commit, and methods and fixtures that differ from it in the tree."""
    root = base / "repo"
    [source] = [one for one in python_package(package.name, package.version).iterdir() if one.name != ".git"]
    shutil.copytree(source, root)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "start")
    for path in (package.module, package.test, "tests/conftest.py"):
        text = METHOD.sub(r"\g<0>, more=None", (root / path).read_text())
        (root / path).write_text(FUNCTION.sub(r"\g<0>more=None, ", text))
    return root


def open_repo(root: Path, base: Path) -> Repo:
    """A server of its own: nothing is known but what the index has on disk."""
    repo = Repo.at(root, base)
    repo.session.index.refresh()
    return repo


def answer(repo: Repo, package: Package, tool: str) -> str | None:
    body = repo.ask(tool, **arguments(package, tool)).body
    assert body.get("error", NO_SUCH_PLAN)["name"] == NO_SUCH_PLAN["name"], (tool, body)
    return None if tool in TELLING_OF_CALLS else ID.sub("<id>", json.dumps(body.get("result")))


@pytest.fixture(params=PACKAGES, ids=lambda one: one.name)
def package(request: pytest.FixtureRequest) -> Package:
    found: Package = request.param
    return found


def test_tools_answer_the_same_in_any_order(package: Package, tmp_path: Path) -> None:
    root, tools = changed(package, tmp_path), [*reading_tools(), *changes(package)]
    answers: dict[str, str | None] = {}
    for seed in range(3):
        random.Random(seed).shuffle(tools)
        repo = open_repo(root, tmp_path)
        for tool in tools:
            found = (change if tool in changes(package) else answer)(repo, package, tool)
            assert answers.setdefault(tool, found) == found, tools[: tools.index(tool) + 1]
        repo.session.close()


@pytest.mark.soak
@pytest.mark.parametrize("package", (*PACKAGES, *MORE), ids=lambda one: one.name)
def test_every_tool_answers_the_same_behind_every_other(package: Package, tmp_path: Path) -> None:
    root = changed(package, tmp_path)
    alone = dict(_alone(root, tmp_path, package))
    for first, second in permutations(reading_tools(), 2):
        repo = open_repo(root, tmp_path)
        answer(repo, package, first)
        assert answer(repo, package, second) == alone[second], (first, second)
        repo.session.close()


def _alone(root: Path, base: Path, package: Package) -> Iterator[tuple[str, str | None]]:
    for tool in reading_tools():
        repo = open_repo(root, base)
        yield tool, answer(repo, package, tool)
        repo.session.close()
