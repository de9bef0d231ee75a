"""Renames with what indexers say: done at once where it holds, and as without them where it does not."""

from pathlib import Path

import pytest

from codeplane.core.paths import RepoPath
from codeplane.index.semantics import Run, SemanticTarget
from codeplane.refactor.evidence import witness
from tests.index.toy_indexer import base_of, definition, documents_of, external, store, tell
from tests.tools.repo import Repo

TOOL = """\
class Tool:
    def run(self):
        return 1
"""
OTHER = """\
class Other:
    def run(self):
        return 2
"""
APP = """\
def go(thing, words):
    thing.run()
    words.run()
"""
FILES = {"tool.py": TOOL, "other.py": OTHER, "app.py": APP}
SAID = {
    ("app.py", 2, "run"): definition("tool.py", "Tool.run"),
    ("app.py", 3, "run"): external("python-stdlib words/Words#run()."),
}


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path, FILES)
    repo.result("refs_find", symbol="Tool.run")
    tell(repo.session.index, SAID)
    return repo


def rename(repo: Repo, **more: object) -> dict[str, object]:
    return repo.result("refactor_rename", symbol="tool.Tool.run", new_name="walk", **more)


def test_without_an_indexer_open_receivers_are_asked_about(tmp_path: Path) -> None:
    assert rename(Repo(tmp_path, FILES))["outcome"] == "needs_decision"


def test_what_an_indexer_has_decided_is_done_at_once(repo: Repo) -> None:
    done = rename(repo)
    assert done["outcome"] == "ok" and done["remarks"] == ["2 places decided by toy 1.0."]
    assert (repo.root / "app.py").read_text() == APP.replace("thing.run", "thing.walk")
    assert (repo.root / "other.py").read_text() == OTHER


def test_references_say_which_indexer_has_decided_them(repo: Repo) -> None:
    answer = repo.ask("refs_find", symbol="tool.Tool.run")
    assert answer.body["result"]["tiers"] == {"strong": 1}
    assert "; 1 by toy 1.0 (" in answer.text
    assert answer.body["meta"]["semantic_level"] == "partial"  # it has said nothing about two files


def test_facts_that_do_not_hold_any_more_block_with_the_way_out(repo: Repo) -> None:
    repo.write("app.py", APP + "\n\nlate = 1\n")
    answer = repo.ask("refactor_rename", symbol="tool.Tool.run", new_name="walk").body
    assert answer["result"]["outcome"] == "blocked"
    [problem] = answer["result"]["problems"]
    assert "app.py are dirty: its content has changed since it was indexed" in problem
    assert answer["result"]["suggested_refresh_scope"] == {"files": ["app.py"]}
    assert answer["result"]["can_force_syntactic"] is True
    assert answer["meta"]["next_actions"] == [
        'semantic_refresh {"files": ["app.py"]}',
        'refactor_rename {"symbol": "tool.Tool.run", "new_name": "walk", "force_syntactic": true}',
    ]
    assert (repo.root / "tool.py").read_text() == TOOL


def test_a_plan_is_stale_once_what_an_indexer_said_no_longer_holds(tmp_path: Path) -> None:
    repo = Repo(tmp_path, {**FILES, "uv.lock": "one"})
    repo.result("refs_find", symbol="Tool.run")
    index = repo.session.index
    with index.snapshot() as snapshot:
        digest = snapshot.digests()[RepoPath("uv.lock")]
    tell(index, SAID, inputs={"uv.lock": digest})
    plan = rename(repo, apply="never")
    assert plan["outcome"] == "ok"
    repo.write("uv.lock", "two")  # no file of the plan, and what the names mean rests on it
    error = repo.error("refactor_apply", plan=plan["plan"])
    assert error["name"] == "PLAN_STALE" and "app.py" in error["message"] and "stale" in error["message"]
    assert error["hints"][0] == 'semantic_refresh {"files": ["app.py"]}'
    assert (repo.root / "tool.py").read_text() == TOOL
    repo.write("uv.lock", "one")
    tell(
        index, {**SAID, ("app.py", 2, "run"): definition("other.py", "Other.run")}, inputs={"uv.lock": digest}
    )
    error = repo.error("refactor_apply", plan=plan["plan"])
    assert error["name"] == "PLAN_STALE" and "An indexer has run since" in error["message"]
    assert (repo.root / "tool.py").read_text() == TOOL


