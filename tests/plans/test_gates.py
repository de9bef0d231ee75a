"""Transitions: what a gate wants, which items keep it closed, and what would open it."""

from typing import Any

import pytest

from codeplane.core.errors import PlanInvalid, TransitionRefused
from codeplane.plans import PlanTree, WorkPlans, build_workflow
from codeplane.plans.gates import is_equal, is_unset, next_step
from codeplane.plans.pack_files import PackSource
from codeplane.storage.database import Database

DELTA: dict[str, Any] = {"elements": []}


def plan(**task: Any) -> dict[str, Any]:
    tasks = [{"title": "a", "key": "a", **task}, {"title": "b", "key": "b", "after": ["a"]}]
    return {"title": "p", "phases": [{"title": "one", "key": "one", "tasks": tasks}]}


def refusal(plans: WorkPlans, tree: PlanTree, key: str, state: str) -> TransitionRefused:
    with pytest.raises(TransitionRefused) as raised:
        plans.transition(tree.find_item(key).id, state)
    assert plans.load(tree.plan.id).find_item(key).state == tree.find_item(key).state
    return raised.value


def move(plans: WorkPlans, tree: PlanTree, key: str, *states: str) -> PlanTree:
    for state in states:
        tree = plans.transition(tree.find_item(key).id, state).tree
    return tree


def test_a_task_lands_with_a_green_delta_alone(plans: WorkPlans) -> None:
    tree = move(plans, plans.create(plan()), "a", "in_progress")
    error = refusal(plans, tree, "a", "ready_to_land")
    assert "delta is not set; delta_status is pending, not green" in error.message
    assert error.hints[0].startswith('plan_update {"item": "pt_') and "validate_deltas" in error.hints[1]
    gates: Any = error.details["gates"]
    assert [gate["gate"] for gate in gates] == [
        "field_set delta",
        "field_eq delta_status = green",
    ]
    task = tree.find_item("a").id
    tree = plans.edit_items(tree.plan.id, [("a", {"delta": {"elements": [1]}})]).tree
    assert "delta_status is pending" in refusal(plans, tree, "a", "ready_to_land").message
    tree = move(plans, plans.set_derived(task, {"delta_status": "green"}), "a", "ready_to_land", "done")
    assert tree.item(task).state == "done"


def test_a_soft_gate_warns_and_lets_through(plans: WorkPlans) -> None:
    tree = move(plans, plans.create(plan()), "a", "in_progress")
    result = plans.transition(tree.find_item("a").id, "done")
    assert result.tree.find_item("a").state == "done"
    assert result.warnings[0].endswith("although delta is not set; delta_status is pending, not green.")


def test_a_phase_waits_for_its_tasks_but_not_for_rejected_ones(plans: WorkPlans) -> None:
    tree = move(plans, plans.create(plan(delta=DELTA)), "one", "active")
    first, second = (tree.find_item(key).id for key in "ab")
    error = refusal(plans, tree, "one", "executing")
    assert f"2 of 2 items have no delta_status green: {first} (pending), {second} (pending)" in error.message
    gates: Any = error.details["gates"]
    assert gates[0]["items"] == [first, second]
    tree = plans.set_derived(first, {"delta_status": "green"})
    assert "1 of 2 items" in refusal(plans, tree, "one", "executing").message
    tree = move(plans, move(plans, tree, "b", "rejected"), "one", "executing")
    error = refusal(plans, tree, "one", "completed")
    assert "1 of 1 items have no status_category done" in error.message and first in error.hints[0]
    plans.transition_many([(first, "in_progress"), (first, "done")])
    tree = move(plans, plans.load(first), "one", "completed")
    assert tree.find_item("one").state == "completed"
    assert plans.transition(tree.plan.id, "active").tree.plan.state == "active"


def test_a_way_that_is_not_there_names_those_that_are(plans: WorkPlans) -> None:
    tree = plans.create(plan())
    error = refusal(plans, tree, "a", "ready_to_land")
    assert "can go to in_progress, rejected" in error.message and '"state": "in_progress"' in error.hints[0]
    assert "did you mean in_progress?" in refusal(plans, tree, "a", "inprogress").message
    assert "it has open, in_progress" in refusal(plans, tree, "a", "x" * 100).message
    assert plans.transition(tree.find_item("a").id, "open").warnings == (
        f"{tree.find_item('a').id} is open already.",
    )


def test_transitions_go_together_or_not_at_all(plans: WorkPlans) -> None:
    tree = plans.create(plan())
    first, second = (tree.find_item(key).id for key in "ab")
    with pytest.raises(TransitionRefused):
        plans.transition_many([(first, "in_progress"), (second, "done")])
    assert plans.load(tree.plan.id) == tree
    assert plans.transition(first, "in_progress", dry_run=True).tree.item(first).state == "in_progress"
    assert plans.load(tree.plan.id) == tree
    with pytest.raises(PlanInvalid):
        plans.transition_many([])


