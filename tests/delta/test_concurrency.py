"""Executions beside each other and beside changes of files: refused or made anew, never half done."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio

from codeplane.server.answer import Answer
from codeplane.server.pipeline import Request
from tests.delta.plans import FILES, PlanRepo, annotate, element, plan_of
from tests.delta.test_validators import trusted
from tests.drive import Cpl, user_env
from tests.tools.repo import trust
from tests.zygote import PATIENCE

LOAD = element("app.py", annotate("load", "str"), validate_with=["types"])
FETCH = element("store.py", annotate("Store.fetch", "int"), validate_with=["types"])
TOOLCHAIN = '[validators.types]\ncommand = "checker"\n'


def waiting_script(base: Path) -> str:
    """A validator that says that it has begun, and waits until it may end."""
    return f"#!/bin/sh\ntouch {base}/begun\nwhile [ ! -e {base}/go ]; do sleep 0.02; done\n"


async def begun(base: Path) -> None:
    with anyio.fail_after(PATIENCE):
        while not (base / "begun").exists():
            await anyio.sleep(0.02)


def beside_an_execution(repo: PlanRepo, base: Path, plan: str, act: Callable[[], Any]) -> list[Answer]:
    """Has a plan executed, and something else done while its validator runs; the answers."""
    answers: dict[int, Answer] = {}

    async def run() -> None:
        async def execute() -> None:
            answers[0] = await repo.pipeline.call(Request("execute_deltas", {"plan": plan}, "one"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(execute)
            await begun(base)
            result = act()
            if hasattr(result, "__await__"):
                with anyio.fail_after(PATIENCE):
                    answers[1] = await result
            (base / "go").touch()

    anyio.run(run)
    return [answers[key] for key in sorted(answers)]


def test_a_second_execution_in_one_server_is_refused(tmp_path: Path) -> None:
    repo = trusted(tmp_path, TOOLCHAIN, {"checker": waiting_script(tmp_path)})
    plan, other = repo.create([LOAD], [FETCH]), repo.create([FETCH])
    request = Request("execute_deltas", {"plan": other}, "two")
    first, second = beside_an_execution(repo, tmp_path, plan, lambda: repo.pipeline.call(request))
    assert second.is_error and second.body["error"]["name"] == "DELTA_BUSY"
    assert f"executes {plan}" in second.body["error"]["message"]
    assert not first.is_error, first.body
    assert set(repo.states(plan).values()) == {"completed", "done"}
    assert repo.states(other)["Phase 1"] == "planned"


def test_undo_of_a_phase_waits_for_no_execution_and_is_refused(tmp_path: Path) -> None:
    repo = trusted(tmp_path, TOOLCHAIN, {"checker": waiting_script(tmp_path)})
    early = repo.create([element("app.py", annotate("load", "str", parameter="url"))])
    operation = repo.result("execute_deltas", plan=early, confidence="validated")["phases"][0]["operation"]
    repo.git("commit", "-qam", "early")
    plan = repo.create([FETCH])
    request = Request("undo", {"operation": operation}, "two")
    first, second = beside_an_execution(repo, tmp_path, plan, lambda: repo.pipeline.call(request))
    assert second.is_error and second.body["error"]["name"] == "DELTA_BUSY"
    assert not first.is_error, first.body
    assert repo.states(early)["Phase 1"] == "completed"


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    repo = trusted(tmp_path, TOOLCHAIN, {"checker": waiting_script(tmp_path)})
    root = repo.root
    repo.session.close()
    cpl = Cpl(root, user_env(tmp_path / "home"))
    trust(root, tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps(plan_of([LOAD], [FETCH])))
    with cpl.up():
        plan = cpl.json("plan", "new", str(tmp_path / "plan.json"))["result"]["plan"]
        arguments = [*cpl.program, "delta", "execute", plan, "--yes", "--json"]
        pipe = subprocess.PIPE
        with subprocess.Popen(arguments, cwd=root, env=cpl.env, stdout=pipe, stderr=pipe, text=True) as first:
            anyio.run(begun, tmp_path)
            second = cpl.run("delta", "execute", plan, "--yes", "--json")
            (tmp_path / "go").touch()
            output, errors = first.communicate(timeout=PATIENCE)
    assert second.returncode != 0 and "DELTA_BUSY" in second.stdout + second.stderr
    assert first.returncode == 0, errors
    assert len(json.loads(output)["result"]["phases"]) == 2


def test_an_edit_by_another_client_during_the_validation_stops_the_phase(tmp_path: Path) -> None:
    repo = trusted(tmp_path, TOOLCHAIN, {"checker": waiting_script(tmp_path)})
    plan = repo.create([LOAD])
    edit = {"path": "store.py", "old_string": "return key", "new_string": "return key, 1"}
    request = Request("write_source", edit, "two")
    first, second = beside_an_execution(repo, tmp_path, plan, lambda: repo.pipeline.call(request))
    assert not second.is_error, second.body
    assert first.is_error and first.body["error"]["name"] == "DELTA_NOT_READY"
    assert "changed while phase Phase 1 was validated" in first.body["error"]["message"]
    assert repo.read("app.py") == FILES["app.py"] and "return key, 1" in repo.read("store.py")
    assert repo.states(plan)["Phase 1"] == "planned"


def test_a_file_that_its_validator_changes_in_the_repository_stops_the_phase(tmp_path: Path) -> None:
    script = f"#!/bin/sh\necho '# by the validator' >> {tmp_path}/repo/app.py\n"
    repo = trusted(tmp_path, TOOLCHAIN, {"checker": script})
    plan = repo.create([LOAD])
    error = repo.error("execute_deltas", plan=plan)
    assert error["name"] == "DELTA_NOT_READY" and "were changed while" in error["message"]
    assert "-> str" not in repo.read("app.py") and "# by the validator" in repo.read("app.py")
    assert repo.states(plan)["Phase 1"] == "planned"


def test_a_file_that_changes_between_two_phases_stops_the_second(tmp_path: Path) -> None:
    repo = trusted(tmp_path, TOOLCHAIN, {"checker": "#!/bin/sh\n"})
    repo.git("config", "user.name", "T")
    repo.git("config", "user.email", "t@example.org")
    hook = repo.root / ".git" / "hooks" / "post-commit"
    hook.write_text("#!/bin/sh\necho 'X = 1' >> store.py\n")
    hook.chmod(0o755)
    plan = repo.create([LOAD], [FETCH])
    error = repo.error("execute_deltas", plan=plan, auto_commit=True)
    assert error["name"] == "WORK_AT_RISK" and "store.py" in error["message"]
    assert repo.states(plan)["Phase 1"] == "completed" and repo.states(plan)["Phase 2"] == "planned"
    assert repo.read("store.py") == FILES["store.py"] + "X = 1\n"
    assert repo.git("log", "-1", "--format=%s") == "codeplane: Phase 1"
    repo.result("execute_deltas", plan=plan, no_git=True)
    assert "-> int" in repo.read("store.py") and "X = 1" in repo.read("store.py")


def test_a_file_that_changes_after_the_validation_is_validated_anew(tmp_path: Path) -> None:
    repo = trusted(tmp_path, TOOLCHAIN, {"checker": "#!/bin/sh\n"})
    plan = repo.create([LOAD])
    repo.result("validate_deltas", plan=plan)
    repo.write("app.py", FILES["app.py"].replace("def load(url)", "def fetch(url)"))
    error = repo.error("execute_deltas", plan=plan, no_git=True)
    assert error["name"] == "DELTA_NOT_READY" and "load" in error["details"]["tasks"][0]
    repo.write("app.py", FILES["app.py"] + "X = 1\n")
    repo.result("execute_deltas", plan=plan, no_git=True)
    assert "-> str" in repo.read("app.py") and repo.read("app.py").endswith("X = 1\n")
