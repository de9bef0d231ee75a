"""Plans submitted through the real pipeline: refused with everything that is wrong, repaired, accepted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.execution.plan_store import load_plan
from tests.controller.lab import Desk, open_desk

PROMPT = "page_count must round up."
NODE: dict[str, Any] = {"file": "pager.py", "symbols": ["page_count"], "intent": "Round up."}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with open_desk(tmp_path_factory.mktemp("plans")) as desk:
        yield desk


def test_a_plan_that_cites_what_was_read_is_accepted(desk: Desk) -> None:
    read = desk.turn("read_file_lines", workId="w1", originalPrompt=PROMPT, targetFile="pager.py")
    handle = read.result["result"]["evidence"]
    answer = desk.turn("submit_execution_plan", workId="w1", nodes=[{**NODE, "evidence": ["prompt", handle]}])
    assert (answer.codes, answer.state) == ([], "PLAN_ACCEPTED")
    plan = answer.result["result"]["planGraph"]
    assert plan["workId"] == "w1"
    assert plan["nodes"][0]["codeEvidence"][0]["handle"] == handle
    assert plan["nodes"][1]["verificationHooks"][0] == "test:tests/test_pager.py"
    assert "n1 change pager.py page_count" in answer.text
    assert "v1 validate test:tests/test_pager.py, lint, parse after n1" in answer.text


def test_an_accepted_plan_is_in_the_plan_store(desk: Desk) -> None:
    refusal = desk.turn("submit_execution_plan", workId="stored", originalPrompt=PROMPT, nodes=[NODE])
    answer = desk.send({**refusal.suggestion, "workId": "stored"})
    run = desk.run_of("stored")
    assert run.plan == answer.result["result"]["planId"]
    stored = load_plan(desk.session, run)
    assert [node.node_id for node in stored.nodes] == ["n1", "v1"]
    assert stored.progress()["totalNodes"] == 2


def test_the_suggested_plan_is_accepted_and_shows_what_it_cites(desk: Desk) -> None:
    refusal = desk.turn(
        "submit_execution_plan", workId="w2", originalPrompt=PROMPT, planGraph={"nodes": [NODE]}
    )
    assert refusal.codes == ["PLAN_EVIDENCE_INSUFFICIENT"]
    assert refusal.state == "PLAN_REQUIRED"
    assert "return total // size" in refusal.text
    accepted = desk.send({**refusal.suggestion, "workId": "w2"})
    assert accepted.state == "PLAN_ACCEPTED", accepted.text


def test_evidence_that_was_not_shown_is_not_given_out(desk: Desk) -> None:
    forged = {**NODE, "evidence": ["prompt", "report.py:1-5", "pager.py:900"]}
    refusal = desk.turn("submit_execution_plan", workId="w3", originalPrompt=PROMPT, nodes=[forged])
    shown = [line.split()[2] for line in refusal.text.splitlines() if line.startswith("evidence ev_")]
    assert shown == ["report.py:1-5", "pager.py:4-5"]
    other = {**NODE, "evidence": ["prompt", "pager.py:8-10"]}
    assert desk.turn("submit_execution_plan", workId="w3", nodes=[other]).sub_codes == ["evidence.unread"]


def test_handles_of_another_run_mean_nothing(desk: Desk) -> None:
    read = desk.turn("read_file_lines", client="a", workId="w4", originalPrompt=PROMPT, targetFile="pager.py")
    node = {**NODE, "evidence": ["prompt", read.result["result"]["evidence"]]}
    stranger = desk.turn(
        "submit_execution_plan", client="b", workId="w5", originalPrompt=PROMPT, nodes=[node]
    )
    assert stranger.sub_codes == ["evidence.unknown_handle", "evidence.code"]
    assert desk.turn("submit_execution_plan", client="a", workId="w4", nodes=[node]).codes == []


def test_a_file_that_has_changed_makes_its_evidence_stale(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        read = desk.turn("read_file_lines", workId="w", originalPrompt=PROMPT, targetFile="pager.py")
        handle = read.result["result"]["evidence"]
        (desk.root / "pager.py").write_text("# moved\n" + (desk.root / "pager.py").read_text())
        node = {**NODE, "evidence": ["prompt", handle]}
        refusal = desk.turn("submit_execution_plan", workId="w", nodes=[node])
        assert refusal.sub_codes == ["evidence.stale"]
        assert desk.send({**refusal.suggestion, "workId": "w"}).state == "PLAN_ACCEPTED"


@pytest.mark.parametrize(
    "targets", [["page_count"], ["pager.py", "report.py::summary"], [], ["no/such/file.py"]]
)
def test_a_draft_can_be_sent_as_it_is(desk: Desk, targets: list[str]) -> None:
    work = f"draft-{len(targets)}-{len(''.join(targets))}"
    draft = desk.turn(
        "submit_execution_plan",
        workId=work,
        originalPrompt=PROMPT,
        draft=True,
        targets=targets,
        intent="Round up.",
    )
    assert (draft.codes, draft.state) == ([], "PLAN_REQUIRED")
    assert draft.next_call is not None
    assert draft.next_call == draft.result["result"]["send"]
    assert desk.send({**draft.next_call, "workId": work}).state == "PLAN_ACCEPTED"


def test_a_run_without_anything_is_brought_to_a_plan_by_what_it_is_told(desk: Desk) -> None:
    refusal = desk.turn("submit_execution_plan", workId="w6")
    assert refusal.codes == ["PLAN_MISSING_REQUIRED_FIELDS"]
    assert desk.send({**refusal.suggestion, "workId": "w6"}).state == "PLAN_ACCEPTED"


def test_ids_of_another_run_are_refused(desk: Desk) -> None:
    plan = {"workId": "w9", "runSessionId": "sess_other", "repoSnapshotId": "snap_0", "nodes": [NODE]}
    refusal = desk.turn("submit_execution_plan", workId="w7", originalPrompt=PROMPT, plan=plan)
    assert {"scope.session", "scope.snapshot"} <= set(refusal.sub_codes)
    assert desk.send({**refusal.suggestion, "workId": "w7"}).state == "PLAN_ACCEPTED"


def test_the_same_plan_again_and_again_ends_the_run(desk: Desk) -> None:
    answers = [desk.turn("submit_execution_plan", workId="w8", nodes=[{"file": "zzz"}]) for _ in range(6)]
    assert [answer.state for answer in answers] == ["PLAN_REQUIRED"] * 5 + ["FAILED"]


def test_a_small_change_is_patched_in_the_turn_that_plans_it(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        read = desk.turn("read_file_lines", workId="w", originalPrompt=PROMPT, targetFile="pager.py")
        edit = {"oldText": "return total // size", "newText": "return -(-total // size)"}
        node = {**NODE, "edits": [edit], "evidence": ["prompt", read.result["result"]["evidence"]]}
        answer = desk.turn("submit_execution_plan", workId="w", quick=node)
        assert answer.codes == [], answer.text
        assert answer.state == "EXECUTION_ENABLED", answer.text
        assert "-(-total // size)" in (desk.root / "pager.py").read_text()
        assert answer.result["progress"]["remainingNodes"] == 0, answer.text


def test_a_plan_gets_a_context_pack_where_its_run_has_none(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        desk.turn("read_file_lines", workId="bare", targetFile="pager.py", originalPrompt="Round pages up")
        draft = desk.turn("submit_execution_plan", workId="bare", draft=True, targets=["page_count"])
        answer = desk.send({**(draft.next_call or {}), "workId": "bare"})
        assert answer.codes == [], answer.text
        graph = answer.result["result"]["planGraph"]
        assert graph["contextPackRef"].startswith("pack_")
        assert graph["contextPackHash"] == desk.run_of("bare").body.pack_hash
