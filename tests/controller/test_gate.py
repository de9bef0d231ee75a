"""Which verb is allowed in which state, cell by cell."""

from pathlib import Path
from typing import Any

import pytest

from codeplane.controller.catalogue import Verb
from codeplane.controller.contract import RunState
from codeplane.controller.runs import run_store
from codeplane.controller.verb import verb_units
from tests.controller.lab import Desk, open_desk

# A column for each state: plan required, plan accepted, execution enabled, blocked, failed, completed.
_TABLE = """
initialize_work            x . . . . .
list_available_verbs       x x x x x x
list_scoped_files          x x x . . .
list_directory_contents    x x x . . .
read_file_lines            x x x . . .
lookup_symbol_definition   x x x . . .
trace_symbol_graph         x x x . . .
search_codebase_text       x x x . . .
fetch_jira_ticket          x x x . . .
fetch_api_spec             x x x . . .
get_original_prompt        x x x x x x
write_scratch_file         x x x . . .
submit_execution_plan      x x x . . .
request_evidence_guidance  x x x x . .
observe                    x x x x . .
signal_task_complete       x x x x x x
apply_code_patch           . x x . . .
run_sandboxed_code         . x x . . .
execute_gated_side_effect  . x x . . .
run_automation_recipe      . x x . . .
"""
_CELLS = [
    (row.split()[0], state, mark == "x")
    for row in _TABLE.strip().splitlines()
    for state, mark in zip(RunState, row.split()[1:], strict=True)
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Any:
    # A threshold that no run reaches, and blocking on: then a blocked run stays blocked.
    with open_desk(tmp_path_factory.mktemp("gate"), controller__budget__block=True) as desk:
        yield desk


@pytest.mark.parametrize(("verb", "state", "is_allowed"), _CELLS)
def test_a_verb_is_allowed_where_the_table_says(
    desk: Desk, verb: str, state: RunState, is_allowed: bool
) -> None:
    work = f"{verb}-{state.value}"
    desk.put_in(work, state)
    if state is RunState.BLOCKED_BUDGET:
        _use_up(desk, work)
    answer = desk.turn(verb, workId=work)
    is_refused = "scope.state" in answer.sub_codes
    assert is_refused is not is_allowed, answer.text
    if is_refused:
        assert answer.codes == ["PLAN_SCOPE_VIOLATION"]
        follow_up = desk.send({**answer.suggestion, "workId": work})
        assert follow_up.codes == [], follow_up.text


def _use_up(desk: Desk, work: str) -> None:
    run = desk.run_of(work)
    run.tokens = 90_000
    run_store(desk.session).save(run)


def test_the_table_has_every_verb_and_state() -> None:
    assert len(_CELLS) == 120
    assert {verb for verb, _, _ in _CELLS} == set(Verb) == set(verb_units())


def test_what_is_denied_changes_nothing(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        before = {path.name: path.read_bytes() for path in desk.root.glob("*.py")}
        edits = [{"oldText": "total // size", "newText": "0"}]
        answer = desk.turn("apply_code_patch", planNodeId="n1", targetFile="pager.py", edits=edits)
        assert answer.codes == ["PLAN_SCOPE_VIOLATION"]
        assert {path.name: path.read_bytes() for path in desk.root.glob("*.py")} == before
