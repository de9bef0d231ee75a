"""Plans: what the server fills in, what is refused, and that what it offers instead is accepted."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.controller.execution.plan_store import load_plan, store_plan
from codeplane.controller.plan_graph import CODES, PlanGraph, draft_check, draft_plan
from codeplane.controller.plan_graph.draft import read_draft
from codeplane.controller.plan_graph.light_lane import light_change
from codeplane.controller.plan_graph.models import PlanModel
from codeplane.controller.runs import Run
from tests.controller.plan_lab import PlanLab, PlanRule, TracedChain, open_lab

NODE: dict[str, Any] = {
    "file": "shop/cart.py",
    "symbols": ["Cart.total"],
    "intent": "Ignore negative prices.",
    "evidence": ["prompt", "shop/cart.py:13-14"],
}
# Raised by the dispatcher and by verbs that carry a plan out.
_OF_VERBS = "state node verb argument scratch observations open_nodes".split()
_ELSEWHERE = {"fields.invalid", *(f"scope.{name}" for name in _OF_VERBS)}


@pytest.fixture(scope="module")
def shared_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlanLab]:
    with open_lab(tmp_path_factory.mktemp("plans")) as lab:
        lab.read("shop/cart.py", 1, 23)
        yield lab


@pytest.fixture
def lab(shared_lab: PlanLab) -> Iterator[PlanLab]:
    with shared_lab.forgetting():
        yield shared_lab


def test_four_fields_are_a_plan_and_the_server_knows_the_rest(lab: PlanLab) -> None:
    check = lab.check(NODE)
    assert check.problems == ()
    plan = check.plan
    assert plan is not None
    assert (plan.work_id, plan.repo_snapshot_id, plan.context_pack_hash) == ("w_1", "snap_1", "hash_1")
    change, validate = plan.nodes
    assert change.kind == "change"
    assert change.operation == "modify"
    assert change.verification_hooks == ("test:tests/test_cart.py", "lint", "parse")
    assert change.atomicity_boundary.files == ("shop/cart.py",)
    assert change.why_this_file == "shop/cart.py holds Cart.total."
    assert change.citations[0].source == "prompt"
    assert change.expected_failure_signatures
    assert validate.kind == "validate"
    assert validate.maps_to_node_ids == ("n1",)
    assert validate.depends_on == ("n1",)


def test_a_plan_with_every_field_is_accepted_again_as_it_came_back(lab: PlanLab) -> None:
    plan = lab.check(
        NODE, {"kind": "side_effect", "sideEffectType": "git_commit", "payload": "Fix totals"}
    ).plan
    assert plan is not None
    again = lab.check_document({"planGraph": plan.to_dict()})
    assert again.problems == ()
    assert again.plan == plan


@pytest.mark.parametrize("key", ["path", "targetFile", "file_path", "target"])
def test_fields_have_other_names(lab: PlanLab, key: str) -> None:
    node = {**NODE, key: NODE["file"], "symbol": "Cart.total", "what": NODE["intent"]}
    for name in ("file", "symbols", "intent"):
        node.pop(name)
    assert lab.check(node).problems == ()
    assert lab.check_document(node).problems == ()
    assert lab.check_document({"plan": [node]}).problems == ()


def test_side_effects_wait_for_the_checks(lab: PlanLab) -> None:
    plan = lab.check(NODE, {"sideEffectType": "git_commit", "message": "Fix totals"}).plan
    assert plan is not None
    effect = plan.nodes[1]
    assert effect.kind == "side_effect"
    assert effect.depends_on == ("v1",)
    assert effect.commit_gate_id == "gate_s1"


def test_new_files_and_new_symbols(lab: PlanLab) -> None:
    new = {
        "file": "shop/tax.py",
        "operation": "create",
        "newSymbols": ["tax"],
        "intent": "Add it.",
        "evidence": ["prompt"],
    }
    assert lab.check(new).problems == ()
    assert lab.check({**new, "edits": [{"oldText": "", "newText": ""}]}).problems == ()
    assert lab.check({**new, "symbols": ["tax"], "newSymbols": None}).plan == lab.check(new).plan
    assert lab.check({**NODE, "operation": "delete", "symbols": None}).problems == ()
    more = {**NODE, "symbols": ["<module>"], "newSymbols": ["tax"]}
    assert lab.check(more).problems == ()


def test_a_change_may_carry_a_delta_of_several_files(lab: PlanLab) -> None:
    transform = {"operation": "rename_symbol", "target": "discount", "args": {"new_name": "rebate"}}
    delta = {
        "elements": [
            {"path": path, "transforms": [transform]} for path in ("shop/cart.py", "tests/test_cart.py")
        ]
    }
    check = lab.check({**NODE, "symbols": None, "delta": delta})
    if check.plan is None:  # the arguments of the operation are its own business
        assert {problem.sub_code for problem in check.problems} == {"fields.delta"}
        return
    assert check.plan.nodes[0].atomicity_boundary.files == ("shop/cart.py", "tests/test_cart.py")


def test_symbols_are_those_that_the_edits_are_in(lab: PlanLab) -> None:
    edits = [{"expected_content": "sum(self.items)", "new_content": "sum(x for x in self.items if x > 0)"}]
    check = lab.check({key: value for key, value in {**NODE, "edits": edits}.items() if key != "symbols"})
    assert check.plan is not None
    assert check.plan.nodes[0].target_symbols == ("Cart.total",)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "edit",
    [
        {"symbol": "Cart.total", "new_content": "def total(self) -> int:\n    return 0\n"},
        {"symbol": "Cart.total", "action": "insert_after_symbol", "newText": "def tax(self) -> int: ..."},
        {"codemodId": "rename_identifier_in_file", "params": {"from": "total", "to": "amount"}},
    ],
)
def test_edits_by_symbol_and_by_codemod(lab: PlanLab, edit: dict[str, Any]) -> None:
    check = lab.check({**NODE, "edits": [edit]})
    assert check.plan is not None
    again = lab.check_document(check.plan.to_dict())
    assert again.plan == check.plan


def test_an_edit_grows_until_it_is_unique(lab: PlanLab) -> None:
    edits = [{"old_string": "self.items", "new_string": "self.prices", "path": "shop/cart.py"}]
    check = lab.check({**NODE, "edits": edits})
    [edit] = check.skeleton["nodes"][0]["edits"]
    assert "return sum(self.items)" in edit["oldText"]
    assert edit["newText"] == edit["oldText"].replace("self.items", "self.prices")
    assert (lab.root / "shop/cart.py").read_text().count(edit["oldText"]) == 1


EDIT = {"oldText": "sum(self.items)", "newText": "sum(x for x in self.items if x > 0)"}


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([{**NODE, "edits": [EDIT]}], ""),
        ([NODE], "neither edits nor a delta"),
        ([{**NODE, "edits": [{**EDIT, "newText": "x\n" * 50}]}], "51 lines; at most 40"),
        (
            [{**NODE, "edits": [EDIT]}, {**NODE, "file": "tests/test_cart.py", "symbols": ["test_total"]}],
            "more than one file",
        ),
        ([{**NODE, "edits": [EDIT]}, {"sideEffectType": "git_commit", "message": "Fix"}], "kind side_effect"),
    ],
)
def test_only_a_small_change_of_one_file_is_light(
    lab: PlanLab, nodes: list[dict[str, Any]], reason: str
) -> None:
    plan = lab.check(*nodes).plan
    assert plan is not None
    change = light_change(plan, 40)
    assert (change == plan.nodes[0]) if not reason else (isinstance(change, str) and reason in change)


def wrong_plans() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Sub codes with a plan that has the problem, and the facts that it needs."""
    yield "fields.no_nodes", {}, {}
    yield "fields.no_nodes", {"nodes": []}, {"prompt": ""}
    yield "fields.missing", {"nodes": [{"intent": "Change something."}]}, {}
    yield "fields.missing", {"nodes": [{"symbols": ["lonely"]}]}, {"prompt": ""}
    yield "fields.missing", {"nodes": [NODE, {"kind": "escalate"}]}, {}
    yield "fields.missing", {"nodes": [NODE, {"kind": "side_effect", "sideEffectType": "git_push"}]}, {}
    yield "fields.type", {"nodes": [{**NODE, "symbols": {"a": 1}}]}, {}
    yield "fields.unknown", {"nodes": [{**NODE, "colour": "blue"}]}, {}
    yield "fields.unknown", {"nodes": [NODE, {"kind": "validate", "file": "x.py"}]}, {}
    yield "fields.kind", {"nodes": [{**NODE, "kind": "dance"}]}, {}
    yield "fields.kind", {"nodes": [{**NODE, "operation": "paint"}]}, {}
    yield "fields.kind", {"nodes": [NODE, {"sideEffectType": "send_mail", "payload": "hello"}]}, {}
    yield "fields.node_id", {"nodes": [{**NODE, "id": "a"}, {"kind": "validate", "id": "a"}]}, {}
    yield "fields.node_id", {"nodes": [{**NODE, "id": "a b/c"}]}, {}
    yield "fields.delta", {"nodes": [{**NODE, "delta": {"elements": []}}]}, {}
    yield "fields.edits", {"nodes": [{**NODE, "edits": [{"expected_content": "sum"}]}]}, {}
    yield "fields.edits", {"nodes": [{**NODE, "edits": [{"oldText": "gone", "newText": "x"}]}]}, {}
    yield "fields.edits", {"nodes": [{**NODE, "edits": [{"oldText": "self.items", "newText": "x"}]}]}, {}
    yield "fields.edits", {"nodes": [{**NODE, "edits": [{"oldText": "", "newText": "x"}]}]}, {}
    both = {"edits": [{"old": "LIMIT = 10", "new": "x"}], "delta": {"elements": []}}
    yield "fields.edits", {"nodes": [{**NODE, **both}]}, {}
    new = {"file": "shop/tax.py", "operation": "create", "intent": "Add it.", "evidence": ["prompt"]}
    codemod = {"codemodId": "rename_identifier_in_file", "params": {"from": "a", "to": "b"}}
    yield "fields.edits", {"nodes": [{**new, "edits": [{"oldText": "", "newText": "x"}, codemod]}]}, {}
    yield "fields.edits", {"nodes": [{**new, "edits": [codemod]}]}, {}
    yield "fields.version", {"schemaVersion": "9.0.0", "nodes": [NODE]}, {}
    yield "scope.path", {"nodes": [{**NODE, "file": ".git/config"}]}, {}
    yield "scope.path", {"nodes": [{**NODE, "file": "shop"}]}, {}
    yield "scope.path", {"nodes": [{**NODE, "file": "shop/cart.py/x.py", "operation": "create"}]}, {}
    yield "scope.path", {"nodes": [{**NODE, "file": "shop/", "symbols": ["zzz"], "operation": "create"}]}, {}
    yield "scope.file", {"nodes": [{**NODE, "file": "shop/kart.py"}]}, {}
    yield "scope.file", {"nodes": [{**NODE, "file": "\udcff.py"}]}, {}
    yield "scope.file", {"nodes": [{**NODE, "file": "zzz/qqq.rs", "symbols": ["x"]}]}, {}
    yield "scope.file", {"nodes": [{**NODE, "operation": "create"}]}, {}
    closed = {"why_absent": lambda _: "a rule keeps it out"}
    yield "scope.closed", {"nodes": [{**NODE, "file": "out/kart.py"}]}, closed
    yield "scope.closed", {"nodes": [{**NODE, "file": "out/new.py", "operation": "create"}]}, closed
    yield "scope.allowlist", {"nodes": [NODE]}, {"allows": lambda path: path.startswith("docs/")}
    yield "scope.symbol", {"nodes": [{**NODE, "symbols": ["Cart.totl"]}]}, {}
    yield "scope.symbol", {"nodes": [{**NODE, "symbols": ["zzzz"]}]}, {}
    yield "scope.wildcard", {"nodes": [{**NODE, "symbols": ["*"]}]}, {}
    yield (
        "scope.wildcard",
        {"nodes": [{**NODE, "symbols": ["Basket.*"], "intent": "x"}]},
        {"prompt": "Do it."},
    )
    yield "scope.session", {"runSessionId": "sess_9", "nodes": [NODE]}, {}
    yield "scope.worktree", {"worktreeRoot": "/elsewhere", "nodes": [NODE]}, {}
    yield "scope.snapshot", {"repoSnapshotId": "snap_0", "nodes": [NODE]}, {}
    yield "scope.pack_hash", {"contextPackHash": "zzz", "nodes": [NODE]}, {}
    yield "scope.fingerprint", {"planFingerprint": "zzz", "nodes": [NODE]}, {}
    yield "evidence.requirement", {"nodes": [{**NODE, "evidence": ["shop/cart.py:13-14"]}]}, {}
    yield "evidence.code", {"nodes": [{**NODE, "evidence": ["prompt"]}]}, {}
    yield "atomicity.many_files", {"nodes": [{**NODE, "files": ["shop/cart.py", "shop/untested.py"]}]}, {}
    yield (
        "atomicity.many_files",
        {"nodes": [{"files": ["shop/cart.py", "docs/notes.md"], "intent": "Change."}]},
        {},
    )
    yield "atomicity.shared_file", {"nodes": [NODE, {**NODE, "symbols": ["discount"]}]}, {}
    yield (
        "atomicity.edits",
        {
            "nodes": [
                {
                    **NODE,
                    "edits": [{"path": "docs/notes.md", "expected_content": "Some", "new_content": "All"}],
                }
            ]
        },
        {},
    )
    yield "atomicity.depends_unknown", {"nodes": [{**NODE, "dependsOn": ["n9"]}]}, {}
    yield "atomicity.cycle", {"nodes": [{**NODE, "id": "a", "dependsOn": ["a"]}]}, {}
    loop = [{**NODE, "id": "a", "dependsOn": ["check"]}, {"id": "check", "kind": "validate", "mapsTo": ["a"]}]
    yield "atomicity.cycle", {"nodes": loop}, {}
    yield "verification.hook", {"nodes": [{**NODE, "hooks": []}]}, {}
    yield "verification.hook", {"nodes": [{**NODE, "hooks": ["hope"]}]}, {}
    yield "verification.test", {"nodes": [{**NODE, "hooks": ["pytest tests/test_gone.py"]}]}, {}
    yield "verification.reach", {"nodes": [{**NODE, "hooks": ["lint", "parse"]}]}, {}
    yield (
        "verification.maps_to",
        {"nodes": [NODE, {"kind": "validate", "mapsTo": ["n7"], "hooks": ["tests"]}]},
        {},
    )
    yield "strategy.id", {"strategy": "other", "nodes": [NODE]}, {}
    yield "strategy.reason", {"knowledgeStrategyReasons": ["because"], "nodes": [NODE]}, {}
    yield "ambiguous.symbol", {"nodes": [{**NODE, "symbols": ["add"]}]}, {}
    yield "ambiguous.text", {"nodes": [{**NODE, "text": "self.items"}]}, {}
    yield "ambiguous.no_text", {"nodes": [{**NODE, "text": "no such text"}]}, {}
    yield (
        "chain.broken",
        {"nodes": [NODE]},
        {"required_chains": ["origin"], "chain": lambda name: TracedChain(name, "Route")},
    )
    yield "chain.not_run", {"nodes": [NODE]}, {"required_chains": ["federation"]}
    yield "policy.rule", {"nodes": [NODE]}, {"rules": [PlanRule("m", {"files": ["shop/"]}, ["Ask Ann."])]}
    yield "policy.rule", {"nodes": [NODE]}, {"rules": [PlanRule("m", {"files": ["*.py"]})]}
    yield "policy.version", {"policyVersionSet": {"a": "2"}, "nodes": [NODE]}, {}
    yield "policy.weakened", {"evidencePolicy": {"minRequirementSources": 0}, "nodes": [NODE]}, {}
    yield "policy.weakened", {"evidencePolicy": {"minima": 0}, "nodes": [NODE]}, {}
    yield "contract.not_fetched", {"nodes": [NODE]}, {"needs_contract": True}
    yield (
        "confidence.no_test",
        {
            "nodes": [
                {
                    "file": "shop/untested.py",
                    "symbols": ["other"],
                    "intent": "x",
                    "evidence": ["prompt", "shop/cart.py:1-3"],
                }
            ]
        },
        {},
    )
    memory = "mem_00000000000a"
    yield (
        "memory.expired",
        {
            "sourceTraceRefs": [memory],
            "nodes": [{**NODE, "intent": f"As {memory} says.", "why": memory, "artifactRefs": [memory, "x"]}],
        },
        {"expired_memories": lambda ids: [one for one in ids if one == memory]},
    )


