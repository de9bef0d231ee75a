"""Plans of work through the pipeline: packs of trusted repositories alone, pages, restarts, hostile input."""

from pathlib import Path
from typing import Any

import pytest

from codeplane.core.errors import catalogue
from tests.tools.conftest import Made
from tests.tools.repo import Repo, trust

PACK = """\
pack: team
kind: workflow
types:
  review:
    level: task
    states:
      - {name: waiting, category: open}
      - {name: approved, category: done}
    transitions:
      - from: waiting
        to: approved
        gates: [{type: field_set, field: reviewer}]
    fields:
      - {name: reviewer, type: text}
"""
FILES = {"a.py": "x = 1\n"}
PLAN: dict[str, Any] = {
    "title": "p",
    "phases": [{"title": "one", "tasks": [{"title": "look", "key": "look", "type": "review"}]}],
}


def pack_repo(base: Path, pack: str = PACK, name: str = "team", settings: str = "[core, team]") -> Repo:
    repo = Repo(base, FILES)
    state = repo.root / ".codeplane"
    (state / "packs").mkdir()
    (state / "packs" / f"{name}.yaml").write_text(pack)
    (state / "config.yaml").write_text(f"packs:\n  workflow: {settings}\n")
    repo.session.close()
    trust(repo.root, base)
    return Repo.at(repo.root, base)


def test_a_pack_of_a_trusted_repository_gives_types(tmp_path: Path) -> None:
    repo = pack_repo(tmp_path)
    plan = repo.result("plan_create", **PLAN)["plan"]
    error = repo.error("plan_update", plan=plan, item="look", state="approved")
    assert error["name"] == "TRANSITION_REFUSED" and '"reviewer": "…"' in error["hints"][0]
    repo.result("plan_update", plan=plan, item="look", fields={"reviewer": "Ada"}, state="approved")
    assert "type review" in repo.ask("plan_show", plan=plan).text
    repo.session.close()


def test_a_pack_of_a_repository_that_is_not_trusted_is_not_read(made: Made) -> None:
    repo = made(FILES)
    (repo.root / ".codeplane" / "packs").mkdir()
    (repo.root / ".codeplane" / "packs" / "team.yaml").write_text("kind: grammar\n")
    error = repo.error("plan_create", **PLAN)
    assert error["name"] == "PLAN_INVALID" and "There is no type review" in error["message"]
    assert repo.result("plan_create", title="x")["state"] == "draft"


@pytest.mark.parametrize(
    ("pack", "name", "settings", "problem"),
    [
        (PACK.replace("workflow", "grammar"), "team", "[core]", "team.yaml:2: A grammar pack is code"),
        (PACK.replace("workflow", "extension"), "team", "[core]", "team.yaml:2: An extension pack ships"),
        (PACK.replace("review:", "task:"), "team", "[core, team]", "has a type task already"),
        (PACK, "team", "[core, tema]", "did you mean team?"),
        (PACK.replace("category", "catgory"), "team", "[core]", "team.yaml:7: there is no key"),
    ],
)
def test_a_pack_that_cannot_be_loaded_is_said_with_its_place(
    tmp_path: Path, pack: str, name: str, settings: str, problem: str
) -> None:
    repo = pack_repo(tmp_path, pack, name, settings)
    error = repo.error("plan_create", title="x")
    assert error["name"] == "PACK_INVALID" and problem in error["message"]
    assert repo.result("plan_show") == {"plans": []}
    repo.session.close()


def test_a_grammar_that_is_no_language_is_refused(tmp_path: Path) -> None:
    repo = pack_repo(tmp_path, settings="[core]\n  grammar: [pyton]")
    assert "did you mean python?" in repo.error("plan_create", title="x")["message"]
    repo.session.close()


def test_a_plan_outlives_the_server(tmp_path: Path) -> None:
    repo = Repo(tmp_path, FILES)
    plan = repo.result("plan_create", title="x", phases=[{"title": "y", "tasks": [{"title": "z"}]}])["plan"]
    before = repo.ask("plan_show", plan=plan).text
    repo.session.close()
    repo = Repo.at(repo.root, tmp_path)
    assert repo.ask("plan_show", plan=plan).text == before
    repo.session.close()


def test_a_plan_of_ten_thousand_tasks_is_shown_by_pages(made: Made) -> None:
    repo = made(FILES)
    tasks = [{"title": f"t{n}"} for n in range(10_000)]
    created = repo.result("plan_create", title="much", phases=[{"title": "all", "tasks": tasks}])
    assert created["more"] == 9901 and len(repo.ask("plan_show", plan=created["plan"]).text) < 8_000
    titles: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = repo.result("plan_show", plan=created["plan"], offset=offset, limit=3000)
        titles += [item["title"] for item in page["items"]]
        offset = page.get("next_offset")
    assert titles == ["all", *(f"t{n}" for n in range(10_000))]


HOSTILE: list[dict[str, Any]] = [
    {"title": "\0"},
    {"title": "\ud800"},
    {"title": "x" * 100_000},
    {"title": "x", "description": "\udfff"},
    {"title": "x", "phases": [{"title": "y", "key": "\ud800"}]},
    {"title": "x", "phases": [{"title": "y", "after": ["\0"]}]},
    {"title": "x", "phases": [{"\ud800": 1}]},
    {"title": "x", "phases": [{"title": "y", "tasks": [{"title": "z", "delta": {"\0": 1}}]}]},
    {"title": "x", "phases": [{"title": "y"}] * 30_000},
    {"title": "x", "type": "\ud800"},
    {"title": "x", "fields": {"\ud800": 1}},
    {"text": "\0"},
    {"text": "\ud800"},
    {"text": "a" * 2_000_000},
    {"text": "{" * 100_000},
    {"text": "&a [" + "*a, " * 1000 + "]"},
    {"text": "title: x\nphases: [" + "{title: y}, " * 25_000 + "]"},
]


@pytest.mark.parametrize("arguments", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_plan_is_refused_with_a_typed_error(made: Made, arguments: dict[str, Any]) -> None:
    repo = made(FILES)
    error = repo.error("plan_create", **arguments)
    assert error["name"] in {one.name() for one in catalogue()} - {"INTERNAL_ERROR"}, error
    assert repo.result("plan_show") == {"plans": []}


@pytest.mark.parametrize(
    "reference", ["", "\0", "\ud800", "plan_x", "'; DROP TABLE work_plan; --", "x" * 100]
)
def test_a_hostile_reference_is_not_found(made: Made, reference: str) -> None:
    repo = made(FILES)
    for tool, arguments in (
        ("plan_show", {"plan": reference}),
        ("plan_show", {"plan": "plan_0", "item": reference}),
        ("plan_update", {"item": reference, "state": "done"}),
        ("plan_update", {"item": f"plan_{reference}", "remove": True}),
    ):
        assert repo.error(tool, **arguments)["name"] in ("NOT_FOUND", "INVALID_ARGUMENT")