@pytest.mark.parametrize(
    ("value", "unset"),
    [(None, True), ("", True), ({}, True), ([], True), (False, False), (0, False), (" ", False)],
)
def test_what_counts_as_not_set(value: Any, unset: bool) -> None:
    assert is_unset(value) is unset


def test_true_is_not_one() -> None:
    assert not is_equal(True, 1) and not is_equal(0, False) and is_equal(1, 1.0) and is_equal([1], [1])


GATES = {
    "{type: all_linked, link_type: blocks, direction: inbound, condition: {status_category: done}}": "b",
    "{type: all_linked, link_type: blocks, direction: outbound, condition: {state: closed}}": "a",
    "{type: all_linked_field_eq, link_type: parent, direction: outbound, field: notes, value: ok}": "b",
    "{type: all_linked_field_eq, link_type: blocks, direction: inbound, field: count, value: 3}": "b",
    "{type: field_eq, field: count, value: 3}": "a",
    "{type: field_set, field: count}": "a",
}


@pytest.mark.parametrize(("gate", "item"), GATES.items())
def test_gates_of_a_pack_look_along_links(database: Database, gate: str, item: str) -> None:
    pack = (
        "pack: team\nkind: workflow\ntypes:\n  bug:\n    level: task\n    states:\n"
        "    - {name: new, category: open}\n    - {name: closed, category: done}\n"
        f"    transitions:\n    - from: new\n      to: closed\n      gates:\n      - {gate}\n"
        "    fields:\n    - {name: count, type: integer}\n"
    )
    workflow = build_workflow(("core", "team"), (), (), (PackSource("team.yaml", pack, "team"),))
    plans = WorkPlans(lambda: database, lambda: workflow)
    document = plan(type="bug")
    document["phases"][0]["tasks"][1]["type"] = "bug"
    tree = plans.create(document)
    error = refusal(plans, tree, item, "closed")
    gates: Any = error.details["gates"]
    assert gates[0]["items"] and gates[0]["opens"]
    other = "a" if item == "b" else "b"
    opening: list[tuple[str, dict[str, Any]]] = [("one", {"fields": {"notes": "ok"}})]
    opening += [(key, {"fields": {"count": 3}}) for key in "ab"]
    tree = plans.edit_items(tree.plan.id, opening).tree
    if "all_linked," in gate:
        lenient = WorkPlans(lambda: database, lambda: build_workflow(("core",)))
        assert lenient.load(tree.plan.id) == tree
        tree = plans.change(tree.plan.id, lambda one: _closed(one, other))
    assert move(plans, tree, item, "closed").find_item(item).state == "closed"


def _closed(tree: PlanTree, key: str) -> PlanTree:
    from dataclasses import replace

    return tree.with_items(replace(tree.find_item(key), state="closed"))


def test_an_item_of_a_pack_that_is_switched_off_is_shown_and_cannot_move(database: Database) -> None:
    pack = "pack: team\nkind: workflow\ntypes:\n  bug: {level: task, states: [{name: new, category: open}]}\n"
    both = build_workflow(("core", "team"), (), (), (PackSource("team.yaml", pack, "team"),))
    tree = WorkPlans(lambda: database, lambda: both).create(plan(type="bug"))
    alone = WorkPlans(lambda: database, lambda: build_workflow(("core",)))
    assert alone.load(tree.plan.id).find_item("a").type == "bug"
    assert alone.export(tree.plan.id) == plan(type="bug")
    with pytest.raises(PlanInvalid, match="no type bug"):
        alone.transition(tree.find_item("a").id, "done")


def test_the_next_step_is_the_call_that_brings_a_plan_on(plans: WorkPlans) -> None:
    tree = plans.create(plan(delta={"elements": [1]}))
    task, plan_id = tree.find_item("a").id, tree.plan.id
    assert next_step(plans.workflow, tree) == f'validate_deltas {{"plan": "{plan_id}"}}'
    tree = plans.set_derived(task, {"delta_status": "stale"})
    assert next_step(plans.workflow, tree) == f'validate_deltas {{"plan": "{plan_id}"}}'
    tree = plans.set_derived(task, {"delta_status": "green"})
    assert next_step(plans.workflow, tree) == f'execute_deltas {{"plan": "{plan_id}"}}'
    tree = move(plans, tree, "a", "in_progress", "done")
    other = tree.find_item("b").id
    assert next_step(plans.workflow, tree) == f'plan_update {{"item": "{other}", "state": "in_progress"}}'
    tree = move(plans, tree, "b", "in_progress")
    assert next_step(plans.workflow, tree) == f'plan_update {{"item": "{other}", "delta": {{…}}}}'
    tree = move(plans, move(plans, tree, "b", "done"), "one", "active")
    assert next_step(plans.workflow, tree) == f'execute_deltas {{"plan": "{plan_id}"}}'
    tree = plans.transition(plan_id, "active").tree
    tree = move(plans, tree, "one", "executing", "completed")
    assert next_step(plans.workflow, tree) == f'plan_update {{"item": "{plan_id}", "state": "completed"}}'
    assert next_step(plans.workflow, plans.transition(plan_id, "completed").tree) is None