@pytest.mark.parametrize(("sub_code", "document", "changes"), list(wrong_plans()))
def test_what_comes_back_is_accepted(
    lab: PlanLab, sub_code: str, document: dict[str, Any], changes: dict[str, Any]
) -> None:
    changed = lab.having(**changes)
    check = changed.check_document(document)
    assert sub_code in {problem.sub_code for problem in check.problems}
    assert check.plan is None
    for problem in check.problems:
        assert problem.message
        assert problem.sub_code in CODES[problem.code].sub_codes
    if check.remedy is None:
        again = changed.check_document(check.skeleton)
        assert again.problems == ()


def test_every_sub_code_of_the_validator_has_a_wrong_plan() -> None:
    shown = {sub_code for sub_code, *_ in wrong_plans()}
    for entry in CODES.values():
        # Sub codes of citations are shown by the forgeries.
        names = {name for name in entry.sub_codes if not name.startswith("evidence.")} - _ELSEWHERE
        assert names <= shown


def test_a_contract_that_nobody_can_find_is_asked_for_first(tmp_path: Path) -> None:
    files = {
        "a.py": "def f() -> int:\n    return 1\n",
        "test_a.py": "from a import f\n\n\ndef test_f() -> None:\n    assert f()\n",
    }
    with open_lab(tmp_path, files, needs_contract=True, prompt="Change f.") as lab:
        check = lab.check({"file": "a.py", "symbols": ["f"], "intent": "x"})
        assert check.remedy is None
        assert {node.get("kind", "change") for node in check.skeleton["nodes"]} == {"change", "escalate"}
        assert lab.check_document(check.skeleton).problems == ()
        fetched = lab.having(artifacts={"GET /pets": {"source": "api"}})
        assert (
            fetched.check(
                {
                    "file": "a.py",
                    "symbols": ["f"],
                    "intent": "x",
                    "evidence": ["GET /pets", check.evidence[0].handle],
                }
            ).problems
            == ()
        )


