"""A plan can be written from the pack alone."""

from typing import Any

from tests.controller.pack.conftest import Turn

PROMPT = "The total price of a cart ignores the discount."


def _plan(pack: dict[str, Any], evidence: list[str]) -> dict[str, Any]:
    first = pack["anchors"]["anchors"][0]
    node = {
        "file": first["path"],
        "symbols": [first["symbol"]],
        "intent": "Subtract the discount from the sum.",
        "evidence": evidence,
    }
    return {"nodes": [node]}


def test_a_plan_that_cites_handles_of_the_pack_is_accepted(turn: Turn) -> None:
    pack = turn("initialize_work", originalPrompt=PROMPT)["result"]["contextPack"]
    handles = [pack["task"]["evidence"], pack["anchors"]["anchors"][0]["evidence"]]
    answer = turn("submit_execution_plan", planGraph=_plan(pack, handles))
    assert (answer["denyReasons"], answer["state"]) == ([], "PLAN_ACCEPTED"), answer["text"]
    plan = answer["result"]["planGraph"]
    assert plan["contextPackHash"] == pack["header"]["contextPackHash"]
    assert plan["repoSnapshotId"] == pack["header"]["repoSnapshotId"]
    assert "shop/AGENTS.md" in plan["policyVersionSet"]


def test_a_handle_of_the_pack_is_stale_when_its_file_has_changed(turn: Turn, shop_repo: Any) -> None:
    pack = turn("initialize_work", originalPrompt=PROMPT)["result"]["contextPack"]
    handles = [pack["task"]["evidence"], pack["anchors"]["anchors"][0]["evidence"]]
    path = shop_repo.root / "shop/cart.py"
    path.write_text(path.read_text() + "\n# more\n")
    answer = turn("submit_execution_plan", planGraph=_plan(pack, handles))
    assert "PLAN_EVIDENCE_INSUFFICIENT" in answer["denyReasons"]
    assert "evidence.stale" in [one["subCode"] for one in answer["result"]["problems"]]


def test_after_three_equal_rejections_the_first_next_call_is_a_plan_that_is_accepted(turn: Turn) -> None:
    pack = turn("initialize_work", originalPrompt=PROMPT)["result"]["contextPack"]
    for count in range(3):
        calls = turn("request_evidence_guidance", blockingReasons=["PLAN_EVIDENCE_INSUFFICIENT"])
        verbs = [call["verb"] for call in calls["result"]["nextCalls"]]
        assert "submit_execution_plan" not in verbs, count
        rejected = turn("submit_execution_plan", planGraph=_plan(pack, ["ev_000000000000"]))
        assert "PLAN_EVIDENCE_INSUFFICIENT" in rejected["denyReasons"]
    answer = turn("request_evidence_guidance", blockingReasons=["PLAN_EVIDENCE_INSUFFICIENT"])
    call = answer["result"]["nextCalls"][0]
    assert call["verb"] == "submit_execution_plan"
    assert turn(call["verb"], **call["args"])["state"] == "PLAN_ACCEPTED"
