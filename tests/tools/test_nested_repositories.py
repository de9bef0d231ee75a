"""What is in a repository inside of the repository is not known, and every empty answer says so."""

from typing import Any

import pygit2
import pytest

from tests.tools.conftest import Made
from tests.tools.repo import Repo

WHY = "vendor/lib is a repository of its own, and not indexed."


@pytest.fixture
def nested(made: Made) -> Repo:
    repo = made({"app.py": "def main():\n    return 1\n"})
    inner = repo.root / "vendor/lib"
    pygit2.init_repository(str(inner))
    (inner / "lib.py").write_text("def only_in_lib():\n    return 1\n")
    return repo


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "only_in_lib"}),
        ("search", {"query": "only_in_l.b", "mode": "regex"}),
        ("symbols_search", {"query": "only_in_lib"}),
        ("refs_find", {"symbol": "main"}),
        ("graph_callers", {"symbol": "main"}),
        ("list_files", {"pattern": "*.go"}),
    ],
)
def test_an_empty_answer_is_not_proven(nested: Repo, tool: str, arguments: dict[str, Any]) -> None:
    answer = nested.ask(tool, **arguments).body
    assert answer["result"]["absence"] == "not_indexed"
    assert WHY in answer["meta"]["warnings"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("read_source", {"targets": ["only_in_lib"]}),
        ("read_source", {"targets": ["vendor/lib/lib.py"]}),
        ("list_files", {"path": "vendor/lib"}),
        ("refs_find", {"symbol": "only_in_lib"}),
        ("refactor_rename", {"symbol": "only_in_lib", "new_name": "other"}),
    ],
)
def test_what_is_not_found_is_not_proven(nested: Repo, tool: str, arguments: dict[str, Any]) -> None:
    error = nested.error(tool, **arguments)
    assert error["details"]["absence"] == "not_indexed"
    assert "vendor/lib is a repository of its own" in error["message"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("list_files", {}), ("map_repo", {}), ("find_unused", {}), ("refactor_impact", {"target": "main"})],
)
def test_what_is_left_out_is_named(nested: Repo, tool: str, arguments: dict[str, Any]) -> None:
    assert WHY in nested.ask(tool, **arguments).body["meta"]["warnings"]