def test_rules_say_whether_they_are_kept(lab: PlanLab) -> None:
    rules = [
        PlanRule("kept", {"files": ["shop/**"]}, ["test:tests/test_cart.py"]),
        PlanRule("broken", {"nodeKinds": ["change"]}, ["Ask Ann."], "PLAN_ORIGIN_UNKNOWN"),
        PlanRule("elsewhere", {"files": ["docs/"]}, ["Ask Bob."]),
        PlanRule("other features", {"features": {"hasJira": True}}, ["Ask Bob."]),
        PlanRule("unreadable", {"files": ["[z-a"]}, ["Ask Bob."]),
    ]
    check = lab.having(rules=rules, features={"hasJira": False}).check(NODE)
    results = {one.memory_id: (one.satisfied, one.deny_code) for one in check.memory_rule_results}
    assert results == {"kept": (True, None), "broken": (False, "PLAN_ORIGIN_UNKNOWN")}
    assert [problem.code for problem in check.problems] == ["PLAN_ORIGIN_UNKNOWN"]
    assert check.memory_rule_results[1].to_dict() == {
        "memoryId": "broken",
        "condition": '{"nodeKinds": ["change"]}',
        "satisfied": False,
        "denyCode": "PLAN_ORIGIN_UNKNOWN",
    }


