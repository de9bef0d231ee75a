"""Phases are taken back by undo, each by itself, and the plan says what is true of the files."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.delta.plans import FILES, PlanRepo, annotate, element
from tests.delta.test_execution import KILLED, ROOT, killed_at

LOAD = element("app.py", annotate("load", "str"))
FETCH = element("store.py", annotate("Store.fetch", "int"))
URL = element("app.py", annotate("load", "str", parameter="url"))


@pytest.fixture
def repo(tmp_path: Path) -> PlanRepo:
    repo = PlanRepo(tmp_path)
    repo.git("config", "user.name", "T")
    repo.git("config", "user.email", "t@example.org")
    return repo


def operations(repo: PlanRepo, plan: str, **options: object) -> list[str]:
    result = repo.result("execute_deltas", plan=plan, confidence="validated", **options)
    return [phase["operation"] for phase in result["phases"]]


def test_a_phase_that_is_staged_is_unstaged_and_open_again(repo: PlanRepo) -> None:
    plan = repo.create([LOAD, FETCH])
    operations(repo, plan)
    answer = repo.ask("undo", operation="last")
    assert any("Phase 1" in text and "is open again" in text for text in answer.body["meta"]["warnings"])
    assert repo.read("app.py") == FILES["app.py"] and repo.read("store.py") == FILES["store.py"]
    assert repo.git("status", "--porcelain") == ""
    states = {"Types": "active", "Phase 1": "active", "Task 1.1": "in_progress", "Task 1.2": "in_progress"}
    assert repo.states(plan) == states
    assert set(repo.statuses(plan).values()) == {"stale"}
    operations(repo, plan)
    assert set(repo.states(plan).values()) == {"completed", "done"}


def test_a_phase_that_is_committed_is_undone_in_the_tree_and_stays_in_history(repo: PlanRepo) -> None:
    plan = repo.create([LOAD])
    operations(repo, plan, auto_commit=True)
    repo.result("undo", operation="last")
    assert repo.read("app.py") == FILES["app.py"]
    assert repo.git("log", "-1", "--format=%s") == "codeplane: Phase 1"
    assert repo.git("status", "--porcelain") == "M app.py"
    assert repo.states(plan)["Phase 1"] == "active"
    assert repo.error("execute_deltas", plan=plan, confidence="validated")["name"] == "WORK_AT_RISK"
    repo.git("commit", "-qam", "revert")
    operations(repo, plan, auto_commit=True)
    assert "-> str" in repo.read("app.py") and repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("options", [{}, {"auto_commit": True}, {"no_git": True}], ids=str)
def test_every_phase_is_taken_back_the_last_first(repo: PlanRepo, options: dict[str, bool]) -> None:
    plan = repo.create([LOAD], [FETCH], [URL])
    operations(repo, plan, **options)
    for number in (3, 2, 1):
        repo.result("undo", operation="last")
        states = repo.states(plan)
        done = [states[f"Phase {one}"] == "completed" for one in (1, 2, 3)]
        assert done == [one < number for one in (1, 2, 3)]
        assert states["Types"] == "active"
    assert repo.read("app.py") == FILES["app.py"] and repo.read("store.py") == FILES["store.py"]
    if options != {"auto_commit": True}:
        assert repo.git("status", "--porcelain") == ""
        assert len(operations(repo, plan, **options)) == 3
        assert set(repo.states(plan).values()) == {"completed", "done"}


def test_an_earlier_phase_whose_file_a_later_one_changed_is_not_undone(repo: PlanRepo) -> None:
    plan = repo.create([LOAD], [FETCH], [URL])
    first, second, third = operations(repo, plan)
    text, states = repo.read("app.py"), repo.states(plan)
    error = repo.error("undo", operation=first)
    assert error["name"] == "UNDO_REFUSED" and "app.py has changed since" in error["message"]
    assert third in " ".join(error["hints"])
    assert repo.read("app.py") == text and repo.states(plan) == states
    assert not (repo.session.state.path / "delta.holder").exists()
    repo.result("undo", operation=second)  # nobody has changed its file since
    assert repo.states(plan)["Phase 2"] == "active" and repo.states(plan)["Phase 3"] == "completed"
    operations(repo, plan)
    assert set(repo.states(plan).values()) == {"completed", "done"}


def test_an_execution_that_died_is_not_completed_by_an_earlier_one(repo: PlanRepo, tmp_path: Path) -> None:
    plan = repo.create([LOAD])
    operations(repo, plan)
    phase = repo.session.work_plans.load(plan).phases_in_order()[0].id
    repo.session.work_plans.transition_many([(plan, "active"), (phase, "active")])
    repo.result("plan_update", item=phase, add=[{"title": "More", "delta": {"elements": [FETCH]}}])
    assert killed_at(repo, tmp_path, "_write", plan) == KILLED
    again = PlanRepo.at(repo.root, tmp_path)
    assert again.states(plan)["Phase 1"] == "active" and again.states(plan)["More"] != "done"
    operations(again, plan)
    assert "-> int" in again.read("store.py") and again.states(plan)["More"] == "done"


def test_an_undo_that_died_before_the_plan_knew_of_it_is_settled(repo: PlanRepo, tmp_path: Path) -> None:
    plan = repo.create([LOAD], [FETCH])
    operations(repo, plan)
    repo.session.close()
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from codeplane.session.delta import settlement\n"
        "from tests.delta.plans import PlanRepo\n"
        f"settlement.reopen_phase = lambda *_: os._exit({KILLED})\n"
        "PlanRepo.at(Path(sys.argv[1]), Path(sys.argv[2])).ask('undo', operation='last')\n"
    )
    arguments = [sys.executable, "-c", program, str(repo.root), str(tmp_path)]
    assert subprocess.run(arguments, cwd=ROOT, check=False).returncode == KILLED
    again = PlanRepo.at(repo.root, tmp_path)
    assert again.read("store.py") == FILES["store.py"]
    assert again.states(plan)["Phase 2"] == "active" and again.statuses(plan)["Task 2.1"] == "stale"
    assert any("is open again" in note for note in again.session.status().notices or ())
    operations(again, plan)
    assert set(again.states(plan).values()) == {"completed", "done"}
