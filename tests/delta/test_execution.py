"""Plans of deltas are validated whole and executed phase by phase, each whole or not at all."""

import subprocess
import sys
from pathlib import Path

import pytest

from codeplane.session import RepoSession
from tests.delta.plans import FILES, PlanRepo, annotate, element

LOAD = element("app.py", annotate("load", "str"))
KILLED = 77
ROOT = Path(__file__).parent.parent.parent
FETCH = element("store.py", annotate("Store.fetch", "int"))


@pytest.fixture
def repo(tmp_path: Path) -> PlanRepo:
    return PlanRepo(tmp_path)


def test_a_validation_simulates_every_phase_and_changes_nothing(repo: PlanRepo) -> None:
    plan = repo.create([LOAD], [FETCH, element("app.py", annotate("load", "str", parameter="url"))])
    answer = repo.ask("validate_deltas", plan=plan)
    assert answer.text.startswith(f"{plan} 3 of 3 green (3 validated)")
    assert repo.statuses(plan) == {"Task 1.1": "green", "Task 2.1": "green", "Task 2.2": "green"}
    assert repo.read("app.py") == FILES["app.py"]


def test_an_execution_writes_each_phase_and_closes_its_tasks(repo: PlanRepo) -> None:
    plan = repo.create([LOAD], [FETCH])
    result = repo.result("execute_deltas", plan=plan, confidence="validated")
    assert "def load(url) -> str:" in repo.read("app.py")
    assert "def fetch(self, key) -> int:" in repo.read("store.py")
    assert [phase["files"] for phase in result["phases"]] == [["app.py"], ["store.py"]]
    assert repo.git("diff", "--cached", "--name-only").split() == ["app.py", "store.py"]
    assert repo.states(plan) == {
        "Types": "completed",
        "Phase 1": "completed",
        "Task 1.1": "done",
        "Phase 2": "completed",
        "Task 2.1": "done",
    }


def test_each_phase_becomes_a_commit_where_that_is_asked_for(repo: PlanRepo) -> None:
    repo.git("config", "user.name", "T")
    repo.git("config", "user.email", "t@example.org")
    plan = repo.create([LOAD], [FETCH])
    repo.result("execute_deltas", plan=plan, confidence="validated", auto_commit=True)
    subjects = repo.git("log", "--format=%s", "-2").splitlines()
    assert subjects == ["codeplane: Phase 2", "codeplane: Phase 1"]
    assert repo.git("status", "--porcelain") == ""


def test_tasks_that_no_validator_has_confirmed_are_executed_only_if_that_is_asked_for(repo: PlanRepo) -> None:
    plan = repo.create([LOAD])
    error = repo.error("execute_deltas", plan=plan)
    assert error["name"] == "DELTA_NOT_READY"
    assert '"confidence": "validated"' in error["hints"][-1]
    assert repo.read("app.py") == FILES["app.py"]


def test_a_red_task_stops_its_phase_before_a_byte_is_written(repo: PlanRepo) -> None:
    plan = repo.create([LOAD, element("store.py", annotate("Store.fetsh", "int"))], [FETCH])
    error = repo.error("execute_deltas", plan=plan, confidence="validated")
    assert error["name"] == "DELTA_NOT_READY"
    assert "Store.fetsh" in error["details"]["tasks"][0]
    assert repo.read("app.py") == FILES["app.py"]
    assert repo.statuses(plan) == {"Task 1.1": "green", "Task 1.2": "red", "Task 2.1": "stale"}


def test_a_red_task_names_the_nearest_symbol(repo: PlanRepo) -> None:
    plan = repo.create([element("store.py", annotate("Store.fetsh", "int"))])
    answer = repo.ask("validate_deltas", plan=plan)
    assert "Store.fetch (function, line 2)" in answer.text


def test_a_later_phase_sees_what_an_earlier_one_does(repo: PlanRepo) -> None:
    add = {"operation": "add_parameter", "target": "load", "name": "timeout", "default": "1"}
    plan = repo.create(
        [element("app.py", add)], [element("app.py", annotate("load", "int", parameter="timeout"))]
    )
    repo.result("execute_deltas", plan=plan, confidence="validated")
    assert "def load(url, timeout: int = 1):" in repo.read("app.py")


def test_a_phase_is_taken_back_by_undo_and_is_open_again(repo: PlanRepo) -> None:
    plan = repo.create([LOAD], [FETCH])
    result = repo.result("execute_deltas", plan=plan, confidence="validated")
    repo.result("undo", operation=result["phases"][1]["operation"])
    assert repo.read("store.py") == FILES["store.py"]
    assert "-> str" in repo.read("app.py")
    assert repo.states(plan)["Phase 2"] == "active"
    assert repo.statuses(plan)["Task 2.1"] == "stale"
    assert repo.git("diff", "--cached", "--name-only").split() == ["app.py"]
    repo.result("execute_deltas", plan=plan, confidence="validated")
    assert "-> int" in repo.read("store.py")


def test_a_file_that_changes_after_the_validation_makes_its_tasks_stale(repo: PlanRepo) -> None:
    plan = repo.create([LOAD], [FETCH])
    repo.result("validate_deltas", plan=plan)
    repo.write("store.py", FILES["store.py"] + "\n\nX = 1\n")
    answer = repo.ask("get_delta_status", plan=plan)
    assert "store.py has changed since the validation." in answer.text
    assert repo.statuses(plan) == {"Task 1.1": "green", "Task 2.1": "stale"}


