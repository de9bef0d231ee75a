"""Cursors of callers that come back with every call as somebody new, as `cpl call` does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.server.answer import Answer
from codeplane.server.pipeline import Request
from codeplane.storage.database import Database
from codeplane.storage.state_db import open_state_db
from tests.drive import git
from tests.tools.repo import Repo

FILES = {
    f"p{n}/m{n}.py": f"from base import shared\n\n\ndef use{n}():\n    return shared({n})\n" for n in range(5)
}
FILES["base.py"] = "def shared(x):\n    return x\n"

ASKED: dict[str, dict[str, Any]] = {
    "list_files": {"limit": 2},
    "search": {"query": "shared", "limit": 2},
    "refs_find": {"symbol": "shared", "limit": 2},
    "git_log": {"limit": 1},
    "git_history": {"path": "base.py", "limit": 1},
}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    repo = Repo(tmp_path, FILES)
    for number in range(3):
        repo.write("base.py", FILES["base.py"] + f"\n\nX{number} = 1\n")
        git(repo.root, "commit", "-qam", f"change {number}")
    repo.session.close()
    return tmp_path


def single(base: Path, tool: str, arguments: object) -> Answer:
    repo = Repo.at(base / "repo", base)
    try:
        return anyio.run(repo.pipeline.call, Request(tool, arguments, "cpl call", is_single=True))
    finally:
        repo.session.close()


def pages(base: Path, tool: str, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    given = asked
    while True:
        result = single(base, tool, given).body["result"]
        cursor = result.pop("next_cursor", None)
        yield result
        if cursor is None:
            return
        given = {**asked, "cursor": cursor}


@pytest.mark.parametrize("tool", ASKED)
def test_every_page_is_reached_without_a_server(base: Path, tool: str) -> None:
    repo = Repo.at(base / "repo", base)
    expected: list[dict[str, Any]] = []
    cursor = None
    while not expected or cursor:
        result = repo.result(tool, **ASKED[tool], **({"cursor": cursor} if cursor else {}))
        cursor = result.pop("next_cursor", None)
        expected.append(result)
    repo.session.close()
    assert len(expected) > 2
    assert list(pages(base, tool, ASKED[tool])) == expected


def test_a_cursor_alone_stands_for_what_was_asked(base: Path) -> None:
    (base / "repo/base.py").write_text("".join(f"def f{n}(): ...\n" for n in range(5)))
    asked: dict[str, Any] = {"base": "HEAD~1", "paths": ["base.py"], "limit": 2}
    names: list[str] = []
    while asked:
        result = single(base, "semantic_diff", asked).body["result"]
        names += [one["name"] for file in result["files"] for one in file["changes"]]
        asked = {"cursor": result["next_cursor"]} if "next_cursor" in result else {}
    assert names == ["shared", "X1", *(f"f{n}" for n in range(5))]


def test_a_cursor_is_gone_when_the_pages_before_it_have_changed(base: Path) -> None:
    cursor = single(base, "search", ASKED["search"]).body["result"]["next_cursor"]
    (base / "repo/base.py").write_text("shared = 1\nshared = 2\nshared = 3\n")
    error = single(base, "search", {"query": "shared", "cursor": cursor}).body["error"]
    assert error["name"] == "CURSOR_GONE" and "changed" in error["message"]


def test_a_cursor_is_of_one_tool_and_not_for_ever(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cursor = single(base, "list_files", ASKED["list_files"]).body["result"]["next_cursor"]
    assert (
        single(base, "search", {"query": "shared", "cursor": cursor}).body["error"]["name"] == "CURSOR_GONE"
    )
    monkeypatch.setattr("codeplane.server.paging._LIFE_MS", -1)
    assert single(base, "list_files", {"cursor": cursor}).body["error"]["name"] == "CURSOR_GONE"


@pytest.mark.parametrize("steps", ["", "{}", "[[1, 2]]", '[[{"no": "such"}, "x"]]', "[" * 5000])
def test_a_shipped_cursor_does_no_harm(base: Path, steps: str) -> None:
    kept: Database = open_state_db(base / "repo/.codeplane/state.db")
    with kept.write() as connection:
        connection.execute("INSERT INTO cursor VALUES ('cur_x', 'list_files', ?, 99999999999999)", (steps,))
    kept.close()
    assert single(base, "list_files", {"cursor": "cur_x"}).body["error"]["name"] == "CURSOR_GONE"


def test_a_single_call_is_a_task_that_ends_with_it(base: Path) -> None:
    edit = {"path": "new.py", "action": "create", "content": "x = 1\n"}
    task = single(base, "write_source", {"edits": [edit]}).body["meta"]["task_id"]
    repo = Repo.at(base / "repo", base)
    found = repo.result("task_status", task_id=task)
    repo.session.close()
    assert found["state"] == "CLOSED_SUCCESS" and "reason" not in found


def test_a_cursor_of_test_targets_keeps_what_they_were_chosen_by(tmp_path: Path) -> None:
    files = {f"{place}/test_{n}.py": "def test_it(): ...\n" for n in range(70) for place in ("api", "ui")}
    repo = Repo(tmp_path, {**files, "more/test_x.py": "def test_it(): ...\n", "pytest.ini": "[pytest]\n"})
    first = repo.result("discover_test_targets", paths=["api/", "ui/"])
    second = repo.result("discover_test_targets", cursor=first["next_cursor"])
    assert len(first["targets"]) + len(second["targets"]) == second["total"] == 140
    assert "next_cursor" not in second
    repo.session.close()


def test_a_cursor_made_in_a_batch_works_afterwards(base: Path) -> None:
    asked = {"calls": [{"tool": "git_status"}, {"tool": "list_files", "args": ASKED["list_files"]}]}
    answers = single(base, "batch", asked).body["result"]["answers"]
    first, second, *_ = pages(base, "list_files", ASKED["list_files"])
    cursor = answers[1]["body"]["result"].pop("next_cursor")
    assert answers[1]["body"]["result"] == first
    assert single(base, "list_files", {"cursor": cursor}).body["result"]["files"] == second["files"]
