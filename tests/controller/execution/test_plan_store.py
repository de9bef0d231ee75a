"""An accepted plan is rows of the plan store: it survives restarts, and says what comes next."""

from pathlib import Path

import pytest

from codeplane.controller.execution.plan_rows import begin_attempt, controller_plans, reopen_node
from codeplane.controller.execution.plan_store import drop_plan, finish_node, load_plan, store_plan
from codeplane.core.errors import NotFound
from codeplane.working_tree import digest_of
from tests.controller.execution.runs import (
    RunRepo,
    ToyNode,
    ToyPlan,
    ToyRun,
    change,
    edit,
    side_effect,
    validate,
)


@pytest.fixture
def repo(tmp_path: Path) -> RunRepo:
    return RunRepo(tmp_path)


def golden_plan() -> ToyPlan:
    return ToyPlan(
        [
            change("n1", "app.py", "load", edits=[edit("+ url", "+ '/' + url")]),
            change("n2", "store.py", "Store.fetch", depends_on=["n1"], delta=annotation()),
            validate("v1", "n1", "n2", hooks=["parse", "tests", "tests/test_app.py::test_load"]),
            side_effect("s1", "git_commit", payload={"message": "Join with a slash"}),
        ]
    )


def annotation() -> dict[str, object]:
    transform = {"operation": "add_type_annotation", "target": "Store.fetch", "type": "str"}
    return {"path": "store.py", "transforms": [transform]}


def test_a_plan_comes_back_as_it_was_stored_after_a_restart(repo: RunRepo) -> None:
    run = ToyRun()
    plan_id = store_plan(repo.session, run, golden_plan())
    assert run.plan == plan_id
    repo = repo.reopen()
    accepted = load_plan(repo.session, run)
    first, second, third, last = accepted.nodes
    assert first.node.edits[0].new_text == "+ '/' + url"
    assert first.base == digest_of((repo.root / "app.py").read_bytes())
    assert second.node.delta is not None
    assert second.node.delta["elements"][0]["transforms"][0]["operation"] == "add_type_annotation"
    assert [hook.kind for hook in third.node.hooks] == ["parse", "tests", "named_tests"]
    assert third.node.hooks[2].tests == ("tests/test_app.py::test_load",)
    assert last.node.payload == {"message": "Join with a slash"}
    assert {one.state for one in accepted.nodes} == {"pending"}


def test_nodes_come_in_the_order_of_their_links(repo: RunRepo) -> None:
    run = ToyRun()
    store_plan(repo.session, run, golden_plan())
    order = []
    while (one := load_plan(repo.session, run).next_node()) is not None:
        order.append(one.node_id)
        finish_node(repo.session, one, "done")
    assert order == ["n1", "n2", "v1", "s1"]
    accepted = load_plan(repo.session, run)
    assert accepted.is_complete
    assert controller_plans(repo.session).load(accepted.plan_id).plan.state == "completed"


def test_progress_counts_nodes_and_validations(repo: RunRepo) -> None:
    run = ToyRun()
    store_plan(repo.session, run, golden_plan())
    accepted = load_plan(repo.session, run)
    assert accepted.progress() == {
        "totalNodes": 4,
        "completedNodes": 0,
        "remainingNodes": 4,
        "pendingValidations": 1,
    }
    accepted = finish_node(repo.session, accepted.node("n1"), "done")
    accepted = finish_node(repo.session, accepted.node("v1"), "failed", {"why": "tests"})
    assert accepted.progress()["completedNodes"] == 1
    assert accepted.next_node() == accepted.node("v1"), "what failed comes before what is to be done"
    assert accepted.may_be_corrected(accepted.node("n1"))
    assert not accepted.may_be_corrected(accepted.node("n2")) or accepted.node("v1").state == "failed"


