"""What a pack lacks is named, with calls that are accepted as they are."""

from typing import Any

import pytest

from codeplane.controller.contract import RunState
from codeplane.controller.pack.gaps import Gap, escalation_plan
from tests.controller.pack.conftest import Turn

PROMPT = "The total price of a cart ignores the discount."


def test_a_task_that_no_file_is_about_has_an_insufficient_pack(turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt="Zyxwv qqqq")
    lack = answer["packInsufficiency"]
    assert answer["outcome"] == "pack_insufficient"
    assert lack["codes"] == ["PACK_INSUFFICIENT"]
    [anchor] = lack["missingAnchors"]
    assert anchor["anchorType"] == "code"
    assert anchor["requiredBy"] == "evidence policy"
    assert anchor["attemptedSources"][0] == "lexical lane"
    assert anchor["confidence"] == 1.0
    assert lack["blockedCommands"] == [
        "apply_code_patch", "run_sandboxed_code", "execute_gated_side_effect", "run_automation_recipe",
    ]  # fmt: skip
    assert "insufficient: PACK_INSUFFICIENT" in answer["text"]
    _send_all(turn, lack)


@pytest.mark.parametrize(
    ("attachment", "kind", "nearest"),
    [
        ("shop/crat.py", "file", {"targetFile": "shop/cart.py"}),
        ("total_prise", "symbol", {"symbol": "shop.cart.Cart.total_price"}),
        ("../outside.py", "file", None),
    ],
)
def test_an_attachment_that_names_nothing_is_an_unresolved_anchor(
    turn: Turn, attachment: str, kind: str, nearest: dict[str, str] | None
) -> None:
    answer = turn("initialize_work", originalPrompt=PROMPT, attachments=[attachment])
    lack = answer["packInsufficiency"]
    assert answer["outcome"] == "pack_insufficient"
    assert lack["codes"] == ["PACK_REQUIRED_ANCHOR_UNRESOLVED"]
    assert [(one["anchorType"], one["name"]) for one in lack["missingAnchors"]] == [(kind, attachment)]
    if nearest is not None:
        assert lack["escalationPlan"][0]["args"] == nearest
    _send_all(turn, lack)


@pytest.mark.parametrize(
    ("attachment", "kind"), [("SHOP-7", "ticket"), ("https://api.example.com/openapi.json", "api_spec")]
)
def test_what_was_attached_and_not_fetched_is_missing(turn: Turn, attachment: str, kind: str) -> None:
    answer = turn("initialize_work", originalPrompt=PROMPT, attachments=[attachment])
    lack = answer["packInsufficiency"]
    assert [one["anchorType"] for one in lack["missingAnchors"]] == [kind]
    # Connectors are off, so a fetch would be refused.
    assert not [one for one in lack["escalationPlan"] if one["verb"].startswith("fetch")]
    _send_all(turn, lack)


def test_connectors_that_are_on_are_asked() -> None:
    gaps = [
        Gap("ticket", "SHOP-7", "an attachment", "why", ("run",), 1.0, True, is_fetchable=True),
        Gap(
            "api_spec",
            "https://a.example/x.json",
            "an attachment",
            "why",
            ("run",),
            1.0,
            True,
            is_fetchable=True,
        ),
    ]
    actions = [(one.verb, one.args) for one in escalation_plan(gaps, RunState.PLAN_REQUIRED)]
    assert actions == [
        ("fetch_jira_ticket", {"ticketKey": "SHOP-7"}),
        ("fetch_api_spec", {"specUrl": "https://a.example/x.json"}),
    ]
    assert escalation_plan(gaps, RunState.BLOCKED_BUDGET) == []


def test_a_ticket_in_the_prompt_alone_is_only_noted(turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt=f"SHOP-7: {PROMPT} Text is UTF-8.")
    assert answer["outcome"] == "ok"
    missing = answer["result"]["contextPack"]["missing"]["missing"]
    assert missing == ["ticket SHOP-7: it has not been fetched in this run"]


def test_a_name_that_nothing_has_comes_with_the_nearest(turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt="`Cart.total_pricing` ignores the discount")
    [line] = answer["result"]["contextPack"]["missing"]["missing"]
    assert line.startswith("symbol Cart.total_pricing: no file has this name; ")
    assert line.endswith("did you mean shop.cart.Cart.total_price?")


def _send_all(turn: Turn, lack: dict[str, Any]) -> None:
    """Every escalation is a call that is carried out."""
    assert lack["escalationPlan"]
    for action in lack["escalationPlan"]:
        assert turn(action["verb"], **action["args"])["denyReasons"] == [], action
