"""A blocked run gets what is new, and calls that work."""

from tests.controller.pack.conftest import Turn
from tests.tools.repo import Repo

PROMPT = "The total price of a cart ignores the discount."
RANKED = ("anchors", "proofChains")


def test_only_what_is_new_is_told_and_nothing_is_taken_away(turn: Turn) -> None:
    before = turn("initialize_work", originalPrompt=PROMPT)["result"]["contextPack"]
    answer = turn("request_evidence_guidance", blockingReasons=["how is `parcel_weight` computed"])
    delta = answer["result"]["packDelta"]
    assert "shop/shipping.py" in [one["path"] for one in delta["anchors"]["anchors"]]
    old = {(one["path"], one["firstLine"]) for one in before["anchors"]["anchors"] if one["evidence"]}
    assert not old & {(one["path"], one["firstLine"]) for one in delta["anchors"]["anchors"]}
    assert "self.lines.append" not in answer["text"]
    ref = answer["result"]["contextPackRef"]
    whole = turn("request_evidence_guidance", blockingReasons=["x"], contextPackRef=ref)["result"][
        "contextPack"
    ]
    for section in ("policies", "activeMemories"):
        assert [one for one in before[section] if one not in whole[section]] == []
    handles = {one["evidence"] for one in whole["anchors"]["anchors"]}
    assert {one["evidence"] for one in before["anchors"]["anchors"]} <= handles
    assert set(before["allowed"]["files"]) <= set(whole["allowed"]["files"])


def test_asking_the_same_again_brings_nothing_and_keeps_the_pack(turn: Turn) -> None:
    turn("initialize_work", originalPrompt=PROMPT)
    reasons = ["how is `parcel_weight` computed"]
    first = turn("request_evidence_guidance", blockingReasons=reasons)["result"]
    second = turn("request_evidence_guidance", blockingReasons=reasons)
    assert second["result"]["packDelta"] == {}
    assert second["result"]["contextPackHash"] == first["contextPackHash"]
    assert "nothing new" in second["text"]


def test_a_target_is_added_and_one_that_is_not_there_is_missing(turn: Turn) -> None:
    turn("initialize_work", originalPrompt=PROMPT)
    answer = turn(
        "request_evidence_guidance", blockingReasons=["more"], targets=["parcel_weight", "shop/nothing.py"]
    )
    anchors = answer["result"]["packDelta"]["anchors"]["anchors"]
    assert [one["symbol"] for one in anchors if one["evidence"]][:1] == ["parcel_weight"]
    assert answer["outcome"] == "pack_insufficient"
    assert answer["packInsufficiency"]["codes"] == ["PACK_REQUIRED_ANCHOR_UNRESOLVED"]


def test_a_pack_can_be_had_without_initialize_work(turn: Turn) -> None:
    answer = turn("request_evidence_guidance", originalPrompt=PROMPT, blockingReasons=["where"])
    assert answer["result"]["packDelta"]["anchors"]["anchors"][0]["symbol"] == "Cart.total_price"


def test_every_next_call_is_accepted(turn: Turn) -> None:
    turn("initialize_work", originalPrompt=PROMPT)
    reasons = [
        "PLAN_EVIDENCE_INSUFFICIENT: nothing about shipping",
        "PLAN_SCOPE_VIOLATION",
        "PLAN_ORIGIN_UNKNOWN",
        "PLAN_VERIFICATION_WEAK",
        "SOMETHING else",
    ]
    for some in [*([reason] for reason in reasons), reasons]:
        calls = turn("request_evidence_guidance", blockingReasons=some)["result"]["nextCalls"]
        assert calls
        for call in calls:
            assert turn(call["verb"], **call["args"])["denyReasons"] == [], call


def test_reasons_are_required(turn: Turn) -> None:
    answer = turn("request_evidence_guidance")
    assert answer["denyReasons"] == ["PLAN_MISSING_REQUIRED_FIELDS"]
    action = answer["suggestedAction"]
    assert turn(action["verb"], **action["args"])["denyReasons"] == []


def test_a_pack_survives_a_restart(shop_repo: Repo, turn: Turn) -> None:
    first = turn("initialize_work", originalPrompt=PROMPT)
    shop_repo.session.close()
    again = Repo.at(shop_repo.root, shop_repo.root.parent)
    arguments = {"blockingReasons": ["x"], "contextPackRef": first["result"]["contextPackRef"]}
    answer = again.ask(
        "controller_turn", verb="request_evidence_guidance", workId=first["workId"], **arguments
    )
    again.session.close()
    assert answer.body["result"]["result"]["contextPack"] == first["result"]["contextPack"]
