"""For every code that a run can be refused with: what the refusal suggests is accepted in one turn."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.plan_graph import RejectionCode
from codeplane.memory import MemoryStore
from tests.controller.lab import APP, Answered, Desk, open_desk
from tests.controller.strategy.conftest import GRID
from tests.controller.test_second_run import first_run
from tests.memory.conftest import Clock

PROMPT = "page_count must round up."
EDIT = {"oldText": "total // size", "newText": "-(-total // size)"}
NODE: dict[str, Any] = {"file": "pager.py", "symbols": ["page_count"], "intent": "Round up."}
LONELY = {**APP, "lonely.py": "def lonely(value):\n    return value\n"}
API = {
    **APP,
    "openapi.yaml": "openapi: 3.0.0\ninfo: {title: Pages, version: '1'}\npaths:\n  /pages:\n"
    "    get: {operationId: listPages, responses: {'200': {description: pages}}}\n",
}
CODE = RejectionCode


def plan_of(*nodes: Mapping[str, Any], **envelope: Any) -> dict[str, Any]:
    return {"planGraph": {**envelope, "nodes": list(nodes)}}


REFUSED_PLANS: list[tuple[RejectionCode, Mapping[str, str], str, dict[str, Any]]] = [
    (CODE.PLAN_MISSING_REQUIRED_FIELDS, APP, PROMPT, plan_of({"file": "pager.py"})),
    (CODE.PLAN_SCOPE_VIOLATION, APP, PROMPT, plan_of({**NODE, "file": "../pager.py"})),
    (CODE.PLAN_EVIDENCE_INSUFFICIENT, APP, PROMPT, plan_of(NODE)),
    (CODE.PLAN_NOT_ATOMIC, APP, PROMPT, plan_of(NODE, {**NODE, "symbols": ["page"]})),
    # Two nodes are merged, and one of them cites lines that the run has not read.
    (
        CODE.PLAN_NOT_ATOMIC,
        APP,
        PROMPT,
        plan_of(NODE, {**NODE, "symbols": ["page"], "evidence": ["prompt", "report.py:1-3"]}),
    ),
    (CODE.PLAN_VERIFICATION_WEAK, APP, PROMPT, plan_of({**NODE, "hooks": ["parse"]})),
    (CODE.PLAN_STRATEGY_MISMATCH, APP, PROMPT, plan_of(NODE, knowledgeStrategyId="guesswork")),
    (
        CODE.PLAN_WEAK_MODEL_AMBIGUOUS,
        APP,
        PROMPT,
        plan_of({"file": "pager.py", "text": "size", "intent": "Rename."}),
    ),
    (
        CODE.PLAN_FEDERATION_PROOF_MISSING,
        GRID,
        "Load the remote in the ag-Grid table.",
        plan_of({"file": "src/remote.ts", "intent": "Load it."}),
    ),
    (
        CODE.PLAN_ORIGIN_UNKNOWN,
        GRID,
        "Sort the orders of the ag-Grid table.",
        plan_of({"file": "src/orders.table.ts", "symbols": ["idColumn"], "intent": "Sort."}),
    ),
    (
        CODE.PLAN_POLICY_VIOLATION,
        APP,
        PROMPT,
        plan_of(NODE, evidencePolicy={"minCodeEvidenceSources": 0, "minRequirementSources": 0}),
    ),
    (CODE.PLAN_MISSING_CONTRACT_ANCHOR, API, "Serve GET /pages of the OpenAPI contract.", plan_of(NODE)),
    (
        CODE.PLAN_VALIDATION_CONFIDENCE_TOO_LOW,
        LONELY,
        "lonely must add one.",
        plan_of({"file": "lonely.py", "symbols": ["lonely"], "intent": "Add one.", "hooks": ["parse"]}),
    ),
]


@pytest.mark.parametrize(
    ("code", "files", "prompt", "plan"), REFUSED_PLANS, ids=[str(one[0]) for one in REFUSED_PLANS]
)
def test_a_refused_plan_is_brought_on_by_one_turn(
    tmp_path: Path, code: RejectionCode, files: Mapping[str, str], prompt: str, plan: dict[str, Any]
) -> None:
    with open_desk(tmp_path, files) as desk:
        denial = desk.turn("submit_execution_plan", workId="w", originalPrompt=prompt, **plan)
        assert code in denial.codes, denial.text
        answer = desk.send({**denial.suggestion, "workId": "w"})
        assert answer.codes == [], answer.text
        if denial.suggestion["verb"] == "submit_execution_plan":
            assert answer.state == "PLAN_ACCEPTED"


@pytest.mark.parametrize(
    "codemod",
    [
        {"codemodId": "rename_identifier_in_file", "params": {"from": "nothing", "to": "something"}},
        {"codemodId": "rename_identifier_in_file", "params": {}},
        {"codemodId": "rewrite_everything", "params": {}},
    ],
)
def test_a_codemod_that_can_not_be_run_is_refused_with_the_plan(
    tmp_path: Path, codemod: dict[str, Any]
) -> None:
    with open_desk(tmp_path) as desk:
        denial = desk.turn(
            "submit_execution_plan", workId="w", originalPrompt=PROMPT, nodes=[{**NODE, "edits": [codemod]}]
        )
        assert "fields.edits" in denial.sub_codes, denial.text
        assert desk.send({**denial.suggestion, "workId": "w"}).state == "PLAN_ACCEPTED"


def accepted(desk: Desk, work: str, *nodes: dict[str, Any]) -> None:
    refusal = desk.turn("submit_execution_plan", workId=work, originalPrompt=PROMPT, nodes=list(nodes))
    assert desk.send({**refusal.suggestion, "workId": work}).state == "PLAN_ACCEPTED"


def collide(desk: Desk) -> Answered:
    """Two runs want one function; the test of the first fails, so that it keeps its lease."""
    broken = {"oldText": "total // size", "newText": "(total // size"}
    accepted(desk, "ann", {**NODE, "edits": [broken]})
    accepted(desk, "w", {**NODE, "edits": [EDIT]})
    desk.turn("apply_code_patch", workId="ann", planNodeId="n1", targetFile="pager.py", edits=[])
    return desk.turn("apply_code_patch", workId="w", planNodeId="n1", targetFile="pager.py", edits=[])


def leave_ungated(desk: Desk) -> Answered:
    commit = {"kind": "side_effect", "sideEffectType": "git_commit", "payload": "Round up", "gate": "g1"}
    accepted(desk, "w", {**NODE, "edits": [EDIT]}, commit)
    return desk.turn("execute_gated_side_effect", workId="w", planNodeId="s1", sideEffectType="git_commit")


def rest_on_expired_memory(desk: Desk) -> Answered:
    clock, settings = Clock(), desk.session.checkout.settings.controller.memory
    desk.session.keep(MemoryStore, lambda: MemoryStore(lambda: desk.session.state_db, settings, clock))
    memory_id = first_run(desk)
    clock.advance(97)
    node = {**NODE, "why": f"{memory_id} says so"}
    return desk.turn("submit_execution_plan", workId="w", originalPrompt=PROMPT, nodes=[node])


@pytest.mark.parametrize(
    ("code", "provoke"),
    [
        (CODE.EXEC_SIDE_EFFECT_COLLISION, collide),
        (CODE.EXEC_UNGATED_SIDE_EFFECT, leave_ungated),
        (CODE.MEMORY_PROVISIONAL_EXPIRED, rest_on_expired_memory),
    ],
)
def test_a_refusal_of_execution_or_memory_is_brought_on_by_one_turn(
    tmp_path: Path, code: RejectionCode, provoke: Callable[[Desk], Answered]
) -> None:
    with open_desk(tmp_path) as desk:
        denial = provoke(desk)
        assert code in denial.codes, denial.text
        answer = desk.send({**denial.suggestion, "workId": "w"})
        assert answer.codes == [], answer.text


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (CODE.PACK_INSUFFICIENT, {"originalPrompt": "Zyxwv qqqq"}),
        (CODE.PACK_REQUIRED_ANCHOR_UNRESOLVED, {"originalPrompt": PROMPT, "attachments": ["pagr.py"]}),
    ],
)
def test_every_call_that_a_pack_asks_for_is_accepted(
    tmp_path: Path, code: RejectionCode, arguments: dict[str, Any]
) -> None:
    with open_desk(tmp_path) as desk:
        answer = desk.turn("initialize_work", workId="w", **arguments)
        lack = answer.result["packInsufficiency"]
        assert lack["codes"] == [code]
        assert lack["escalationPlan"]
        for action in lack["escalationPlan"]:
            call = {"verb": action["verb"], **(action.get("args") or {}), "workId": "w"}
            assert desk.send(call).codes == [], action


def test_every_code_is_provoked() -> None:
    provoked = {one[0] for one in REFUSED_PLANS}
    others = {
        CODE.EXEC_SIDE_EFFECT_COLLISION,
        CODE.EXEC_UNGATED_SIDE_EFFECT,
        CODE.MEMORY_PROVISIONAL_EXPIRED,
        CODE.PACK_INSUFFICIENT,
        CODE.PACK_REQUIRED_ANCHOR_UNRESOLVED,
    }
    assert provoked | others == set(RejectionCode)
