"""What the envelope says of an answer: its state, its time, its limits, and what it spared."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from codeplane.server.pipeline import Request
from codeplane.session.token_savings import TokenSavings
from tests.drive import git
from tests.tools.repo import Repo

FILES = {
    "a.py": "def a():\n    return 1\n" + "# x\n" * 900,
    "b.py": "def broken(:\n",
    "pyproject.toml": "[project]\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[Repo]:
    made = Repo(tmp_path, FILES)
    yield made
    made.session.close()


def meta(repo: Repo, tool: str, **arguments: object) -> dict[str, Any]:
    answer = repo.ask(tool, **arguments)
    assert not answer.is_error, answer.text
    return dict(answer.body["meta"])


def test_an_answer_says_what_it_is_based_on(repo: Repo) -> None:
    first = git(repo.root, "rev-parse", "HEAD")
    git(repo.root, "commit", "-qm", "next", "--allow-empty")
    head = git(repo.root, "rev-parse", "HEAD")
    now = meta(repo, "search", query="a")
    assert now["baseline_commit_sha"] == head and "workspace_id" not in now and now["epoch"]
    then = meta(repo, "search", query="a", commit=first[:12])
    assert then["baseline_commit_sha"] == first and "epoch" not in then
    repo.result("workspace_create", workspace="m", kind="memory", base=first)
    here = meta(repo, "search", query="a", workspace="m")
    assert (here["baseline_commit_sha"], here["workspace_id"], here["overlay_revision"]) == (first, "m", 0)
    edit = {"path": "a.py", "expected_content": "return 1", "new_content": "return 2"}
    repo.result("write_source", edits=[edit], workspace="m")
    assert meta(repo, "search", query="a", workspace="m")["overlay_revision"] == 1


def test_time_is_told_by_phase(repo: Repo) -> None:
    timing = meta(repo, "search", query="a")["timing"]
    assert timing.keys() == {"total_ms", "refresh_ms", "query_ms", "render_ms"}
    parts = timing["refresh_ms"] + timing["query_ms"] + timing["render_ms"]
    assert abs(parts - timing["total_ms"]) < 0.1 and all(part >= 0 for part in timing.values())


def test_who_gets_the_text_alone_pays_for_nothing_more(repo: Repo) -> None:
    lean = Request("search", {"query": "a"}, "a client", is_structured=False)
    answer = anyio.run(repo.pipeline.call, lean)
    assert answer.body == {"meta": {"task_state": "OPEN"}}
    assert answer.text == repo.ask("search", query="a").text


def test_build_contexts_are_told_where_they_are_asked_for(repo: Repo) -> None:
    rows = meta(repo, "repo_status")["project_diagnostics"]
    row = next(one for one in rows if one["project_name"].startswith("python"))
    assert row["files"] == 2 and row["problems"] == 1 and not row["compiled"]
    assert row["errors"][0].startswith("b.py: ") and row["symbol_count"] >= 1
    assert "project_diagnostics" not in meta(repo, "search", query="a")
    assert meta(repo, "index_ensure_baseline")["project_diagnostics"] == rows


def test_what_was_spared_has_a_price_and_outlives_the_server(repo: Repo, tmp_path: Path) -> None:
    spared = meta(repo, "symbols_search", query="a")
    assert spared["tokens_saved"] > 500
    assert spared["cost_avoided"] == round(spared["tokens_saved"] * 3.0 / 1_000_000, 6)
    before = repo.session.token_savings.report()
    repo.session.close()
    again = Repo.at(repo.root, tmp_path)
    report = again.session.token_savings.report()
    assert report["net"] == 0 and abs(report["in_all"]["net"] - before["net"]) <= 1
    assert report["in_all"]["cost_avoided"] > 0
    again.session.close()


@pytest.mark.parametrize("text", ["", "[", "[]", '{"spared": "x", "cost": 1}', '{"spared": -1, "cost": 1}'])
def test_totals_that_make_no_sense_begin_anew(tmp_path: Path, text: str) -> None:
    file = tmp_path / "savings.json"
    file.write_text(text)
    savings = TokenSavings(file, 0)
    savings.answered(400, 4000)
    savings.flush()
    assert TokenSavings(file, 0).report()["in_all"] == {"spared": 1000, "cost": 100, "net": 900}
