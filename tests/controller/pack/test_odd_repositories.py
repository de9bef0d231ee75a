"""Packs of repositories and prompts that are unlike others."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.controller.lab import APP, open_desk
from tests.controller.pack.conftest import take_turn
from tests.drive import git
from tests.tools.repo import Repo


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    repos: list[Repo] = []

    def make(files: Mapping[str, str]) -> Repo:
        repos.append(Repo(tmp_path, files))
        return repos[-1]

    yield make
    for repo in repos:
        repo.session.close()


def _start(repo: Repo, prompt: str, **arguments: object) -> dict[str, Any]:
    return take_turn(repo, "initialize_work", {"originalPrompt": prompt, **arguments})


def test_a_repository_without_a_commit(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    (root / "app.py").write_text("def greet():\n    return 'hello'\n")
    repo = Repo.at(root, tmp_path)
    pack = _start(repo, "greet says hello")["result"]["contextPack"]
    repo.session.close()
    assert pack["header"]["headCommit"] is None
    assert pack["anchors"]["anchors"][0]["symbol"] == "greet"


def test_a_repository_with_nothing_to_read(opened: Any) -> None:
    answer = _start(opened({"logo.png": "\0\0\0"}), "Fix the header of the page")
    assert answer["outcome"] == "pack_insufficient"
    assert answer["result"]["contextPack"]["anchors"]["anchors"] == []


def test_a_binary_attachment_is_no_anchor_and_no_failure(opened: Any) -> None:
    repo = opened({"logo.png": "\0PNG\0", "app.py": "def header():\n    pass\n"})
    pack = _start(repo, "The header is wrong", attachments=["logo.png"])["result"]["contextPack"]
    assert [one["path"] for one in pack["anchors"]["anchors"]] == ["app.py"]


@pytest.mark.parametrize(
    "prompt",
    ["x" * 99_000, "`" * 5_000, "a.b" * 3_000, "((((" * 1000, "\u202e\ud7ff header \0", "header\n" * 9_000],
)
def test_any_prompt_gets_a_pack_within_its_budget(opened: Any, prompt: str) -> None:
    repo = opened({"app.py": "def header():\n    pass\n"})
    text = _start(repo, prompt)["text"]
    assert len(text.partition("verbs:")[0]) <= 4 * 6_000


def test_names_that_are_not_utf_8_do_no_harm(opened: Any) -> None:
    repo = opened({"app.py": "def header():\n    pass\n", "\udcff.py": "def header_of():\n    pass\n"})
    assert _start(repo, "The header is wrong")["outcome"] == "ok"


def test_a_small_budget_is_kept_through_the_whole_pipeline(tmp_path: Path) -> None:
    body = "    x = 'header'\n" * 60
    files = {f"part{number}.py": f"def header_{number}():\n{body}" for number in range(20)}
    with open_desk(tmp_path, files, controller__pack_tokens=600) as desk:
        answer = desk.turn("initialize_work", originalPrompt="The header is wrong")
    assert answer.result["result"]["contextPack"]["missing"]["dropped"]
    assert len(answer.text.partition("verbs:")[0]) <= 4 * 600


def test_a_run_over_its_budget_gets_no_pack_but_a_way_out(tmp_path: Path) -> None:
    limits = {"controller__budget__max_tokens": 1000, "controller__budget__threshold": 0.1}
    with open_desk(tmp_path, APP, **limits, controller__budget__block=True) as desk:
        desk.turn("read_file_lines", workId="w", targetFile="pager.py")
        answer = desk.turn("request_evidence_guidance", workId="w", blockingReasons=["stuck"])
    assert answer.codes == []
    assert "packDelta" not in answer.result["result"]
    assert [call["verb"] for call in answer.result["result"]["nextCalls"]] == ["signal_task_complete"]
