"""Sections 2 to 8: every verb before a plan, the plan, the verbs after it, the envelope, and the end."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from codeplane.controller.catalogue import BUDGET_SAFE, Verb
from tests.controller.lab import Answered, Desk, open_desk

PROMPT = "page_count must round up."
EDIT = {"oldText": "total // size", "newText": "-(-total // size)"}
NODE: dict[str, Any] = {"file": "pager.py", "symbols": ["page_count"], "intent": "Round up."}
COMMIT = {"kind": "side_effect", "sideEffectType": "git_commit", "payload": "Round up", "gate": "g1"}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with open_desk(tmp_path_factory.mktemp("harness")) as desk:
        yield desk


@pytest.fixture
def work(request: pytest.FixtureRequest) -> str:
    """A run of its own for each test."""
    return f"w{sha256(request.node.name.encode()).hexdigest()[:20]}"


def check_repair(desk: Desk, work: str, denial: Answered) -> None:
    """What a denial suggests is accepted."""
    answer = desk.send({**denial.suggestion, "workId": work})
    assert answer.codes == [], answer.text


def accept(desk: Desk, work: str, *nodes: dict[str, Any]) -> Answered:
    """A run with an accepted plan, by way of the corrected plan."""
    nodes = nodes or ({**NODE, "edits": [EDIT]},)
    refusal = desk.turn("submit_execution_plan", workId=work, originalPrompt=PROMPT, nodes=list(nodes))
    answer = desk.send({**refusal.suggestion, "workId": work})
    assert answer.state == "PLAN_ACCEPTED", answer.text
    return answer


# Section 2: verbs before a plan.


@pytest.mark.parametrize(
    ("verb", "missing"),
    [
        ("initialize_work", "originalPrompt"),
        ("list_directory_contents", "targetDir"),
        ("read_file_lines", "targetFile"),
        ("lookup_symbol_definition", "symbol"),
        ("search_codebase_text", "pattern"),
        ("fetch_jira_ticket", "ticketKey"),
        ("fetch_api_spec", "specUrl"),
        ("write_scratch_file", "content"),
        ("request_evidence_guidance", "blockingReasons"),
        ("observe", "text"),
    ],
)
def test_a_missing_argument_is_named_and_the_corrected_call_works(
    desk: Desk, work: str, verb: str, missing: str
) -> None:
    denial = desk.turn(verb, workId=work)
    assert denial.codes == ["PLAN_MISSING_REQUIRED_FIELDS"]
    assert missing in [problem["field"] for problem in denial.result["result"]["problems"]]
    check_repair(desk, work, denial)


def test_a_trace_needs_one_thing_to_look_for(desk: Desk, work: str) -> None:
    for arguments in ({}, {"symbol": "page", "query": "page"}):
        denial = desk.turn("trace_symbol_graph", workId=work, **arguments)
        assert denial.codes == ["PLAN_MISSING_REQUIRED_FIELDS"]
        check_repair(desk, work, denial)


@pytest.mark.parametrize(
    ("verb", "arguments", "key"),
    [
        ("initialize_work", {"originalPrompt": PROMPT}, "contextPackRef"),
        ("list_available_verbs", {}, None),
        ("list_scoped_files", {}, "files"),
        ("list_directory_contents", {"targetDir": "tests"}, "entries"),
        ("read_file_lines", {"targetFile": "pager.py"}, "evidence"),
        ("lookup_symbol_definition", {"symbol": "page_count"}, "evidence"),
        ("trace_symbol_graph", {"symbol": "page_count"}, "callers"),
        ("trace_symbol_graph", {"targetFile": "pager.py"}, None),
        ("search_codebase_text", {"pattern": "page_count"}, None),
        ("get_original_prompt", {}, "originalPrompt"),
        ("write_scratch_file", {"relativePath": "a.md", "content": "a"}, "bytes"),
        ("request_evidence_guidance", {"blockingReasons": ["PLAN_EVIDENCE_INSUFFICIENT"]}, "packDelta"),
        ("submit_execution_plan", {"draft": True, "targets": ["page_count"]}, "draft"),
        ("observe", {"text": "page has no bounds check"}, "observations"),
        ("signal_task_complete", {}, "frictionDigest"),
    ],
)
def test_a_verb_with_its_arguments_is_carried_out(
    desk: Desk, work: str, verb: str, arguments: dict[str, Any], key: str | None
) -> None:
    answer = desk.turn(verb, workId=work, **arguments)
    assert answer.codes == [], answer.text
    assert key is None or key in answer.result["result"]
    assert answer.result.get("suggestedAction") is None


@pytest.mark.parametrize("verb", ["burn", "READ_FILE_LINES", "read file lines", ""])
def test_an_unknown_verb_is_denied(desk: Desk, work: str, verb: str) -> None:
    denial = desk.turn(verb, workId=work)
    assert denial.sub_codes == ["scope.verb"]
    check_repair(desk, work, denial)


# Section 3: the life of a plan.


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ({"planGraph": {}}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ({"planGraph": []}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ({"planGraph": {"nodes": [{}]}}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ({"planGraph": {"nodes": [{"file": "no.py", "intent": "x"}]}}, "PLAN_SCOPE_VIOLATION"),
        ({"planGraph": {"nodes": [{"file": "../no.py", "intent": "x"}]}}, "PLAN_SCOPE_VIOLATION"),
        ({"planGraph": {"runSessionId": "sess_other", "nodes": [NODE]}}, "PLAN_SCOPE_VIOLATION"),
        ({"planGraph": {"schemaVersion": "9", "nodes": [NODE]}}, "PLAN_MISSING_REQUIRED_FIELDS"),
    ],
)
def test_a_plan_that_is_wrong_is_refused_and_its_correction_accepted(
    desk: Desk, work: str, arguments: dict[str, Any], code: str
) -> None:
    denial = desk.turn("submit_execution_plan", workId=work, originalPrompt=PROMPT, **arguments)
    assert code in denial.codes
    assert denial.state == "PLAN_REQUIRED"
    assert desk.send({**denial.suggestion, "workId": work}).state == "PLAN_ACCEPTED"


def test_an_accepted_plan_opens_the_verbs_that_write(desk: Desk, work: str) -> None:
    before = set(desk.turn("list_available_verbs", workId=work).result["capabilities"])
    after = set(accept(desk, work).result["capabilities"])
    assert after - before == {
        "apply_code_patch",
        "run_sandboxed_code",
        "execute_gated_side_effect",
        "run_automation_recipe",
    }
    assert before - after == {"initialize_work"}


def test_a_turn_of_another_session_is_refused_and_the_suggestion_is_not(desk: Desk, work: str) -> None:
    desk.turn("list_scoped_files", workId=work, runSessionId="s1")
    denial = desk.turn("list_scoped_files", workId=work, runSessionId="s2")
    assert denial.sub_codes == ["scope.session"]
    check_repair(desk, work, denial)


# Section 4: verbs after the plan, with what is wrong with them.

REFS = {"artifactBundleRef": "x/bundles/v1", "diffSummaryRef": "x/bundles/v1/diff.summary.json"}


@pytest.mark.parametrize(
    ("verb", "arguments", "code"),
    [
        ("apply_code_patch", {}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ("apply_code_patch", {"planNodeId": "n1", "targetFile": "pager.py"}, "PLAN_MISSING_REQUIRED_FIELDS"),
        (
            "apply_code_patch",
            {"planNodeId": "n9", "targetFile": "pager.py", "edits": [EDIT]},
            "PLAN_SCOPE_VIOLATION",
        ),
        (
            "apply_code_patch",
            {"planNodeId": "n1", "targetFile": "report.py", "edits": [EDIT]},
            "PLAN_SCOPE_VIOLATION",
        ),
        (
            "apply_code_patch",
            {
                "planNodeId": "n1",
                "targetFile": "pager.py",
                "edits": [{"oldText": "number * size", "newText": "0"}],
            },
            "PLAN_SCOPE_VIOLATION",
        ),
        ("run_sandboxed_code", {}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ("run_sandboxed_code", {"planNodeId": "n1"}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ("run_sandboxed_code", {"planNodeId": "n9", "code": "1"}, "PLAN_SCOPE_VIOLATION"),
        ("execute_gated_side_effect", {}, "PLAN_MISSING_REQUIRED_FIELDS"),
        (
            "execute_gated_side_effect",
            {"planNodeId": "n1", "sideEffectType": "git_commit"},
            "EXEC_UNGATED_SIDE_EFFECT",
        ),
        (
            "execute_gated_side_effect",
            {"planNodeId": "s1", "sideEffectType": "git_push"},
            "EXEC_UNGATED_SIDE_EFFECT",
        ),
        (
            "execute_gated_side_effect",
            {"planNodeId": "s1", "sideEffectType": "git_commit", "commitGateId": "zz"},
            "EXEC_UNGATED_SIDE_EFFECT",
        ),
        (
            "execute_gated_side_effect",
            {"planNodeId": "s1", "sideEffectType": "git_commit", "commitGateId": "g1"},
            "EXEC_UNGATED_SIDE_EFFECT",
        ),
        ("run_automation_recipe", {}, "PLAN_MISSING_REQUIRED_FIELDS"),
        ("run_automation_recipe", {"recipeId": "shell", "planNodeId": "n1", **REFS}, "RECIPE_INVALID"),
        (
            "run_automation_recipe",
            {"recipeId": "run_targeted_validation", "planNodeId": "v1", **REFS},
            "RECIPE_INVALID",
        ),
        ("initialize_work", {"originalPrompt": PROMPT}, "PLAN_SCOPE_VIOLATION"),
        ("signal_task_complete", {}, "PLAN_SCOPE_VIOLATION"),
    ],
)
def test_a_wrong_call_after_the_plan_is_denied_and_changes_nothing(
    desk: Desk, work: str, verb: str, arguments: dict[str, Any], code: str
) -> None:
    accept(desk, work, {**NODE, "edits": [EDIT]}, COMMIT)
    before = (desk.root / "pager.py").read_bytes()
    denial = desk.turn(verb, workId=work, **arguments)
    assert denial.codes == [code], denial.text
    assert (desk.root / "pager.py").read_bytes() == before
    reading = denial.suggestion["verb"] != "apply_code_patch"
    if reading:  # the patch itself is sent in the campaigns that have a repository of their own
        check_repair(desk, work, denial)
    desk.turn("signal_task_complete", workId=work, abandon=True, reason="checked")


# Section 5: the envelope.


def test_every_answer_has_the_whole_envelope(desk: Desk, work: str) -> None:
    answer = desk.turn("list_scoped_files", workId=work, agentId="ann", runSessionId="s1").result
    assert (answer["workId"], answer["agentId"], answer["runSessionId"]) == (work, "ann", "s1")
    assert answer["state"] == "PLAN_REQUIRED"
    assert answer["schemaVersion"] == "1.0.0"
    assert answer["traceRef"].startswith("req_")
    assert answer["scope"]["worktreeRoot"] == str(desk.root)
    assert work in answer["scope"]["scratchRoot"]
    assert answer["denyReasons"] == []


def test_the_budget_is_reported_and_grows(desk: Desk, work: str) -> None:
    first = desk.turn("list_scoped_files", workId=work).result["budgetStatus"]
    second = desk.turn("list_scoped_files", workId=work).result["budgetStatus"]
    assert (first["maxTokens"], first["thresholdTokens"], first["blocked"]) == (100_000, 60_000, False)
    assert second["usedTokens"] > first["usedTokens"] > 0


def test_the_strategy_has_an_id_a_signature_and_reasons(desk: Desk, work: str) -> None:
    strategy = accept(desk, work).result["knowledgeStrategy"]
    assert strategy["strategyId"]
    assert len(strategy["contextSignature"]) == 8
    assert strategy["reasons"]


def test_changes_that_wait_for_nothing_are_offered_to_several_agents(desk: Desk, work: str) -> None:
    other = {"file": "report.py", "symbols": ["summary"], "intent": "Say so."}
    hints = accept(desk, work, {**NODE, "edits": [EDIT]}, other).result["subAgentHints"]
    assert hints == {"recommended": True, "splits": [["n1"], ["n2"]]}
    alone = desk.turn("list_scoped_files", workId=f"{work}x").result["subAgentHints"]
    assert alone["recommended"] is False


def test_progress_counts_the_nodes_of_the_plan(desk: Desk, work: str) -> None:
    assert accept(desk, work).result["progress"] == {
        "totalNodes": 2,
        "completedNodes": 0,
        "remainingNodes": 2,
        "pendingValidations": 1,
    }


# Section 6: what is denied before a plan.


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("apply_code_patch", {"planNodeId": "n1", "targetFile": "pager.py", "edits": [EDIT]}),
        ("run_sandboxed_code", {"planNodeId": "n1", "code": "1"}),
        ("execute_gated_side_effect", {"planNodeId": "s1", "sideEffectType": "git_commit"}),
        ("run_automation_recipe", {"recipeId": "run_targeted_validation", "planNodeId": "v1", **REFS}),
    ],
)
def test_what_needs_a_plan_is_denied_before_it(
    desk: Desk, work: str, verb: str, arguments: dict[str, Any]
) -> None:
    denial = desk.turn(verb, workId=work, **arguments)
    assert (denial.codes, denial.sub_codes) == (["PLAN_SCOPE_VIOLATION"], ["scope.state"])
    assert denial.suggestion["verb"] == "submit_execution_plan"
    check_repair(desk, work, denial)


# Section 7: descriptions and suggestions.


def test_the_first_answer_describes_every_verb_of_the_state(desk: Desk, work: str) -> None:
    answer = desk.turn("list_scoped_files", workId=work).result
    assert list(answer["verbDescriptions"]) == answer["capabilities"]
    for description in answer["verbDescriptions"].values():
        assert description["description"] and description["whenToUse"]
    assert answer["verbDescriptions"]["read_file_lines"]["requiredArgs"] == ["targetFile"]


def test_a_denial_has_a_suggestion_and_a_success_has_none(desk: Desk, work: str) -> None:
    denial = desk.turn("read_file_lines", workId=work)
    assert set(denial.result["suggestedAction"]) == {"verb", "reason", "args"}
    assert "instead: {" in denial.text
    answer = desk.send({**denial.suggestion, "workId": work})
    assert answer.result.get("suggestedAction") is None
    assert "instead: " not in answer.text


def test_descriptions_come_again_when_the_state_changes(desk: Desk, work: str) -> None:
    assert "apply_code_patch" in accept(desk, work).result["verbDescriptions"]
    assert "verbDescriptions" not in desk.turn("list_scoped_files", workId=work).result


# Section 8: the end.


@pytest.fixture(scope="module")
def ended(desk: Desk) -> Answered:
    for _ in range(2):
        desk.turn("read_file_lines", workId="ended", originalPrompt=PROMPT)
    desk.turn("read_file_lines", workId="ended", targetFile="pager.py")
    desk.turn("observe", workId="ended", text="page has no bounds check")
    return desk.turn("signal_task_complete", workId="ended", summary="looked around")


def test_the_friction_digest_counts_denials(ended: Answered) -> None:
    digest = ended.result["result"]["frictionDigest"]
    assert digest["heatmap"] == {"PLAN_MISSING_REQUIRED_FIELDS": 2}
    assert digest["topSignatures"][0]["count"] == 2
    assert digest["retrievalHotspots"] == [{"source": "pager.py", "count": 1}]


def test_the_memory_status_and_suggestions_are_there(ended: Answered) -> None:
    result = ended.result["result"]
    assert {"pending", "provisional", "approvedCount", "effects"} <= set(result["memoryStatus"])
    assert isinstance(result["suggestions"], list)


def test_the_statistics_count_turns_and_verbs(ended: Answered) -> None:
    statistics = ended.result["result"]["sessionStatistics"]
    assert (statistics["totalTurns"], statistics["totalRejections"]) == (5, 2)
    assert statistics["verbDistribution"]["read_file_lines"] == 3


def test_observations_and_the_summary_are_repeated(ended: Answered) -> None:
    result = ended.result["result"]
    assert [one["text"] for one in result["observations"]] == ["page has no bounds check"]
    assert result["summary"] == "looked around"


def test_a_run_that_has_ended_is_completed(desk: Desk, ended: Answered) -> None:
    assert ended.state == "COMPLETED"
    denial = desk.turn("read_file_lines", workId="ended", targetFile="pager.py")
    assert denial.sub_codes == ["scope.state"]
    check_repair(desk, "ended", denial)


@pytest.mark.parametrize("verb", sorted(BUDGET_SAFE))
def test_a_verb_that_is_safe_for_the_budget_works_without_one(tmp_path: Any, verb: Verb) -> None:
    arguments: dict[str, dict[str, Any]] = {
        "request_evidence_guidance": {"blockingReasons": ["tokens"]},
        "observe": {"text": "too little"},
    }
    limits = {"controller__budget__max_tokens": 1000, "controller__budget__threshold": 0.1}
    with open_desk(tmp_path, **limits, controller__budget__block=True) as desk:
        desk.turn("read_file_lines", workId="b", targetFile="pager.py")
        denial = desk.turn("read_file_lines", workId="b", targetFile="pager.py")
        assert denial.state == "BLOCKED_BUDGET"
        assert desk.turn(verb.value, workId="b", **arguments.get(verb.value, {})).codes == []
