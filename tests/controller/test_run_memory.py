"""Memory in runs: denials become friction, resolved friction an example, and the example is shown."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from codeplane.config import Places
from codeplane.controller.contract import Progress, RunState
from codeplane.controller.guidance import Guidance
from codeplane.controller.run_memory import (
    expired_memories,
    import_overrides,
    memory_store,
    note_denial,
    note_success,
    pack_memories,
    plan_rules,
    strategy_signals,
)
from codeplane.controller.runs import Run, run_store
from codeplane.controller.verb import Denied
from codeplane.core.ids import new_request_id
from codeplane.memory import MemoryRecord
from codeplane.session import Call
from codeplane.session.trust import give_trust
from tests.controller.lab import Desk, open_desk
from tests.drive import user_env
from tests.memory.samples import NOTE, PLAN_RULE, SIGNAL, write_override

REFUSED = {"planGraph": {"nodes": [{"file": "pager.py", "intent": "Round up.", "hooks": ["parse"]}]}}
ACCEPTED = {"planGraph": {"nodes": [{"file": "pager.py", "intent": "Round up.", "hooks": ["tests"]}]}}
CODE = "PLAN_VERIFICATION_WEAK"
SUBMIT = "submit_execution_plan"


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with open_desk(tmp_path) as desk:
        yield desk


def call_on(desk: Desk) -> Call:
    call = Call(desk.session, desk.session.sessions.enter("a client"), new_request_id())
    with call.snapshot():
        return call


def weak_verification(**values: Any) -> Denied:
    problem = {"code": CODE, "subCode": "verification.weak", "field": "nodes[0].hooks", "message": "No test."}
    return Denied([CODE], "No test.", result={"problems": [problem | values]})


def fail_and_fix(desk: Desk, times: int = 3, accepted: Mapping[str, Any] = ACCEPTED) -> list[MemoryRecord]:
    """Plans that are denied, then one that is accepted, as the dispatcher notes them."""
    run, call = Run("teacher", "sess", "agent", turns=5), call_on(desk)
    for _ in range(times):
        note_denial(run, SUBMIT, REFUSED, weak_verification(), memory_store(desk.session))
    note_success(run, SUBMIT, accepted, {"draft": {}}, call)
    assert not any(entry.is_resolved for entry in memory_store(desk.session).friction.list_entries())
    note_success(run, SUBMIT, accepted, {"accepted": True}, call)
    run.state = RunState.EXECUTION_ENABLED
    run_store(desk.session).save(run)
    return memory_store(desk.session).list_all()


def test_a_denied_turn_is_friction_and_a_later_success_resolves_it(desk: Desk) -> None:
    work = desk.turn("read_file_lines").result["workId"]
    store = memory_store(desk.session)
    [entry] = store.friction.list_entries(work)
    assert (entry.code, entry.trigger, entry.is_resolved) == (
        "PLAN_MISSING_REQUIRED_FIELDS",
        "friction_signal",
        False,
    )
    desk.turn("list_scoped_files")
    assert not store.friction.list_entries(work)[0].is_resolved
    desk.turn("read_file_lines", targetFile="pager.py")
    assert store.friction.list_entries(work)[0].is_resolved
    assert store.list_all() == []


def test_probing_the_tool_teaches_nothing(desk: Desk) -> None:
    for _ in range(20):
        desk.turn("read_file_lines", colour="red")
        desk.turn("apply_code_patch")
        desk.turn("no_such_verb")
    desk.turn("read_file_lines", targetFile="pager.py")
    assert memory_store(desk.session).list_all() == []


def test_a_refused_plan_that_was_then_accepted_becomes_an_example(desk: Desk) -> None:
    [record] = fail_and_fix(desk)
    shot = record.content.few_shot
    assert shot is not None
    assert (shot.before, shot.after) == ('{"hooks": ["parse"]}', '{"hooks": ["tests"]}')
    assert shot.why_wrong == "No test."
    assert record.content.origin_strategy_id == "general_change"
    assert list(record.content.digests) == ["pager.py"]


def test_a_trace_shows_an_approved_example_once_in_a_run(desk: Desk) -> None:
    [record] = fail_and_fix(desk)
    assert "fewShots" not in desk.turn("trace_symbol_graph", targetFile="pager.py").result["result"]
    memory_store(desk.session).approve(record.id)
    shown = desk.turn("trace_symbol_graph", workId="w2", symbol="page_count")
    assert [one["id"] for one in shown.result["result"]["fewShots"]] == [record.id]
    assert 'accepted: {"hooks": ["tests"]}' in shown.text
    again = desk.turn("trace_symbol_graph", workId="w2", symbol="page_count")
    assert "fewShots" not in again.result["result"]


def test_an_example_is_dropped_when_its_file_changes(desk: Desk) -> None:
    [record] = fail_and_fix(desk)
    store = memory_store(desk.session)
    store.approve(record.id)
    (desk.root / "pager.py").write_text("def page_count() -> int:\n    return 1\n")
    answer = desk.turn("trace_symbol_graph", targetFile="pager.py")
    assert "fewShots" not in answer.result["result"]
    assert store.show(record.id).state == "retired"


def test_the_end_of_a_run_renews_what_it_changed_itself(desk: Desk) -> None:
    [record] = fail_and_fix(desk)
    (desk.root / "pager.py").write_text("def page_count() -> int:\n    return 1\n")
    desk.turn("list_scoped_files", workId="teacher", runSessionId="sess")
    assert desk.turn("signal_task_complete", workId="teacher").state == "COMPLETED"
    memory_store(desk.session).approve(record.id)
    shown = desk.turn("trace_symbol_graph", workId="w2", targetFile="pager.py")
    assert [one["id"] for one in shown.result["result"]["fewShots"]] == [record.id]


def test_a_pack_has_at_most_two_memories(desk: Desk) -> None:
    folder = desk.root / ".codeplane" / "memory" / "overrides"
    write_override(folder, "a.json", [NOTE | {"note": f"n{number}"} for number in range(5)])
    memory_store(desk.session).import_overrides(folder)
    entries = pack_memories(call_on(desk), ["pager.py"])
    assert len(entries) == 2 and entries == pack_memories(call_on(desk), ["pager.py"])
    run = Run("w", "s", "a", turns=1)
    note_success(run, "initialize_work", {}, {"contextPack": {"activeMemories": entries[:1]}}, call_on(desk))
    assert list(run.body.extra["memoriesShown"]) == [entries[0]["id"]]


def test_overrides_count_in_a_trusted_repository_alone(tmp_path: Path) -> None:
    with open_desk(tmp_path) as desk:
        folder = desk.root / ".codeplane" / "memory" / "overrides"
        write_override(folder, "rule.json", PLAN_RULE)
        write_override(folder, "broken.json", "{")
        write_override(folder, "folders.json", NOTE | {"domainAnchorIds": ["tests", "nowhere"]})
        call = call_on(desk)
        import_overrides(call)
        assert memory_store(desk.session).list_all() == []
        assert any("is not trusted" in warning for warning in call.warnings)
        root = desk.root
    give_trust(root, Places.of_user(user_env(tmp_path / "home")))
    with open_desk(tmp_path) as desk:
        call = call_on(desk)
        import_overrides(call)
        assert {record.state for record in memory_store(desk.session).list_all()} == {"approved"}
        [broken, astray] = call.warnings
        assert "broken.json" in broken and "nowhere is no domain anchor" in astray


def test_rules_signals_and_expiry_are_asked_by_file(desk: Desk) -> None:
    folder = desk.root / ".codeplane" / "memory" / "overrides"
    rule = {"enforcementType": "plan_rule", "planRule": {"requiredSteps": ["tests"]}}
    write_override(folder, "a.json", [SIGNAL, rule | {"domainAnchorIds": ["tests"]}])
    store, call = memory_store(desk.session), call_on(desk)
    store.import_overrides(folder)
    assert plan_rules(call, ["pager.py"]) == () == strategy_signals(call, ["pager.py"])
    assert [one.condition for one in plan_rules(call, ["tests/test_pager.py"])] == [{"files": ["tests/"]}]
    assert [one.feature_flag for one in strategy_signals(call, ["src/ui/grid.ts"])] == ["mentionsAgGrid"]
    [record] = fail_and_fix(desk)[-1:]
    assert expired_memories(call, [record.id, "mem_000000000000"]) == []


def test_the_retrospective_has_its_five_parts(desk: Desk) -> None:
    fail_and_fix(desk)
    for _ in range(3):
        desk.turn("read_file_lines", workId="teacher", runSessionId="sess")
    desk.turn("read_file_lines", workId="teacher", targetFile="pager.py")
    desk.turn("observe", workId="teacher", text="report.py ignores empty lists", targetFile="report.py")
    answer = desk.turn("signal_task_complete", workId="teacher", summary="Rounded up.")
    result = answer.result["result"]
    digest = result["frictionDigest"]
    assert digest["heatmap"] == {"PLAN_MISSING_REQUIRED_FIELDS": 3}
    assert [(one["signature"], one["count"]) for one in digest["topSignatures"]] == [
        ("PLAN_MISSING_REQUIRED_FIELDS/fields.missing", 3)
    ]
    assert digest["retrievalHotspots"] == [{"source": "pager.py", "count": 1}]
    assert sum(one["count"] for one in digest["trend"]) == 3
    assert digest["pendingCorrections"] == 0
    [pending] = result["memoryStatus"]["pending"]
    assert pending["scaffolded"] is True and result["memoryStatus"]["approvedCount"] == 0
    statistics = result["sessionStatistics"]
    assert statistics["totalRejections"] == 3 and statistics["verbDistribution"]["read_file_lines"] == 4
    assert {one["kind"] for one in result["suggestions"]} == {"plan_rule", "few_shot", "review"}
    assert [one["text"] for one in result["observations"]] == ["report.py ignores empty lists"]
    assert answer.state == "COMPLETED" and "3 rejections" in answer.text
    again = desk.turn("signal_task_complete", workId="teacher")
    assert again.result["result"]["memoryStatus"] == result["memoryStatus"]


@pytest.mark.parametrize(("is_denied_again", "effect"), [(False, "prevented"), (True, "repeated")])
def test_the_retrospective_says_what_a_memory_changed(desk: Desk, is_denied_again: bool, effect: str) -> None:
    [record] = fail_and_fix(desk)
    store = memory_store(desk.session)
    store.approve(record.id)
    desk.turn("trace_symbol_graph", workId="w2", targetFile="pager.py")
    run = desk.run_of("w2")
    if is_denied_again:
        note_denial(run, SUBMIT, REFUSED, weak_verification(), store)
    note_success(run, SUBMIT, ACCEPTED, {"accepted": True}, call_on(desk))
    run_store(desk.session).save(run)
    result = desk.turn("signal_task_complete", workId="w2").result["result"]
    [entry] = result["memoryStatus"]["effects"]
    assert (entry["memoryId"], entry["effect"]) == (record.id, effect)
    assert store.changes(record.id)[-1].event == "outcome"
    assert store.changes(record.id)[-1].actor == "w2"


def test_rules_and_signals_that_changed_a_run_are_named(desk: Desk) -> None:
    store = memory_store(desk.session)
    run = Run("w", "sess", "agent")
    results = [{"memoryId": "mem_1", "satisfied": False}, {"memoryId": "mem_2", "satisfied": True}]
    denial = weak_verification(subCode="policy.rule")
    denial.result["memoryRuleResults"] = results
    note_denial(run, SUBMIT, REFUSED, denial, store)
    assert store.friction.list_entries("w")[0].trigger == "rule_violation"
    note_success(run, SUBMIT, ACCEPTED, {"accepted": True}, call_on(desk))
    run.body.strategy_reasons = ["memory mem_00000000000a sets hasJira to true"]
    run_store(desk.session).save(run)
    result = desk.turn("signal_task_complete", workId="w", runSessionId="sess").result["result"]
    assert [(one["memoryId"], one["effect"]) for one in result["memoryStatus"]["effects"]] == [
        ("mem_1", "enforced"),
        ("mem_00000000000a", "steered"),
    ]


def test_open_nodes_need_a_decision_to_give_up(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress(total_nodes=3, completed_nodes=1, remaining_nodes=2, pending_validations=1)
    monkeypatch.setattr(Guidance, "progress", lambda _: progress)
    desk.put_in("w", RunState.EXECUTION_ENABLED)
    refusal = desk.turn("signal_task_complete", workId="w")
    assert (refusal.codes, refusal.sub_codes) == (["PLAN_SCOPE_VIOLATION"], ["scope.open_nodes"])
    assert refusal.state == "EXECUTION_ENABLED"
    misspelt = desk.turn("signal_task_complete", workId="w", sumary="x")
    assert misspelt.suggestion["verb"] == "list_available_verbs"
    silent = desk.turn("signal_task_complete", workId="w", abandon=True)
    assert silent.sub_codes == ["fields.missing"]
    answer = desk.send({**silent.suggestion, "workId": "w"})
    assert answer.state == "COMPLETED" and answer.result["result"]["abandoned"] is True
    assert answer.text.splitlines()[1].startswith("abandoned: ")


def test_a_run_that_was_given_up_teaches_nothing_more(desk: Desk) -> None:
    store = memory_store(desk.session)
    run, call = Run("w", "sess", "agent"), call_on(desk)
    for folder in ("a", "b", "c"):
        node = {"file": f"{folder}/x.py", "hooks": []}
        note_denial(run, SUBMIT, {"nodes": [node]}, weak_verification(), store)
        note_success(run, SUBMIT, {"nodes": [node | {"hooks": ["tests"]}]}, {"accepted": True}, call)
    run_store(desk.session).save(run)
    desk.turn("signal_task_complete", workId="w", runSessionId="sess", abandon=True, reason="no time")
    assert store.list_all() == []


def test_a_pattern_across_folders_is_taught_by_the_end_of_the_run(desk: Desk) -> None:
    store = memory_store(desk.session)
    run, call = Run("w", "sess", "agent"), call_on(desk)
    for folder in ("src/a", "src/b", "src/c"):
        node = {"file": f"{folder}/x.py", "hooks": []}
        note_denial(run, SUBMIT, {"nodes": [node]}, weak_verification(), store)
        note_success(run, SUBMIT, {"nodes": [node | {"hooks": ["tests"]}]}, {"accepted": True}, call)
    run_store(desk.session).save(run)
    made = desk.turn("signal_task_complete", workId="w", runSessionId="sess").result["result"]["memoryStatus"]
    [record] = store.list_all()
    assert record.content.domain_anchor_ids == ("src",) and made["made"] == [record.id]


def test_a_failed_run_stays_failed(desk: Desk) -> None:
    desk.put_in("w", RunState.FAILED)
    answer = desk.turn("signal_task_complete", workId="w")
    assert (answer.codes, answer.state) == ([], "FAILED")


def test_an_observation_is_parked_once(desk: Desk) -> None:
    first = desk.turn("observe", note="token = 'abcdefgh'", file="report.py")
    again = desk.turn("observe", note="token = 'abcdefgh'", file="report.py")
    assert first.result["result"] == again.result["result"] == {"observations": 1}
    [parked] = desk.run_of(first.result["workId"]).body.observations
    assert (parked.text, parked.file) == ("token = '[redacted]'", "report.py")
    assert desk.turn("observe", text="x", file="../up").codes != []
    assert desk.turn("observe").sub_codes == ["fields.missing"]


def test_what_a_run_keeps_survives_a_journey_through_json(desk: Desk) -> None:
    fail_and_fix(desk)
    run = desk.run_of("teacher")
    assert json.loads(run.body.model_dump_json())["extra"]["memoriesMade"] == run.body.extra["memoriesMade"]
