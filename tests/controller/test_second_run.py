"""A run that failed to plan teaches the next one: fewer denials, and a rule that a person wrote counts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.config import Places
from codeplane.controller.run_memory import memory_store
from codeplane.memory import MemoryStore
from codeplane.session.trust import give_trust
from tests.controller.lab import Answered, Desk, open_desk
from tests.drive import user_env
from tests.memory.conftest import Clock
from tests.memory.samples import write_override

PROMPT = "page_count rounds down in pager.py: it should round up"
NODE: dict[str, Any] = {
    "file": "pager.py",
    "symbols": ["page_count"],
    "intent": "Round up.",
    "hooks": ["parse"],
}


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as desk:
        yield desk


def submit(desk: Desk, work_id: str, node: dict[str, Any]) -> Answered:
    read = desk.turn("read_file_lines", workId=work_id, originalPrompt=PROMPT, targetFile="pager.py")
    evidence = ["prompt", read.result["result"]["evidence"]]
    return desk.turn(
        "submit_execution_plan", workId=work_id, planGraph={"nodes": [{**node, "evidence": evidence}]}
    )


def first_run(desk: Desk) -> str:
    """Three plans without a test, then the corrected one; returns the id of the memory."""
    for _ in range(3):
        refusal = submit(desk, "w1", NODE)
        assert refusal.codes != []
    assert desk.send({**refusal.suggestion, "workId": "w1"}).codes == []
    [record] = [one for one in memory_store(desk.session).list_all() if "VERIFICATION" in str(one.content)]
    return record.id


def test_the_second_run_needs_fewer_turns_with_the_memory_of_the_first(desk: Desk) -> None:
    memory_id = first_run(desk)
    memory_store(desk.session).approve(memory_id)
    shown = desk.turn("trace_symbol_graph", workId="w2", originalPrompt=PROMPT, symbol="page_count")
    [example] = [one for one in shown.result["result"]["fewShots"] if one["id"] == memory_id]
    # What an agent takes from the example: the hooks that were accepted, in the form that it sends.
    hooks = [part for part in ("tests", "test:tests/test_pager.py") if part in example["fewShot"]["after"]]
    answer = submit(desk, "w2", {**NODE, "hooks": hooks[-1:]})
    assert answer.codes == [] and answer.state == "PLAN_ACCEPTED"
    assert (desk.run_of("w1").body.denials, desk.run_of("w2").body.denials) == (3, 0)
    ended = desk.turn("signal_task_complete", workId="w2", abandon=True, reason="planned only")
    effects = {one["memoryId"]: one["effect"] for one in ended.result["result"]["memoryStatus"]["effects"]}
    assert effects[memory_id] == "prevented"


def test_a_rule_from_the_override_folder_is_enforced_at_the_next_plan(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        root = desk.root
        rule = {"condition": {"files": ["*.py"]}, "requiredSteps": ["file:README.md"]}
        memory = {"enforcementType": "plan_rule", "planRule": rule, "note": "Tell people."}
        write_override(root / ".codeplane" / "memory" / "overrides", "rule.json", memory)
    give_trust(root, Places.of_user(user_env(tmp_path / "home")))
    with open_desk(tmp_path) as desk:
        refusal = submit(desk, "w1", {**NODE, "hooks": ["tests"]})
        assert "PLAN_POLICY_VIOLATION" in refusal.codes
        [result] = refusal.result["result"]["memoryRuleResults"]
        assert (result["satisfied"], result["denyCode"]) == (False, "PLAN_POLICY_VIOLATION")
        assert desk.send({**refusal.suggestion, "workId": "w1"}).codes == []
        run = desk.run_of("w1")
        assert run.body.extra["memoryRulesBroken"] == [result["memoryId"]]


def test_a_plan_that_cites_an_expired_memory_is_refused(desk: Desk) -> None:
    clock, settings = Clock(), desk.session.checkout.settings.controller.memory
    desk.session.keep(MemoryStore, lambda: MemoryStore(lambda: desk.session.state_db, settings, clock))
    memory_id = first_run(desk)
    clock.advance(97)
    refusal = submit(desk, "w2", {**NODE, "hooks": ["tests"], "why": f"{memory_id} says so"})
    assert refusal.codes == ["MEMORY_PROVISIONAL_EXPIRED"]
    assert desk.send({**refusal.suggestion, "workId": "w2"}).codes == []


def test_open_nodes_need_a_decision_to_give_up(desk: Desk) -> None:
    accepted = submit(desk, "w1", {**NODE, "hooks": ["tests"]})
    assert accepted.state == "PLAN_ACCEPTED"
    refusal = desk.turn("signal_task_complete", workId="w1")
    assert (refusal.codes, refusal.sub_codes) == (["PLAN_SCOPE_VIOLATION"], ["scope.open_nodes"])
    assert refusal.state == "PLAN_ACCEPTED"
    misspelt = desk.turn("signal_task_complete", workId="w1", sumary="x")
    assert "abandon" not in misspelt.suggestion
    silent = desk.turn("signal_task_complete", workId="w1", abandon=True)
    assert silent.sub_codes == ["fields.missing"]
    answer = desk.send({**silent.suggestion, "workId": "w1"})
    assert answer.state == "COMPLETED" and answer.result["result"]["abandoned"] is True
    assert "abandoned: " in answer.text
