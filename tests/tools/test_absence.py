"""What is not there is told apart: each kind of absence has an answer of its own."""

import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.config import Places
from codeplane.server.pipeline import Pipeline, Request
from codeplane.session import Checkout, RepoSession
from codeplane.tools import all_tools
from tests.drive import dig, git, user_env
from tests.tools.conftest import Ask


def test_a_symbol_that_is_not_there_says_how_far_that_is_known(ask: Ask, repo: Path) -> None:
    (repo / "a.py").write_text("def known():\n    pass\n\n# only_said\n")
    (repo / "notes.txt").write_text("only_in_text\n")
    (repo / "broken.py").write_text("def f(:\n  (((\nlost\n")
    told = {}
    for name in ("nowhere", "only_said", "only_in_text", "lost"):
        error = ask("refs_find", symbol=name)["error"]
        told[name] = (error["name"], error["details"]["absence"])
    assert told == {
        "nowhere": ("NOT_FOUND", "proven_none"),
        "only_said": ("NOT_FOUND", "proven_none"),
        "only_in_text": ("NOT_FOUND", "language_gap"),
        "lost": ("NOT_FOUND", "parse_partial"),
    }
    # There, and nobody refers to it: that is an answer, not an error.
    assert ask("refs_find", symbol="known")["result"]["absence"] == "proven_none"


def test_a_near_miss_gets_names_and_never_another_symbol(ask: Ask, repo: Path) -> None:
    (repo / "a.py").write_text("def compute_total():\n    pass\n")
    error = ask("symbols_get_card", symbol="compute_totals")["error"]
    assert error["name"] == "NOT_FOUND"
    assert [near["name"] for near in error["details"]["nearest"]] == ["a.compute_total"]


def test_a_file_that_was_deleted_is_not_one_that_never_was(ask: Ask, repo: Path) -> None:
    (repo / "gone.py").write_text("x = 1\n")
    assert ask("read_source", targets=["gone.py"])["result"]["files"]
    (repo / "gone.py").unlink()
    deleted = ask("read_source", targets=["gone.py"])["error"]
    never = ask("read_source", targets=["never.py"])["error"]
    assert deleted["details"]["deleted"] is True and "gone" in deleted["message"]
    assert never["name"] == "NOT_FOUND" and "deleted" not in never.get("details", {})


def test_a_cursor_that_is_over_is_told_as_such(ask: Ask, repo: Path) -> None:
    for number in range(5):
        (repo / f"m{number}.py").write_text("def many():\n    pass\n")
    cursor = ask("search", query="many", limit=2)["result"]["next_cursor"]
    assert ask("search", query="many", cursor=cursor)["result"]["files"]
    assert ask("search", query="many", cursor="cur_000000000000")["error"]["name"] == "CURSOR_GONE"
    other = ask("search", "another client", query="many", cursor=cursor)["error"]["name"]
    assert other == "CURSOR_GONE", "cursors belong to their session"


async def _asked(pipeline: Pipeline, tool: str, arguments: dict[str, str]) -> str:
    body = (await pipeline.call(Request(tool, arguments, "a client"))).body
    return str(body["result"].get("absence") if "result" in body else body["error"]["details"]["absence"])


def test_an_empty_repository_proves_that_there_is_nothing(tmp_path: Path) -> None:
    repo = tmp_path / "empty"
    repo.mkdir()
    git(repo, "init", "-q")
    session = RepoSession.open(Checkout.find(repo, Places.of_user(user_env(tmp_path / "home"))))
    pipeline = Pipeline(session, all_tools())
    assert anyio.run(_asked, pipeline, "search", {"query": "x"}) == "proven_none"
    assert anyio.run(_asked, pipeline, "refs_find", {"symbol": "x"}) == "proven_none"
    session.close()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "caller"}),
        ("symbols_search", {"query": "caller"}),
        ("symbols_get_card", {"symbol": "known"}),
        ("refs_find", {"symbol": "known"}),
        ("graph_callers", {"symbol": "known"}),
        ("semantic_diff", {}),
    ],
)
def test_files_that_are_not_read_yet_are_told(
    ask: Ask, repo: Path, session: RepoSession, monkeypatch: Any, tool: str, arguments: dict[str, str]
) -> None:
    (repo / "a.py").write_text("def known():\n    pass\n")
    (repo / "b.py").write_text("from a import known\n\n\ndef caller():\n    known()\n")
    session.index.refresh()
    with session.index.database.write() as connection:
        connection.execute(
            "UPDATE item SET digest = (SELECT digest FROM blob WHERE id = blob), blob = NULL"
            " WHERE place = (SELECT id FROM place WHERE path = 'b.py')"
        )
    monkeypatch.setattr(session.index, "refresh", lambda *_, **__: 0)
    body = ask(tool, **arguments)
    assert "1 of 3 files are not indexed yet" in body["meta"]["warnings"][0]
    assert body["result"].get("absence") in (None, "not_indexed")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"query": "helper", "paths": ["libb/**"]}),
        ("search", {"query": "helper", "mode": "symbol", "paths": ["libb/"]}),
        ("search", {"query": "helper", "mode": "regex", "paths": ["./libb"]}),
        ("symbols_search", {"query": "helper", "path": "libb"}),
        ("symbols_search", {"kinds": ["function"], "path": "libb"}),
        ("refs_find", {"symbol": "helper", "path": "libb/"}),
        ("list_files", {"path": "libb"}),
    ],
)
def test_where_no_file_is_that_is_said_and_not_that_nothing_was_found(
    ask: Ask, repo: Path, tool: str, arguments: dict[str, object]
) -> None:
    (repo / "lib").mkdir()
    (repo / "lib" / "util.py").write_text("def helper(): ...\n")
    error = ask(tool, **arguments)["error"]
    assert error["name"] == "NOT_FOUND" and "libb" in error["message"]
    assert error["hints"] == ["There is lib."]


def test_files_that_are_there_and_ignored_are_no_missing_ones(ask: Ask, repo: Path) -> None:
    (repo / ".gitignore").write_text("out/\n")
    (repo / "out").mkdir()
    (repo / "out" / "a.py").write_text("def helper(): ...\n")
    error = ask("search", query="helper", paths=["out/*.py"])["error"]
    assert error["details"]["absence"] == "not_indexed" and "ignore" in error["message"]


@pytest.mark.parametrize("pattern", ["[!", "[", "{a,b", "[z-a]"])
def test_a_broken_pattern_is_an_error_everywhere(ask: Ask, pattern: str) -> None:
    for tool, arguments in (
        ("list_files", {"pattern": pattern}),
        ("search", {"query": "x", "paths": [pattern]}),
    ):
        assert ask(tool, **arguments)["error"]["name"] == "INVALID_ARGUMENT"


def test_a_directory_that_cannot_be_entered_may_hold_the_name(ask: Ask, repo: Path) -> None:
    os.close(dig(repo, 25))
    assert ask("symbols_search", query="lost")["result"]["absence"] == "not_indexed"
    assert ask("search", query="lost")["result"]["absence"] == "not_indexed"
