"""Calls that are nearly right: shapes that can mean one thing are accepted, others get a corrected call."""

from collections.abc import Iterator
from typing import Any

import pytest

from codeplane.controller.runs import NO_PROMPT
from tests.controller.lab import APP, Desk, open_desk

PROMPT = "page_count must round up."
NODE: dict[str, Any] = {
    "file": "pager.py",
    "symbols": ["page_count"],
    "intent": "Round up.",
    "evidence": ["prompt"],
}
OLD, NEW = "    return total // size", "    return -(-total // size)"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    files = {**APP, "src/store.py": "def fetch(key: str) -> str:\n    return key\n"}
    with open_desk(tmp_path_factory.mktemp("corrections"), files) as desk:
        yield desk


@pytest.fixture
def planned(desk: Desk, request: pytest.FixtureRequest) -> Iterator[str]:
    """A run with an accepted plan, of which nothing is done."""
    work_id = f"p{abs(hash(request.node.name)) % 10**9}"
    refusal = desk.turn("submit_execution_plan", workId=work_id, originalPrompt=PROMPT, nodes=[NODE])
    assert desk.send({**refusal.suggestion, "workId": work_id}).state == "PLAN_ACCEPTED"
    yield work_id
    desk.turn("signal_task_complete", workId=work_id, abandon=True, reason="the test is over")
    (desk.root / "pager.py").write_text(APP["pager.py"])


@pytest.mark.parametrize(
    ("call", "corrected"),
    [
        ({"verb": "read_file_lines", "path": "store.py"}, {"targetFile": "src/store.py"}),
        ({"verb": "read_file_lines", "path": "src/stroe.py"}, {"targetFile": "src/store.py"}),
        (
            {"verb": "read_file_lines", "targetFile": "pager.py", "startLine": 5, "colour": 1},
            {"targetFile": "pager.py", "startLine": 5},
        ),
        ({"verb": "read_file_lines", "targetFile": "pager.py", "startLine": 500}, {"targetFile": "pager.py"}),
        ({"verb": "read_file_lines", "targetFile": "pager.py", "startLine": 0}, {"targetFile": "pager.py"}),
        (
            {"verb": "read_file_lines", "targetFile": "src"},
            {"verb": "list_directory_contents", "targetDir": "src"},
        ),
        (
            {"verb": "read_file_lines", "targetFile": "src/none.py"},
            {"verb": "list_directory_contents", "targetDir": "src"},
        ),
        ({"verb": "list_directory_contents", "targetDir": "src/none"}, {"targetDir": "src"}),
        ({"verb": "lookup_symbol_definition", "symbol": "page_cuont"}, {"symbol": "pager.page_count"}),
        ({"verb": "lookup_symbol_definition", "symbl": "page_count"}, {"symbol": "page_count"}),
        ({"verb": "trace_symbol_graph", "symbol": "page_count", "query": "x"}, {"symbol": "page_count"}),
        (
            {"verb": "search_codebase_text", "pattern": "page_count(", "mode": "regex"},
            {"pattern": "page_count(", "mode": "literal"},
        ),
        ({"verb": "observe", "text": "Odd.", "targetFile": "../x"}, {"text": "Odd."}),
        (
            {"verb": "write_scratch_file", "relativePath": "../a b/x.md", "content": "c"},
            {"relativePath": "x.md", "content": "c"},
        ),
    ],
    ids=str,
)
def test_a_corrected_call_keeps_what_was_right(
    desk: Desk, call: dict[str, Any], corrected: dict[str, Any]
) -> None:
    denial = desk.send({"workId": "reads", **call})
    assert denial.codes
    assert denial.suggestion == {"verb": call["verb"], **corrected}
    assert desk.send({**denial.suggestion, "workId": "reads"}).codes == []


@pytest.mark.parametrize(
    "call",
    [
        {"verb": "read_file_lines", "args": {"args": {"targetFile": "pager.py"}}},
        {"verb": "read_file_lines", "args": {"input": {"path": "pager.py", "line": 2}}},
        {"verb": "request_evidence_guidance", "blockingReasons": "no evidence for the size"},
        {
            "verb": "initialize_work",
            "originalPrompt": PROMPT,
            "lexemes": "page_count",
            "attachments": "pager.py",
        },
    ],
    ids=str,
)
def test_one_envelope_too_many_and_one_item_for_a_list_are_read(desk: Desk, call: dict[str, Any]) -> None:
    assert desk.send({"workId": "shapes", **call}).codes == []


@pytest.mark.parametrize(
    "edits",
    [
        {"oldText": OLD, "newText": NEW},
        {"old_string": OLD, "new_string": NEW},
        {"edits": {"oldText": OLD, "newText": NEW}},
        {"edits": [{"search": OLD, "replace": NEW}]},
    ],
    ids=str,
)
def test_one_edit_may_be_sent_as_it_is(desk: Desk, planned: str, edits: dict[str, Any]) -> None:
    answer = desk.turn("apply_code_patch", workId=planned, planNodeId="n1", targetFile="pager.py", **edits)
    assert answer.codes == [], answer.text
    assert NEW in (desk.root / "pager.py").read_text()