@pytest.mark.parametrize(
    "targets",
    [
        ["Cart.total"],
        ["shop/cart.py"],
        ["shop/cart.py::discount", "Cart.total"],
        [{"file": "shop/untested.py", "symbols": "lonely"}],
        ["shop/kart.py"],
        ["no such thing"],
        [],
        ["docs/notes.md"],
        ["add"],
    ],
)
def test_a_draft_is_accepted(lab: PlanLab, targets: list[Any]) -> None:
    facts = lab.facts
    check = draft_check(targets, "Ignore negative prices.", facts)
    lab.records.update({record.handle: record for record in check.evidence})
    assert lab.check_document(check.skeleton).problems == ()
    assert draft_plan(targets, "Ignore negative prices.", facts) == check.skeleton


def test_a_draft_names_symbols_tests_and_lines(lab: PlanLab) -> None:
    [node] = draft_plan(["Cart.total"], "Ignore negative prices.", lab.facts)["nodes"]
    assert (node["file"], node["symbols"]) == ("shop/cart.py", ["Cart.total"])
    assert node["hooks"] == ["test:tests/test_cart.py", "lint", "parse"]
    assert node["evidence"][0] == "prompt"


def test_one_rule_of_a_thousand_applies(tmp_path: Path) -> None:
    files = {
        f"pkg/m{number}.py": f"def f{number}(x: int) -> int:\n    return x + {number}\n"
        for number in range(20)
    }
    with open_lab(tmp_path, files, prompt="Change all.") as lab:
        nodes = []
        for number in range(20):
            lab.read(f"pkg/m{number}.py", 1, 2)
            nodes.append(
                {
                    "file": f"pkg/m{number}.py",
                    "symbols": [f"f{number}"],
                    "intent": "x",
                    "hooks": ["review"],
                    "evidence": ["prompt", f"pkg/m{number}.py:1-2"],
                }
            )
        rules = [
            PlanRule(f"m{number}", {"files": [f"src/area{number}/**/*.py", f"lib{number}/*.ts"]}, ["Ask."])
            for number in range(1_000)
        ]
        crowded = lab.having(rules=rules)
        assert crowded.check(*nodes).problems == ()
        mine = PlanRule("mine", {"files": ["pkg/m1*.py"]}, ["Ask."])
        assert [
            one.memory_id for one in lab.having(rules=[*rules, mine]).check(*nodes).memory_rule_results
        ] == ["mine"]