def test_what_an_indexer_finds_ambiguous_is_asked_about(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    repo.result("refs_find", symbol="Tool.run")
    index = repo.session.index
    choices = [definition("tool.py", "Tool.run"), definition("other.py", "Other.run")]
    with index.snapshot() as snapshot:
        [document] = documents_of(snapshot, {("app.py", 2, "run"): choices[0]})
        paths = [RepoPath(path) for path in FILES]
    targets = [SemanticTarget("ambiguous", choices=(1, 2)), *choices]
    document = document._replace(targets=targets, ambiguity=("several_symbols",))
    store(index, Run("python:", "toy", "1.0"), [document], base_of(index, paths))
    asked = rename(repo)
    assert asked["outcome"] == "needs_decision" and "app.py:2" in str(asked["undecided"])
    session = repo.session
    with index.snapshot() as snapshot:
        assert (
            "indexer_several_symbols" in witness(session.plans.get(str(asked["plan"])).plan).invariants_failed
        )
    assert (repo.root / "tool.py").read_text() == TOOL


def test_build_contexts_that_disagree_about_an_open_place_block(repo: Repo) -> None:
    said = {("app.py", 2, "run"): definition("other.py", "Other.run")}
    tell(repo.session.index, said, context="python:other")
    result = rename(repo)
    assert result["outcome"] == "blocked"
    assert "python:other disagree about run in app.py:2." in str(result["problems"])
    assert result["can_force_syntactic"] is True and "suggested_refresh_scope" not in result
    assert (repo.root / "tool.py").read_text() == TOOL


def test_what_is_certain_by_the_structure_is_never_blocked(repo: Repo) -> None:
    repo.write("app.py", "from tool import Tool\n\nTool().run()\n")
    repo.write("other.py", "")
    assert rename(repo)["outcome"] == "ok"


def test_a_definition_whose_uses_are_all_decided_can_be_deleted(repo: Repo) -> None:
    asked = Repo.result(repo, "refactor_delete", symbol="other.Other.run", apply="never")
    assert asked["outcome"] == "ok" and "undecided" not in asked
    used = repo.result("refactor_delete", symbol="tool.Tool.run", apply="never")
    assert used["outcome"] == "needs_decision" and "app.py:2" in str(used["undecided"])


def test_sources_that_disagree_leave_the_place_open(tmp_path: Path) -> None:
    app = "from tool import Tool\n\nTool().run()\n"
    repo = Repo(tmp_path, {**FILES, "app.py": app})
    repo.result("refs_find", symbol="Tool.run")
    tell(repo.session.index, {("app.py", 3, "run"): definition("other.py", "Other.run")})
    asked = rename(repo)
    assert asked["outcome"] == "needs_decision"
    assert (repo.root / "app.py").read_text() == app


def test_a_plan_rests_on_the_files_that_the_facts_rest_on(tmp_path: Path) -> None:
    files = {
        **FILES,
        "factory.py": "def make() -> int: ...\n",
        "app.py": APP + "\nimport factory\n\nfactory.make()\n",
    }
    repo = Repo(tmp_path, files)
    repo.result("refs_find", symbol="Tool.run")
    tell(repo.session.index, {**SAID, ("app.py", 7, "make"): definition("factory.py", "make")})
    plan = rename(repo, apply="never")
    assert plan["outcome"] == "ok"
    repo.write("factory.py", "def make() -> str: ...\n")
    assert repo.error("refactor_apply", plan=plan["plan"])["name"] == "PLAN_STALE"
