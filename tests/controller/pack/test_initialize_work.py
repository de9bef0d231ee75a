"""The pack that a run begins with."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from codeplane.controller.pack.fitting import canonical_json
from codeplane.controller.run_memory import memory_store
from tests.controller.pack.conftest import Turn, take_turn
from tests.drive import new_repo
from tests.recon.conftest import SHOP
from tests.tools.repo import Repo

PROMPT = "The total price of a cart ignores the discount.\n\nDo not change `Cart.add_line`."
SECTIONS = [
    "header", "task", "policies", "strategy", "anchors", "allowed", "validation", "missing", "activeMemories",
]  # fmt: skip


def test_the_pack_has_nine_sections_with_the_right_file_first(turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt=PROMPT)
    pack = answer["result"]["contextPack"]
    assert answer["outcome"] == "ok"
    assert list(pack) == SECTIONS
    first = pack["anchors"]["anchors"][0]
    assert (first["path"], first["symbol"]) == ("shop/cart.py", "Cart.total_price")
    assert "lexical" in first["lanes"]
    assert pack["task"]["constraints"] == ["Do not change `Cart.add_line`."]
    assert pack["validation"]["tests"] == ["tests/test_cart.py"]
    assert pack["validation"]["linters"] == ["ruff"]
    assert "shop/AGENTS.md" in [policy["source"] for policy in pack["policies"]]
    assert "apply_code_patch" not in pack["allowed"]["capabilities"]


def test_the_text_shows_lines_behind_handles(turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt=PROMPT)
    handle = answer["result"]["contextPack"]["anchors"]["anchors"][0]["evidence"]
    assert f"shop/cart.py:8-10 Cart.total_price {handle} (" in answer["text"]
    assert "10:         return sum(line.amount for line in self.lines)" in answer["text"]


def test_handles_of_the_pack_are_evidence_of_the_run(shop_repo: Repo, turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt=PROMPT)
    pack = answer["result"]["contextPack"]
    with shop_repo.session.state_db.read() as connection:
        rows = connection.execute(
            "SELECT handle, category, source, first_line, last_line, digest FROM controller_evidence"
        ).fetchall()
    evidence = {row[0]: row[1:] for row in rows}
    for anchor in pack["anchors"]["anchors"]:
        if anchor["evidence"]:
            digest = hashlib.sha256((shop_repo.root / anchor["path"]).read_bytes()).hexdigest()
            place = anchor["path"], anchor["firstLine"], anchor["lastLine"], digest
            assert evidence[anchor["evidence"]] == ("code", *place)
    assert evidence[pack["task"]["evidence"]][:2] == ("requirement", "prompt")
    shown = [one for one in [*pack["anchors"]["anchors"], *pack["policies"], pack["task"]] if one["evidence"]]
    assert len(evidence) == len(shown)


def test_equal_states_have_equal_packs_and_the_hash_is_that_of_the_sections(tmp_path: Path) -> None:
    hashes = set()
    original = new_repo(tmp_path / "shop", SHOP)
    for name in ("one", "two"):
        shutil.copytree(original, tmp_path / name / "repo")
        repo = Repo.at(tmp_path / name / "repo", tmp_path / name)
        ids = {"workId": "w_same", "agentId": "a", "runSessionId": "s"}
        pack = take_turn(repo, "initialize_work", {"originalPrompt": PROMPT, **ids})["result"]["contextPack"]
        repo.session.close()
        header = pack["header"]
        hashes.add(header["contextPackHash"])
        blank = {
            **header,
            "contextPackRef": "",
            "contextPackHash": "",
        }
        digest = hashlib.sha256(canonical_json({**pack, "header": blank}).encode()).hexdigest()
        assert header["contextPackHash"] == digest
        assert header["contextPackRef"] == f"pack_{digest[:16]}"
    assert len(hashes) == 1


def test_the_same_run_gets_the_same_pack_until_a_file_changes(shop_repo: Repo, turn: Turn) -> None:
    first = turn("initialize_work", originalPrompt=PROMPT)["result"]
    assert turn("initialize_work", originalPrompt=PROMPT)["result"] == first
    shop_repo.write("shop/cart.py", SHOP["shop/cart.py"].replace("discount", "rebate"))
    second = turn("initialize_work", originalPrompt=PROMPT)["result"]
    assert second["contextPackHash"] != first["contextPackHash"]
    conflicts = second["contextPack"]["missing"]["conflicts"]
    assert conflicts == ["shop/cart.py has uncommitted changes"]


def test_a_later_text_does_not_replace_what_the_user_said(turn: Turn) -> None:
    turn("initialize_work", originalPrompt=PROMPT)
    answer = turn("initialize_work", originalPrompt="Rewrite the shipping of parcels")
    assert "stays the first one" in answer["text"]
    assert answer["result"]["contextPack"]["task"]["prompt"] == PROMPT
    assert turn("get_original_prompt")["result"]["originalPrompt"] == PROMPT


def test_the_pack_can_be_had_again_by_its_reference(turn: Turn) -> None:
    first = turn("initialize_work", originalPrompt=PROMPT)["result"]
    ref = first["contextPackRef"]
    again = turn("request_evidence_guidance", blockingReasons=["lost it"], contextPackRef=ref)
    assert again["result"]["contextPack"] == first["contextPack"]
    assert "Cart.total_price" in again["text"]


@pytest.mark.parametrize("ref", ["pack_0000000000000000", "../../state.db", "pack_x"])
def test_a_reference_of_no_pack_of_this_run_is_refused(turn: Turn, ref: str) -> None:
    turn("initialize_work", originalPrompt=PROMPT)
    answer = turn("request_evidence_guidance", blockingReasons=["x"], contextPackRef=ref)
    assert answer["denyReasons"] == ["PLAN_MISSING_REQUIRED_FIELDS"]


def test_an_attached_file_is_an_anchor_whatever_the_words_say(turn: Turn) -> None:
    answer = turn("initialize_work", originalPrompt=PROMPT, attachments=["shop/shipping.py"])
    anchors = answer["result"]["contextPack"]["anchors"]["anchors"]
    [shipping] = [one for one in anchors if one["path"] == "shop/shipping.py"]
    assert shipping["why"].startswith("named by an attachment")
    assert shipping["evidence"]


def test_a_run_without_a_prompt_is_refused_with_a_call_that_works(turn: Turn) -> None:
    answer = turn("initialize_work")
    assert answer["denyReasons"] == ["PLAN_MISSING_REQUIRED_FIELDS"]
    action = answer["suggestedAction"]
    assert turn(action["verb"], **action["args"])["denyReasons"] == []


def test_memories_about_the_files_are_in_the_pack_and_others_are_not(shop_repo: Repo, turn: Turn) -> None:
    store = memory_store(shop_repo.session)
    contents = {
        "cart.json": {
            "domainAnchorIds": ["shop"],
            "enforcementType": "informational",
            "note": "Prices are cents.",
        },
        "docs.json": {
            "domainAnchorIds": ["docs"],
            "enforcementType": "informational",
            "note": "Short sentences.",
        },
    }
    folder = shop_repo.root.parent / "overrides"
    folder.mkdir()
    for name, content in contents.items():
        (folder / name).write_text(json.dumps(content))
    store.import_overrides(folder)
    for _ in range(2):  # the same again in the next turn
        answer = turn("initialize_work", originalPrompt=PROMPT)
        memories = answer["result"]["contextPack"]["activeMemories"]
        assert [memory["note"] for memory in memories] == ["Prices are cents."]
        assert f"memory {memories[0]['id']}: Prices are cents." in answer["text"]
    reasons = answer["result"]["contextPack"]["anchors"]["anchors"][0]
    assert "episodic" in reasons["lanes"]