RUN = Run("w_fuzz", "sess", "agent")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
node_keys = st.sampled_from(
    "id kind file files symbols intent evidence hooks dependsOn mapsTo delta edits text operation"
    " newSymbols sideEffectType payload requestedEvidence lowEvidenceGuard citations why nonsense".split()
)
likely = st.sampled_from(
    [
        "shop/cart.py",
        "Cart.total",
        "add",
        "prompt",
        "shop/cart.py:13-14",
        "change",
        "validate",
        "n1",
        "n2",
        "*",
        "lint",
        True,
    ]
)
node_values = st.dictionaries(node_keys, likely | st.lists(likely, max_size=3) | json_values, max_size=8)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    nodes=st.lists(node_values, max_size=4),
    envelope=st.dictionaries(st.text(max_size=10), json_values, max_size=3),
)
def test_whatever_is_sent_what_comes_back_is_accepted(
    lab: PlanLab, nodes: list[dict[str, Any]], envelope: dict[str, Any]
) -> None:
    with lab.forgetting():
        check = lab.check_document({**envelope, "nodes": nodes})
        plan = check.plan or lab.check_document(check.skeleton).plan
        assert plan is not None
        document = plan.to_dict()
        assert PlanGraph.model_validate(document).to_dict() == document
        assert lab.check_document(document).plan == plan
        store_plan(lab.session, RUN, plan)
        assert {one.node_id for one in load_plan(lab.session, RUN).nodes} == {
            one.node_id for one in plan.nodes
        }


@given(json_values)
def test_reading_a_draft_never_fails(value: Any) -> None:
    document = value if isinstance(value, dict) else {"nodes": value}
    draft, _ = read_draft(document)
    names = [node.node_id for node in draft.nodes]
    assert len(names) == len(set(names))


def test_names_outside_are_in_camel_case() -> None:
    for model in PlanModel.__subclasses__():
        for field in model.model_fields.values():
            assert field.alias is not None
            assert "_" not in field.alias