def test_a_gate_waits_for_changes_and_their_validations(repo: RunRepo) -> None:
    plan = ToyPlan(
        [
            change("n1", "app.py", "load", edits=[edit("a", "b")]),
            validate("v1", "n1"),
            change("n2", "store.py", "Store.fetch", edits=[edit("a", "b")]),
            side_effect("s1", "git_commit", "n1"),
        ]
    )
    run = ToyRun()
    store_plan(repo.session, run, plan)
    accepted = load_plan(repo.session, run)
    assert {one.node_id for one in accepted.open_requirements(accepted.node("s1"))} == {"n1", "v1"}
    finish_node(repo.session, accepted.node("n1"), "done")
    accepted = finish_node(repo.session, accepted.node("v1"), "done")
    assert accepted.open_requirements(accepted.node("s1")) == []
    assert [one.node_id for one in accepted.gated_changes(accepted.node("s1"))] == ["n1"]


def test_an_unknown_node_is_refused_with_the_nearest(repo: RunRepo) -> None:
    run = ToyRun()
    store_plan(repo.session, run, ToyPlan([change("change-load", "app.py", "load")]))
    with pytest.raises(NotFound, match="did you mean change-load"):
        load_plan(repo.session, run).node("change-lod")


def test_another_plan_takes_the_place_of_the_first(repo: RunRepo) -> None:
    run = ToyRun()
    first = store_plan(repo.session, run, golden_plan())
    second = store_plan(repo.session, run, ToyPlan([change("x", "app.py", "dump")]))
    assert [one.node_id for one in load_plan(repo.session, run).nodes] == ["x"]
    assert run.plan == second
    old = controller_plans(repo.session).load(first)
    assert {item.state for item in old.items.values()} == {"dropped"}
    drop_plan(repo.session, "plan_000000000000")


def test_two_runs_have_two_plans(repo: RunRepo) -> None:
    ann, bob = ToyRun("w_ann"), ToyRun("w_bob")
    store_plan(repo.session, ann, golden_plan())
    store_plan(repo.session, bob, golden_plan())
    finish_node(repo.session, load_plan(repo.session, ann).node("n1"), "done")
    assert load_plan(repo.session, ann).progress()["completedNodes"] == 1
    assert load_plan(repo.session, bob).progress()["completedNodes"] == 0


def test_an_attempt_that_landed_is_done_and_one_that_did_not_is_pending(repo: RunRepo) -> None:
    run = ToyRun()
    store_plan(repo.session, run, golden_plan())
    one = load_plan(repo.session, run).node("n1")
    after = (repo.root / "app.py").read_bytes().replace(b"+ url", b"+ '/' + url")
    attempt = {"before": one.base, "after": str(digest_of(after))}
    begin_attempt(repo.session, one, attempt)
    assert load_plan(repo.session, run).node("n1").state == "pending"
    assert load_plan(repo.session, run).node("n1").attempt == {}
    begin_attempt(repo.session, one, attempt)
    (repo.root / "app.py").write_bytes(after)
    settled = load_plan(repo.session, run).node("n1")
    assert (settled.state, settled.outcome["settled"]) == ("done", True)


def test_guidance_answers_an_escalation(repo: RunRepo) -> None:
    run = ToyRun()
    run.body.verb_counts["request_evidence_guidance"] = 2
    ask = ToyNode("e1", "escalate", {"blocking_reasons": ["which unit?"]})
    store_plan(repo.session, run, ToyPlan([ask, change("n1", "app.py", "load", depends_on=["e1"])]))
    assert load_plan(repo.session, run).next_node() == load_plan(repo.session, run).node("e1")
    run.body.verb_counts["request_evidence_guidance"] += 1
    accepted = load_plan(repo.session, run)
    assert accepted.node("e1").state == "done"
    assert accepted.next_node() == accepted.node("n1")


def test_ended_plans_do_not_fill_the_store(repo: RunRepo) -> None:
    run = ToyRun()
    for _ in range(60):
        store_plan(repo.session, run, ToyPlan([change("x", "app.py", "dump")]))
    assert len(controller_plans(repo.session).summaries()) <= 52


def test_a_node_can_be_opened_again(repo: RunRepo) -> None:
    run = ToyRun()
    store_plan(repo.session, run, ToyPlan([change("x", "app.py", "dump")]))
    finish_node(repo.session, load_plan(repo.session, run).node("x"), "done", {"after": "…"})
    accepted = reopen_node(repo.session, load_plan(repo.session, run).node("x"))
    assert accepted.node("x").state == "pending"
    assert controller_plans(repo.session).load(accepted.plan_id).plan.state == "active"