def test_a_patch_for_no_node_is_offered_for_the_node_of_its_file(desk: Desk, planned: str) -> None:
    edits = [{"oldText": OLD, "newText": NEW}]
    denial = desk.turn(
        "apply_code_patch", workId=planned, planNodeId="step-1", targetFile="pager.py", edits=edits
    )
    assert denial.codes == ["PLAN_SCOPE_VIOLATION"]
    assert denial.suggestion["planNodeId"] == "n1"
    assert desk.send({**denial.suggestion, "workId": planned}).codes == []
    assert NEW in (desk.root / "pager.py").read_text()


def test_a_patch_for_another_file_is_not_moved_to_the_file_of_the_plan(desk: Desk, planned: str) -> None:
    edits = [{"oldText": OLD, "newText": NEW}]
    denial = desk.turn(
        "apply_code_patch", workId=planned, planNodeId="n1", targetFile="report.py", edits=edits
    )
    assert denial.suggestion["verb"] == "read_file_lines"


def test_a_snippet_without_a_node_runs_for_one_of_the_plan(desk: Desk, planned: str) -> None:
    denial = desk.turn("run_sandboxed_code", workId=planned, code="len(rows)", inputs={"rows": [1, 2]})
    assert denial.suggestion["code"] == "len(rows)"
    assert desk.send({**denial.suggestion, "workId": planned}).result["result"]["value"] == 2


def test_a_step_that_is_denied_again_and_again_is_given_up(desk: Desk, planned: str) -> None:
    wrong: dict[str, Any] = {
        "planNodeId": "n1",
        "targetFile": "pager.py",
        "edits": [{"oldText": "gone", "newText": "x"}],
    }
    denials = [desk.turn("apply_code_patch", workId=planned, **wrong) for _ in range(3)]
    assert [denial.suggestion["verb"] for denial in denials] == [
        *["read_file_lines"] * 2,
        "signal_task_complete",
    ]
    assert "3 times" in denials[-1].text
    assert desk.send({**denials[-1].suggestion, "workId": planned}).codes == []


def test_a_plan_of_one_node_may_be_sent_as_its_fields(desk: Desk) -> None:
    read = desk.turn("read_file_lines", workId="flat", originalPrompt=PROMPT, targetFile="pager.py")
    evidence = ["prompt", read.result["result"]["evidence"]]
    answer = desk.turn("submit_execution_plan", workId="flat", **{**NODE, "evidence": evidence})
    assert answer.state == "PLAN_ACCEPTED", answer.text
    assert answer.result["result"]["planGraph"]["nodes"][0]["targetFile"] == "pager.py"
    desk.turn("signal_task_complete", workId="flat", abandon=True, reason="the test is over")


def test_the_text_in_the_place_of_a_prompt_is_no_evidence(desk: Desk) -> None:
    first = desk.turn("", workId="promptless")
    assert first.suggestion == {"verb": "initialize_work", "originalPrompt": NO_PROMPT}
    pack = desk.send({**first.suggestion, "workId": "promptless"})
    assert pack.codes == []
    assert "This is no prompt" in pack.text
    assert desk.run_of("promptless").body.prompt == ""
    desk.turn("initialize_work", workId="promptless", originalPrompt=PROMPT)
    assert desk.run_of("promptless").body.prompt == PROMPT


def test_a_prompt_of_any_length_is_kept_in_part(desk: Desk) -> None:
    answer = desk.turn("initialize_work", workId="long", originalPrompt="page_count " * 20_000)
    assert answer.codes == []
    assert len(desk.run_of("long").body.prompt) == 100_000


def test_the_list_of_verbs_describes_those_that_were_asked_for(desk: Desk) -> None:
    desk.turn("get_original_prompt", workId="list")
    answer = desk.turn("list_available_verbs", workId="list", verbs=["observe"])
    assert list(answer.result["verbDescriptions"]) == ["observe"]
    assert "allowed: initialize_work" in answer.text


def test_the_part_of_a_long_file_that_a_node_is_about_is_offered_to_be_read(desk: Desk) -> None:
    body = "".join(
        f"def step_{number}(size: int) -> int:\n    return size + {number}\n\n\n" for number in range(60)
    )
    (desk.root / "steps.py").write_text(body)
    node = {"file": "steps.py", "symbols": ["step_40"], "intent": "Halve."}
    refusal = desk.turn(
        "submit_execution_plan", workId="lines", originalPrompt="Halve step_40.", nodes=[node]
    )
    accepted = desk.send({**refusal.suggestion, "workId": "lines"})
    assert accepted.next_call == {
        "verb": "read_file_lines",
        "targetFile": "steps.py",
        "startLine": 156,
        "endLine": 167,
    }
    assert "def step_40" in desk.send({**accepted.next_call, "workId": "lines"}).text
    desk.turn("signal_task_complete", workId="lines", abandon=True, reason="the test is over")


def test_a_small_change_that_was_refused_is_still_made_in_one_turn(desk: Desk) -> None:
    edits = [{"oldText": OLD, "newText": NEW}]
    refusal = desk.turn(
        "submit_execution_plan", workId="quick", originalPrompt=PROMPT, quick={**NODE, "edits": edits}
    )
    assert refusal.codes == ["PLAN_EVIDENCE_INSUFFICIENT"]
    answer = desk.send({**refusal.suggestion, "workId": "quick"})
    assert answer.codes == [] and answer.state == "EXECUTION_ENABLED", answer.text
    assert NEW in (desk.root / "pager.py").read_text()
    desk.turn("signal_task_complete", workId="quick", abandon=True, reason="the test is over")
    (desk.root / "pager.py").write_text(APP["pager.py"])
