"""Validations are run by the server, gates open by them, and a plan can be finished without thinking."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.execution.next_actions import next_action
from codeplane.controller.execution.plan_store import load_plan
from codeplane.controller.runs import Run
from codeplane.controller.verb import Denied
from tests.controller.execution.kill import KILLED
from tests.controller.execution.runs import (
    RunRepo,
    ToyNode,
    begin_run,
    change,
    edit,
    side_effect,
    states_of,
    validate,
)
from tests.drive import git

ROOT = Path(__file__).parents[3]
TESTED = {
    "calc.py": "def double(value):\n    return value + value\n\n\ndef half(value):\n    return value / 3\n",
    "tests/test_calc.py": "from calc import double, half\n\n\n"
    "def test_double():\n    assert double(2) == 4\n\n\ndef test_half():\n    assert half(4) == 2\n",
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
}
FIX = edit("value / 3", "value / 2")
BREAK = edit("value + value", "value")


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> RunRepo:
    return RunRepo(tmp_path_factory.mktemp("tested"), TESTED, is_trusted=True)


@pytest.fixture
def repo(tested: RunRepo) -> RunRepo:
    git(tested.root, "checkout", "-q", "main")
    git(tested.root, "reset", "-q", "--hard", "HEAD")
    with tested.session.state_db.write() as connection:
        connection.execute("DELETE FROM controller_reservation")
    return tested


def follow(repo: RunRepo, run: Run, most: int = 20) -> list[str]:
    """Sends what `next` says and nothing else, up to the end of the plan."""
    verbs = []
    for _ in range(most):
        action = next_action(load_plan(repo.session, run), run)
        if action.verb in ("signal_task_complete", "read_file_lines"):
            return [*verbs, action.verb]
        if action.verb == "request_evidence_guidance":
            counts = run.body.verb_counts
            counts[action.verb] = counts.get(action.verb, 0) + 1
        else:
            repo.send(run, action.model_dump(mode="json", by_alias=True))
        verbs.append(action.verb)
    return verbs


def test_a_plan_is_finished_by_sending_what_next_says(repo: RunRepo) -> None:
    run = begin_run(
        repo,
        ToyNode("e1", "escalate", {"blocking_reasons": ["half of what?"]}),
        change("n1", "calc.py", "half", edits=[FIX], depends_on=["e1"]),
        validate("v1", "n1", hooks=["test:tests/test_calc.py::test_half", "tests", "parse"]),
        side_effect("b1", "git_branch", "n1", side_effect_payload_ref="fix-half"),
        side_effect("s1", "git_commit", "n1", "b1", side_effect_payload_ref="Divide by two"),
        work_id="golden",
    )
    verbs = follow(repo, run)
    assert verbs == [
        "request_evidence_guidance",
        "apply_code_patch",
        "execute_gated_side_effect",
        "execute_gated_side_effect",
        "signal_task_complete",
    ]
    assert set(states_of(repo, run).values()) == {"done"}
    assert repo.git("log", "-1", "--format=%s %D") == "Divide by two HEAD -> fix-half"
    assert repo.git("show", "--stat", "--format=", "HEAD").split()[0] == "calc.py"
    validation = load_plan(repo.session, run).node("v1").outcome
    assert [(one["hook"], one["outcome"]) for one in validation["hooks"]] == [
        ("tests", "passed"),
        ("parse", "passed"),
        ("tests tests/test_calc.py::test_half", "passed"),
    ]
    folder = repo.root / ".codeplane" / "work" / "golden" / "bundles"
    assert '"passed": true' in (folder / "v1" / "validation.json").read_text()
    assert '"passed": true' in (folder / "n1" / "validation.json").read_text()


def test_a_failing_test_fails_the_node_and_a_correction_mends_it(repo: RunRepo) -> None:
    run = begin_run(
        repo, change("n1", "calc.py", "double"), validate("v1", "n1", hooks=["tests"]), work_id="w_fix"
    )
    answer = repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="calc.py", edits=[BREAK])
    assert states_of(repo, run) == {"n1": "done", "v1": "failed"}
    assert "test_double" in answer.text
    assert "test_half" not in str(answer.result["validations"][0]["hooks"][0].get("failures")), (
        "it fails at HEAD"
    )
    assert answer.result["next"]["verb"] == "read_file_lines"
    assert answer.result["progress"]["pendingValidations"] == 1
    back = edit("    return value\n\n\ndef half", "    return value + value + 0\n\n\ndef half")
    answer = repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="calc.py", edits=[back])
    assert states_of(repo, run) == {"n1": "done", "v1": "done"}
    assert answer.result["next"]["verb"] == "signal_task_complete"


def test_a_gate_stays_closed_until_its_validations_pass(repo: RunRepo) -> None:
    run = begin_run(
        repo,
        change("n1", "calc.py", "double", edits=[BREAK]),
        validate("v1", "n1", hooks=["test:tests/test_calc.py::test_double"]),
        side_effect("s1", "git_commit", side_effect_payload_ref="Broken"),
        work_id="w_gate",
    )
    arguments: dict[str, Any] = {"planNodeId": "s1", "sideEffectType": "git_commit"}
    for _ in range(2):
        with pytest.raises(Denied) as caught:
            repo.turn(run, "execute_gated_side_effect", **arguments)
        assert caught.value.codes == ("EXEC_UNGATED_SIDE_EFFECT",)
        if states_of(repo, run)["n1"] == "pending":
            repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="calc.py", edits=[])
    assert caught.value.result["waiting"] == ["v1"]
    assert repo.git("log", "-1", "--format=%s") != "Broken"


@pytest.mark.parametrize(
    ("node", "arguments", "text"),
    [
        (side_effect("s1", "git_commit", commit_gate_id=""), {}, "has no commitGateId"),
        (side_effect("s1", "git_commit"), {"commitGateId": "gate-2"}, "is gate-1, not gate-2"),
        (side_effect("s1", "git_commit"), {"sideEffectType": "git_push"}, "is for git_commit"),
        (side_effect("s1", "deploy"), {"sideEffectType": "deploy"}, "There is no side effect 'deploy'"),
        (validate("s1", hooks=["parse"]), {}, "is a validate node"),
    ],
)
def test_a_side_effect_without_its_gate_is_refused(
    repo: RunRepo, node: ToyNode, arguments: dict[str, str], text: str
) -> None:
    run = begin_run(repo, node, work_id="w_refused")
    before = repo.git("rev-parse", "HEAD")
    with pytest.raises(Denied, match=text) as caught:
        repo.turn(
            run,
            "execute_gated_side_effect",
            **{"planNodeId": "s1", "sideEffectType": "git_commit", **arguments},
        )
    assert caught.value.codes == ("EXEC_UNGATED_SIDE_EFFECT",)
    assert repo.git("rev-parse", "HEAD") == before


def test_a_push_goes_to_the_remote(repo: RunRepo, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "hub.git")], check=True)
    repo.git("remote", "add", "origin", str(tmp_path / "hub.git"))
    try:
        run = begin_run(
            repo, side_effect("p1", "git_push", side_effect_payload_ref="origin"), work_id="w_push"
        )
        assert follow(repo, run) == ["execute_gated_side_effect", "signal_task_complete"]
        assert git(tmp_path / "hub.git", "rev-parse", "main") == repo.git("rev-parse", "main")
    finally:
        repo.git("remote", "remove", "origin")


def test_a_branch_is_not_switched_under_another_run(repo: RunRepo) -> None:
    ann = begin_run(
        repo,
        change("n1", "calc.py", "double"),
        validate("v1", "n1", hooks=["test:no/such.py"]),
        work_id="ann",
    )
    bob = begin_run(repo, side_effect("b1", "git_branch", side_effect_payload_ref="elsewhere"), work_id="bob")
    edits = [edit("value + value", "2 * value")]
    repo.turn(ann, "apply_code_patch", planNodeId="n1", targetFile="calc.py", edits=edits)
    with pytest.raises(Denied) as caught:
        repo.turn(bob, "execute_gated_side_effect", planNodeId="b1", sideEffectType="git_branch")
    assert caught.value.codes == ("EXEC_SIDE_EFFECT_COLLISION",)
    assert repo.git("branch", "--show-current") == "main"


def test_a_commit_that_a_kill_cut_off_counts_once(tmp_path: Path) -> None:
    repo = RunRepo(tmp_path)
    run = begin_run(
        repo,
        change("n1", "app.py", "load", edits=[edit("+ url", "+ '/' + url")]),
        side_effect("s1", "git_commit", side_effect_payload_ref="Join with a slash"),
    )
    repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="app.py", edits=[])
    repo.session.close()
    program = [
        sys.executable,
        "-m",
        "tests.controller.execution.kill",
        str(tmp_path),
        "after the commit",
        str(run.plan),
    ]
    assert subprocess.run(program, cwd=ROOT).returncode == KILLED
    repo = RunRepo.of(tmp_path)
    assert states_of(repo, run) == {"n1": "done", "s1": "done"}
    assert repo.git("rev-list", "--count", "HEAD") == "2"


def test_an_untrusted_repository_is_checked_by_parsing_alone(tmp_path: Path) -> None:
    repo = RunRepo(tmp_path, TESTED)
    run = begin_run(
        repo, change("n1", "calc.py", "half", edits=[FIX]), validate("v1", "n1", hooks=["tests", "parse"])
    )
    answer = repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="calc.py", edits=[])
    assert states_of(repo, run)["v1"] == "done"
    assert [one["outcome"] for one in answer.result["validations"][0]["hooks"]] == ["not_run", "passed"]


def test_a_syntax_error_fails_the_parse_hook(tmp_path: Path) -> None:
    repo = RunRepo(tmp_path, TESTED)
    run = begin_run(repo, change("n1", "calc.py", "half"), validate("v1", "n1", hooks=["parse"]))
    repo.turn(
        run, "apply_code_patch", planNodeId="n1", targetFile="calc.py", edits=[edit("value / 3", "value / (")]
    )
    assert states_of(repo, run)["v1"] == "failed"


def refs(work_id: str, node: str) -> dict[str, str]:
    ref = f"{work_id}/bundles/{node}"
    return {"planNodeId": node, "artifactBundleRef": ref, "diffSummaryRef": f"{ref}/diff.summary.json"}


def test_a_recipe_replaces_a_word_and_leaves_a_row_of_its_use(tmp_path: Path) -> None:
    repo = RunRepo(tmp_path, TESTED)
    run = begin_run(repo, change("n1", "calc.py", "half"), validate("v1", "n1"))
    arguments = {**refs("w_1", "n1"), "params": {"lexeme": "value", "replacement": "amount"}}
    answer = repo.turn(run, "run_automation_recipe", recipeId="replace_lexeme_in_file", **arguments)
    with_symbol_only = TESTED["calc.py"].replace(
        "half(value):\n    return value", "half(amount):\n    return amount"
    )
    assert answer.result["validationOutcome"] == "passed"
    assert repo.read("calc.py") == with_symbol_only
    [event] = repo.session.ledger.events_named("recipe_usage")
    assert {
        key: event[key] for key in ("recipeId", "workId", "runSessionId", "planNodeId", "validationOutcome")
    } == {
        "recipeId": "replace_lexeme_in_file",
        "workId": "w_1",
        "runSessionId": "sess_1",
        "planNodeId": "n1",
        "validationOutcome": "passed",
    }
    assert event["validatedParams"] == {"lexeme": "value", "replacement": "amount"}
    assert event["artifactBundleRef"] == "w_1/bundles/n1"


@pytest.mark.parametrize(
    ("recipe", "changes", "text"),
    [
        ("replace_lexeme", {}, "did you mean replace_lexeme_in_file"),
        ("replace_lexeme_in_file", {"params": {"lexeme": "a b", "replacement": "c"}}, "one word"),
        (
            "replace_lexeme_in_file",
            {"params": {"lexeme": "a", "replacement": "c", "flags": "x"}},
            "flags: Extra",
        ),
        (
            "replace_lexeme_in_file",
            {"params": {"lexeme": "nowhere", "replacement": "c"}},
            "does not have the word nowhere",
        ),
        ("run_targeted_validation", {"artifactBundleRef": "w_2/bundles/n1"}, "is w_1/bundles/n1, not"),
        ("run_targeted_validation", {"planNodeId": "n9"}, "has no node 'n9'"),
    ],
)
def test_a_recipe_takes_only_what_it_takes(
    tmp_path: Path, recipe: str, changes: dict[str, Any], text: str
) -> None:
    repo = RunRepo(tmp_path, TESTED)
    run = begin_run(repo, change("n1", "calc.py", "half"))
    with pytest.raises(Denied, match=text):
        repo.turn(run, "run_automation_recipe", **{**refs("w_1", "n1"), "recipeId": recipe, **changes})
    assert repo.read("calc.py") == TESTED["calc.py"]


def test_a_validation_can_be_run_again_by_its_recipe(tmp_path: Path) -> None:
    repo = RunRepo(tmp_path, TESTED)
    run = begin_run(
        repo,
        change("n1", "calc.py", "half", edits=[FIX]),
        validate("v1", "n1", hooks=["test:no/such.py", "parse"]),
    )
    repo.turn(run, "apply_code_patch", planNodeId="n1", targetFile="calc.py", edits=[])
    assert states_of(repo, run)["v1"] == "failed"
    answer = repo.turn(run, "run_automation_recipe", recipeId="run_targeted_validation", **refs("w_1", "v1"))
    assert (answer.result["validationOutcome"], answer.result["nodeState"]) == ("failed", "failed")
    [event] = repo.session.ledger.events_named("recipe_usage")
    assert event["failureSignature"]
