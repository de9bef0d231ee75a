"""`run_sandboxed_code`: bound to a node of the accepted plan, and denied with a call that works."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.contract import RunState
from codeplane.controller.execution.bundles import Bundles
from codeplane.controller.execution.plan_store import store_plan
from codeplane.controller.runs import run_store
from codeplane.controller.strategy.run_strategy import run_history
from tests.controller.execution.runs import ToyPlan, change, validate
from tests.controller.lab import Desk, open_desk

NODE = "change-count"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as desk:
        desk.put_in("w", RunState.PLAN_ACCEPTED)
        run = desk.run_of("w")
        plan = ToyPlan([change(NODE, "pager.py", "page_count"), validate("check-count", NODE)])
        store_plan(desk.session, run, plan)
        run_store(desk.session).save(run)
        yield desk


def compute(desk: Desk, code: str, **arguments: Any) -> Any:
    return desk.turn("run_sandboxed_code", workId="w", **{"planNodeId": NODE, "code": code, **arguments})


def test_a_snippet_is_run_and_its_answer_checked_and_recorded(desk: Desk) -> None:
    shape = {"properties": {"pages": "integer"}}
    code = "print('counted', total)\n{'pages': -(-total // size)}"
    answer = compute(desk, code, inputs={"total": 21, "size": 10}, returnShape=shape)
    assert answer.codes == []
    assert answer.state == "EXECUTION_ENABLED"
    assert answer.result["result"]["value"] == {"pages": 3}
    assert '{"pages": 3}\nprinted:\ncounted 21' in answer.text
    bundles = Bundles(desk.session.state, "w")
    assert answer.result["result"]["artifactBundleRef"] == bundles.ref_of(f"{NODE}.sandbox")
    assert bundles.read(f"{NODE}.sandbox", "result.json")["value"] == {"pages": 3}
    assert not bundles.has_bundle(NODE)


@pytest.mark.parametrize(
    ("code", "arguments", "denial"),
    [
        ("1 / 0", {}, "SANDBOX_FAILED"),
        ("while True: pass", {"timeoutSec": 0.2}, "SANDBOX_TIMEOUT"),
        ("'a' * 10 ** 10", {}, "SANDBOX_MEMORY"),
        ("'TODO'", {}, "SANDBOX_SHAPE_MISMATCH"),
        ("open('pager.py').read()", {}, "SANDBOX_FAILED"),
        ("1", {"planNodeId": "change-cuont"}, "PLAN_SCOPE_VIOLATION"),
        ("1", {"timeoutSec": 500}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ("1", {"returnShape": {"typo": 1}}, "INVALID_ARGUMENT"),
        ("1", {"inputs": {"not a name": 1}}, "INVALID_ARGUMENT"),
    ],
)
def test_what_cannot_be_run_is_denied_with_a_call_that_works(
    desk: Desk, code: str, arguments: dict[str, Any], denial: str
) -> None:
    answer = compute(desk, code, **arguments)
    assert answer.codes == [denial], answer.text
    assert answer.suggestion["verb"] == "run_sandboxed_code"
    follow_up = desk.send({**answer.suggestion, "workId": "w"})
    assert follow_up.codes == [], follow_up.text


def test_a_wrong_node_is_named_with_the_nearest(desk: Desk) -> None:
    answer = compute(desk, "1", planNodeId="change-cuont")
    assert answer.sub_codes == ["scope.node"]
    assert "did you mean change-count?" in answer.text


def test_the_same_failure_again_is_counted_for_the_strategy(desk: Desk) -> None:
    for _ in range(3):
        compute(desk, "1 / 0")
    assert list(run_history(desk.run_of("w")).failures.values()) == [3]


def test_without_a_plan_nothing_is_run(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        answer = compute(desk, "1")
        assert answer.sub_codes == ["scope.state"]
        desk.put_in("w", RunState.PLAN_ACCEPTED)
        assert compute(desk, "1").sub_codes == ["scope.node"]