def test_tracked_changes_are_refused_unless_git_is_left_out(repo: PlanRepo) -> None:
    plan = repo.create([LOAD])
    repo.write("store.py", FILES["store.py"] + "\n\nX = 1\n")
    assert repo.error("execute_deltas", plan=plan, confidence="validated")["name"] == "WORK_AT_RISK"
    repo.result("execute_deltas", plan=plan, confidence="validated", no_git=True)
    assert "-> str" in repo.read("app.py")
    assert repo.git("diff", "--cached", "--name-only") == ""


def test_untracked_files_are_refused_unless_they_are_allowed(repo: PlanRepo) -> None:
    plan = repo.create([LOAD])
    repo.write("new.txt", "x\n")
    assert repo.error("execute_deltas", plan=plan, confidence="validated")["name"] == "WORK_AT_RISK"
    repo.result("execute_deltas", plan=plan, confidence="validated", allow_dirty=True)
    assert "-> str" in repo.read("app.py")


def test_a_commit_that_a_hook_refuses_takes_its_phase_back(tmp_path: Path) -> None:
    from tests.tools.repo import trust

    repo = PlanRepo(tmp_path)
    repo.session.close()
    trust(repo.root, tmp_path)
    repo = PlanRepo.at(repo.root, tmp_path)
    repo.git("config", "user.name", "T")
    repo.git("config", "user.email", "t@example.org")
    hook = repo.root / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    hook.chmod(0o755)
    plan = repo.create([LOAD], [FETCH])
    error = repo.error("execute_deltas", plan=plan, confidence="validated", auto_commit=True)
    assert error["name"] == "PHASE_ROLLED_BACK"
    assert repo.read("app.py") == FILES["app.py"]
    assert repo.statuses(plan) == {"Task 1.1": "stale", "Task 2.1": "stale"}
    assert repo.states(plan)["Phase 1"] == "active"
    events = [event["event"] for event in repo.session.ledger.events(plan)]
    assert events[:2] == ["execution_completed", "phase_rolled_back"]


def test_an_execution_that_died_after_writing_counts_as_completed(repo: PlanRepo, tmp_path: Path) -> None:
    plan = repo.create([LOAD], [FETCH])
    assert killed_at(repo, tmp_path, "_land", plan) == KILLED
    again = PlanRepo.at(repo.root, tmp_path)
    assert any("counts as completed" in note for note in again.session.status().notices or ())
    assert again.states(plan)["Phase 1"] == "completed"
    assert "-> str" in again.read("app.py")


def test_an_execution_that_died_before_writing_is_as_if_it_had_not_begun(
    repo: PlanRepo, tmp_path: Path
) -> None:
    plan = repo.create([LOAD], [FETCH])
    assert killed_at(repo, tmp_path, "_write", plan) == KILLED
    again = PlanRepo.at(repo.root, tmp_path)
    assert any("before anything was written" in note for note in again.session.status().notices or ())
    assert again.states(plan)["Phase 1"] == "active"
    assert again.read("app.py") == FILES["app.py"]
    again.result("execute_deltas", plan=plan, confidence="validated")


def killed_at(repo: PlanRepo, base: Path, step: str, plan: str) -> int:
    """Executes a plan in a process that dies at a step; its exit code."""
    repo.session.close()
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from codeplane.session.delta import execution\n"
        "from tests.delta.plans import PlanRepo\n"
        f"setattr(execution._Execution, sys.argv[1], lambda *_: os._exit({KILLED}))\n"
        "repo = PlanRepo.at(Path(sys.argv[2]), Path(sys.argv[3]))\n"
        "repo.ask('execute_deltas', plan=sys.argv[4], confidence='validated')\n"
    )
    arguments = [sys.executable, "-c", program, step, str(repo.root), str(base), plan]
    return subprocess.run(arguments, cwd=ROOT, check=False).returncode


def test_the_digest_of_a_delta_in_the_store_is_checked(repo: PlanRepo) -> None:
    plan = repo.create([LOAD])
    with repo.session.state_db.write() as connection:
        connection.execute("UPDATE work_item SET fields = replace(fields, '\"str\"', '\"int\"')")
    error = repo.error("execute_deltas", plan=plan, confidence="validated")
    assert error["name"] in ("PLAN_DAMAGED", "DELTA_NOT_READY")
    assert repo.read("app.py") == FILES["app.py"]


def test_the_events_of_an_execution_are_in_the_ledger(repo: PlanRepo) -> None:
    plan = repo.create([LOAD])
    repo.result("execute_deltas", plan=plan, confidence="validated")
    events = repo.session.ledger.events(plan)
    assert [event["event"] for event in reversed(events)] == [
        "execution_started",
        "phase_validated",
        "file_written",
        "phase_committed",
        "execution_completed",
    ]
    assert repo.session.ledger.verify() == []


def test_an_operation_on_a_closed_session_leaves_no_lock(repo: PlanRepo) -> None:
    plan = repo.create([LOAD])
    repo.error("execute_deltas", plan=plan)
    assert not (repo.session.state.path / "delta.holder").exists()
    assert isinstance(repo.session, RepoSession)


def test_a_phase_that_changes_files_of_an_earlier_one_can_be_executed_later(tmp_path: Path) -> None:
    repo = PlanRepo(tmp_path)
    plan = repo.create(
        [element("app.py", {"operation": "add_import", "import": "import re"})],
        [element("app.py", annotate("load", "str"))],
    )
    phase = repo.session.work_plans.load(plan).phases_in_order()[0].id
    repo.result("execute_deltas", plan=plan, phase=phase, confidence="validated")
    repo.result("validate_deltas", plan=plan)
    repo.result("execute_deltas", plan=plan, confidence="validated")
    assert "import re\n" in repo.read("app.py") and "-> str" in repo.read("app.py")
