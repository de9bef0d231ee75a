"""Plans carried out through the real pipeline, by sending what answers say and nothing else."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.config import Places
from codeplane.session.trust import give_trust
from tests.controller.lab import APP, Answered, Desk, open_desk
from tests.drive import git, new_repo, user_env

PROMPT = "page_count must round up: 21 items of 10 are 3 pages."
ROUND_UP = {"oldText": "total // size", "newText": "-(-total // size)"}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    root = new_repo(tmp_path / "repo", {**APP, ".gitignore": "__pycache__/\n.pytest_cache/\n"})
    git(root, "config", "user.name", "T")
    git(root, "config", "user.email", "t@example.org")
    with open_desk(tmp_path):
        pass
    give_trust(root, Places.of_user(user_env(tmp_path / "home")))
    with open_desk(tmp_path) as desk:
        yield desk


def follow(desk: Desk, answer: Answered, work: str, most: int = 20) -> list[str]:
    """Sends the suggested or the next call until there is none or the plan is done; returns the verbs."""
    verbs: list[str] = []
    for _ in range(most):
        call = answer.suggestion if answer.codes else answer.next_call
        if call is None or call["verb"] == "signal_task_complete":
            return verbs
        verbs.append(str(call["verb"]))
        answer = desk.send({**call, "workId": work})
    return verbs


def node(**rest: Any) -> dict[str, Any]:
    return {"file": "pager.py", "symbols": ["page_count"], "intent": "Round up.", **rest}


def test_a_plan_with_edits_and_a_commit_is_finished_without_thinking(desk: Desk) -> None:
    commit = {"kind": "side_effect", "sideEffectType": "git_commit", "payload": "Round up", "gate": "g1"}
    first = desk.turn(
        "submit_execution_plan", workId="w", originalPrompt=PROMPT, nodes=[node(edits=[ROUND_UP]), commit]
    )
    verbs = follow(desk, first, "w")
    assert verbs == ["submit_execution_plan", "apply_code_patch", "execute_gated_side_effect"]
    assert "-(-total // size)" in (desk.root / "pager.py").read_text()
    assert git(desk.root, "log", "-1", "--format=%s") == "Round up"
    assert git(desk.root, "status", "--porcelain") == ""


def test_a_small_change_is_planned_patched_and_checked_in_one_turn(desk: Desk) -> None:
    read = desk.turn("read_file_lines", workId="q", originalPrompt=PROMPT, targetFile="pager.py")
    evidence = ["prompt", read.result["result"]["evidence"]]
    answer = desk.turn("submit_execution_plan", workId="q", quick=node(edits=[ROUND_UP], evidence=evidence))
    assert (answer.codes, answer.state) == ([], "EXECUTION_ENABLED"), answer.text
    assert "-(-total // size)" in (desk.root / "pager.py").read_text()
    assert answer.result["progress"] == {
        "totalNodes": 2,
        "completedNodes": 2,
        "remainingNodes": 0,
        "pendingValidations": 0,
    }
    hooks = answer.result["result"]["patch"]["validations"][0]["hooks"]
    assert {one["outcome"] for one in hooks if one["hook"].startswith("tests")} == {"passed"}
    assert answer.next_call is not None
    assert answer.next_call["verb"] == "signal_task_complete"


def test_a_delta_is_applied_from_its_node(desk: Desk) -> None:
    transform = {"operation": "add_decorator", "target": "page_count", "decorator": "@cache"}
    importing = {"operation": "add_import", "import": "from functools import cache"}
    delta = {"path": "pager.py", "transforms": [transform, importing]}
    first = desk.turn("submit_execution_plan", workId="d", originalPrompt=PROMPT, nodes=[node(delta=delta)])
    assert follow(desk, first, "d") == ["submit_execution_plan", "apply_code_patch"]
    assert "@cache\ndef page_count" in (desk.root / "pager.py").read_text()


def test_imports_change_beside_a_symbol_where_the_plan_says_so(desk: Desk) -> None:
    edits = [
        {"oldText": '"""Pages of a list."""\n', "newText": '"""Pages of a list."""\n\nimport math\n'},
        {"oldText": "total // size", "newText": "math.ceil(total / size)"},
    ]
    plan = [node(edits=edits, allowImports=True)]
    first = desk.turn("submit_execution_plan", workId="i", originalPrompt=PROMPT, nodes=plan)
    assert follow(desk, first, "i") == ["submit_execution_plan", "apply_code_patch"]
    assert "import math" in (desk.root / "pager.py").read_text()


def test_patch_verbs_are_denied_before_a_plan_and_for_wrong_nodes_after_it(desk: Desk) -> None:
    arguments: dict[str, Any] = {"planNodeId": "n1", "targetFile": "pager.py", "edits": [ROUND_UP]}
    before = desk.turn("apply_code_patch", workId="x", originalPrompt=PROMPT, **arguments)
    assert before.sub_codes == ["scope.state"]
    follow(desk, desk.turn("submit_execution_plan", workId="x", nodes=[node()]), "x", most=1)
    for wrong in (
        {"planNodeId": "n7"},
        {"targetFile": "report.py"},
        {"targetFile": "../x"},
        {"planNodeId": "v1"},
    ):
        before_it = git(desk.root, "status", "--porcelain")
        denial = desk.turn("apply_code_patch", workId="x", **{**arguments, **wrong})
        assert denial.codes == ["PLAN_SCOPE_VIOLATION"], denial.text
        assert git(desk.root, "status", "--porcelain") == before_it
        assert desk.send({**denial.suggestion, "workId": "x"}).codes == []
    missing = desk.turn("apply_code_patch", workId="x", planNodeId="n1", targetFile="pager.py")
    assert missing.codes == ["PLAN_MISSING_REQUIRED_FIELDS"]


def test_a_run_goes_on_after_a_restart(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        first = desk.turn(
            "submit_execution_plan", workId="r", originalPrompt=PROMPT, nodes=[node(edits=[ROUND_UP])]
        )
        assert follow(desk, first, "r", most=1) == ["submit_execution_plan"]
    with open_desk(tmp_path) as desk:
        answer = desk.turn("list_available_verbs", workId="r")
        assert answer.next_call is not None
        assert answer.next_call["verb"] == "apply_code_patch"
        follow(desk, answer, "r")
        assert "-(-total // size)" in (desk.root / "pager.py").read_text()


def test_a_node_without_content_says_what_to_write(desk: Desk) -> None:
    first = desk.turn("submit_execution_plan", workId="t", originalPrompt=PROMPT, nodes=[node()])
    accepted = desk.send({**first.suggestion, "workId": "t"}) if first.codes else first
    assert accepted.state == "PLAN_ACCEPTED" and accepted.next_call is not None
    assert accepted.next_call["verb"] == "read_file_lines"
    assert "then apply_code_patch {planNodeId: n1, targetFile, edits: [{oldText, newText}]}." in accepted.text
    patch = desk.turn(
        "apply_code_patch", workId="t", planNodeId="n1", targetFile="pager.py", edits=[ROUND_UP]
    )
    assert patch.state == "EXECUTION_ENABLED" and "as before" not in patch.text
