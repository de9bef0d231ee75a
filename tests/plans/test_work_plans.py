"""Plans of work: stored whole, read back exactly, changed in one transaction, bounded, never half written."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from codeplane.core.errors import CodePlaneError, NotFound, PlanDamaged, PlanInvalid, PlanTooLarge
from codeplane.plans import Item, PlanRow, PlanStore, PlanTree, WorkPlans, bounds, check_graph, work_plans
from codeplane.plans import store as refactoring_plans
from codeplane.storage.database import Database
from codeplane.storage.state_db import open_state_db
from tests.plans.conftest import core

DELTA = {"elements": [{"path": "a.py", "transforms": []}]}
PLAN: dict[str, Any] = {
    "title": "Type the core",
    "description": "Two phases.\n\nThe first is the larger one.\n",
    "fields": {"labels": ["typing"], "notes": ""},
    "phases": [
        {
            "key": "core",
            "title": "Annotate core.py",
            "tasks": [
                {"title": "update_issue", "after": ["create"], "delta": DELTA},
                {
                    "key": "create",
                    "title": "create_issue",
                    "delta": DELTA,
                    "steps": ["look", {"title": "do"}],
                },
                {"title": "close_issue", "after": ["create"], "blocks": ["files-1"]},
            ],
        },
        {"title": "Annotate files.py", "after": ["core"], "tasks": [{"key": "files-1", "title": "read"}]},
        {"title": "Nothing yet", "tasks": []},
    ],
}


@pytest.fixture
def tree(plans: WorkPlans) -> PlanTree:
    return plans.create(PLAN)


def test_a_plan_is_read_back_as_it_was_stored(plans: WorkPlans, tree: PlanTree) -> None:
    loaded = plans.load(tree.plan.id)
    assert loaded == tree and loaded.revision == 1
    assert json.dumps(plans.export(tree.plan.id)) == json.dumps(PLAN)
    [first, second, _] = tree.children(tree.plan.id)
    assert plans.load(second.id) == plans.load(tree.children(first.id)[0].id) == tree
    assert [item.id.split("_")[0] for item in tree.in_order()][:4] == ["plan", "ph", "pt", "pt"]


def test_order_follows_links_then_positions(plans: WorkPlans, tree: PlanTree) -> None:
    [core_phase, *_] = tree.phases_in_order()
    titles = [item.title for item in tree.tasks_in_order(core_phase.id)]
    assert titles == ["create_issue", "update_issue", "close_issue"]
    moved = plans.edit_items(tree.plan.id, [(tree.children(tree.plan.id)[2].id, {"blocks": ["core"]})]).tree
    assert [item.title for item in moved.phases_in_order()] == [
        "Nothing yet",
        "Annotate core.py",
        "Annotate files.py",
    ]
    assert moved.phase_of(moved.find_item("create").id).key == "core"


def test_tasks_of_two_phases_cannot_wait_for_each_other_crosswise(plans: WorkPlans, tree: PlanTree) -> None:
    with pytest.raises(PlanInvalid, match=r"cycle: ph_.* → ph_"):
        plans.edit_items(
            tree.plan.id,
            [("files-1", {"add": []}), ("core", {"add": [{"title": "x", "after": ["files-1"]}]})],
        )
    assert plans.load(tree.plan.id) == tree


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (("create", {"after": ["create"]}), "link after to itself"),
        (("create", {"after": ["files-9"]}), "did you mean files-1"),
        (("create", {"after": ["pt_000000000000"]}), "no item has"),
        (("create", {"blocks": ["core"]}), "items of one level"),
        (("create", {"remove": True}), "which this plan has not"),
        (("create", {"position": 9}), "position 1 to 3"),
        (("create", {"parent": "files-1"}), "cannot be below"),
        (("create", {"key": "core"}), "Two items have the key"),
        (("create", {"titel": "x"}), "did you mean title"),
        (("create", {"fields": {"delta_status": "green"}}), "is derived and cannot be written"),
        (("create", {"fields": {"note": "x"}}), "did you mean notes"),
        (("create", {"fields": {"notes": 1}}), "notes must be text"),
        (("create", {"fields": {"delta": {}}}), "beside title"),
        (("create", {"delta": []}), "delta must be an object"),
        (("create", {"add": [{"title": "x", "tasks": []}]}), "unknown key 'tasks'"),
        (("nothing", {"title": "x"}), "has no item nothing"),
    ],
)
def test_a_change_that_cannot_be_is_refused_and_nothing_changes(
    plans: WorkPlans, tree: PlanTree, edit: tuple[str, dict[str, Any]], problem: str
) -> None:
    with pytest.raises(CodePlaneError, match=problem):
        plans.edit_items(tree.plan.id, [("core", {"title": "changed"}), edit])
    assert plans.load(tree.plan.id) == tree


def test_items_are_edited_added_moved_and_removed(plans: WorkPlans, tree: PlanTree) -> None:
    edits: list[tuple[str, dict[str, Any]]] = [
        ("create", {"title": "renamed", "description": "why", "fields": {"notes": "n"}, "position": 1}),
        ("core", {"add": [{"key": "new", "title": "new", "after": ["create"], "steps": ["one"]}]}),
        ("new", {"parent": tree.phases_in_order()[1].id, "position": 1}),
        ("files-1", {"after": ["new"]}),
    ]
    changed = plans.edit_items(tree.plan.id, edits).tree
    assert changed == plans.load(tree.plan.id) and changed.revision == 2
    [first, second, _] = changed.phases_in_order()
    assert [item.title for item in changed.children(first.id)] == ["renamed", "update_issue", "close_issue"]
    assert [item.key for item in changed.children(second.id)] == ["new", "files-1"]
    gone = plans.edit_items(tree.plan.id, [("files-1", {"after": []}), ("new", {"remove": True})]).tree
    assert gone == plans.load(tree.plan.id) and "one" not in {item.title for item in gone.items.values()}


def test_a_link_that_is_written_on_the_other_side_goes_too(plans: WorkPlans, tree: PlanTree) -> None:
    changed = plans.edit_items(tree.plan.id, [("files-1", {"after": []})]).tree
    assert changed.blockers_of(changed.find_item("files-1").id) == ()
    check_graph(changed)


def test_derived_fields_are_set_by_the_store_alone_and_go_with_their_delta(
    plans: WorkPlans, tree: PlanTree
) -> None:
    task = tree.find_item("create")
    assert task.derived == {"delta_status": "pending"}
    values = {"delta_status": "green", "delta_confidence": "tested", "delta_detail": {"at": 1}}
    plans.set_derived(task.id, values)
    loaded = plans.load(tree.plan.id)
    assert loaded.item(task.id).derived == values and loaded.item(task.id).value_of("delta_status") == "green"
    same = plans.edit_items(tree.plan.id, [("create", {"title": "other", "delta": DELTA})]).tree
    assert same.item(task.id).derived == values
    other = plans.edit_items(tree.plan.id, [("create", {"delta": {"elements": []}})]).tree
    assert other.item(task.id).derived == {"delta_status": "pending"}
    for wrong in ({"delta_status": "gren"}, {"notes": "x"}, {"delta_detail": 1}):
        with pytest.raises(PlanInvalid):
            plans.set_derived(task.id, wrong)
    assert plans.load(tree.plan.id) == other


def test_a_delta_is_normalised_whenever_it_is_written(database: Database) -> None:
    def normalise(delta: dict[str, Any]) -> dict[str, Any]:
        if "bad" in delta:
            raise PlanInvalid("a bad delta")
        return {**delta, "digest": "sha256:1"}

    plans = WorkPlans(lambda: database, core, normalise)
    tree = plans.create(PLAN)
    assert tree.find_item("create").delta == {**DELTA, "digest": "sha256:1"}
    changed = plans.edit_items(tree.plan.id, [("create", {"delta": {"elements": []}})]).tree
    assert changed.find_item("create").delta == {"elements": [], "digest": "sha256:1"}
    assert plans.load(tree.plan.id) == changed
    document = plans.export(tree.plan.id)
    assert document["phases"][0]["tasks"][1]["delta"] == {"elements": []}
    assert document["phases"][0]["tasks"][0] == PLAN["phases"][0]["tasks"][0]
    with pytest.raises(PlanInvalid, match="a bad delta"):
        plans.edit_items(tree.plan.id, [("create", {"delta": {"bad": 1}})])


def test_a_changed_document_keeps_what_stays(plans: WorkPlans, tree: PlanTree) -> None:
    task, other = tree.find_item("create"), tree.children(tree.find_item("core").id)[0]
    plans.set_derived_many({task.id: {"delta_status": "green"}, other.id: {"delta_status": "red"}})
    plans.transition(task.id, "in_progress")
    document = json.loads(json.dumps(PLAN))
    [first, second, _] = document["phases"]
    first["tasks"][0]["delta"]["elements"] = []
    first["tasks"][1]["title"] = "another title"
    second["tasks"].append({"title": "one more", "after": ["files-1"]})
    document["phases"] = [second, first]
    new = plans.replace_document(tree.plan.id, document)
    assert new == plans.load(tree.plan.id) and plans.export(tree.plan.id) == document
    assert new.item(task.id).state == "in_progress" and new.item(task.id).derived == {"delta_status": "green"}
    assert new.item(other.id).derived == {"delta_status": "pending"}
    assert new.plan.id == tree.plan.id and len(new.items) == len(tree.items)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE work_item SET title = 'other' WHERE key = 'create'",
        "UPDATE work_item SET title = x'00ff' WHERE key = 'create'",
        "UPDATE work_item SET state = 'done' WHERE key = 'create'",
        "UPDATE work_item SET fields = '{}' WHERE key = 'create'",
        "UPDATE work_item SET fields = '[' WHERE key = 'create'",
        "UPDATE work_item SET fields = '[]' WHERE key = 'create'",
        "UPDATE work_item SET layout = '1' WHERE key = 'create'",
        "UPDATE work_item SET level = 'other' WHERE key = 'create'",
        "UPDATE work_item SET digest = '' WHERE key = 'create'",
        "UPDATE work_item SET written_delta = '{}' WHERE key = 'create'",
        "DELETE FROM work_item WHERE key = 'create'",
        "DELETE FROM work_item WHERE key IS NULL AND level = 'step'",
        "DELETE FROM work_link WHERE kind = 'blocks'",
        "UPDATE work_link SET place = 7 WHERE kind = 'parent'",
        'UPDATE work_derived SET value = \'{"delta_status":"green"}\'',
        "UPDATE work_derived SET value = '1'",
        "UPDATE work_plan SET digest = ''",
        "UPDATE work_plan SET revision = 'x'",
    ],
)
def test_rows_that_are_not_as_they_were_written_are_refused(
    plans: WorkPlans, tree: PlanTree, database: Database, damage: str
) -> None:
    with database.write() as connection:
        connection.execute(damage)
    with pytest.raises(PlanDamaged, match="not as they were written"):
        plans.load(tree.plan.id)
    with pytest.raises(PlanDamaged):
        plans.transition(tree.plan.id, "active")
    assert plans.summaries()
    plans.drop(tree.plan.id)
    assert plans.summaries() == []


def test_a_copy_of_the_file_has_the_plans_but_nothing_that_was_derived(
    plans: WorkPlans, tree: PlanTree, database: Database, tmp_path: Path
) -> None:
    task = tree.find_item("create")
    plans.set_derived(task.id, {"delta_status": "green"})
    database.fold()
    shutil.copy(tmp_path / "state.db", tmp_path / "copy.db")
    copy = open_state_db(tmp_path / "copy.db")
    copied = WorkPlans(lambda: copy, core)
    assert copied.load(tree.plan.id).item(task.id).derived == {"delta_status": "pending"}
    assert copied.export(tree.plan.id) == PLAN
    copy.close()


def test_refactoring_plans_do_not_push_plans_of_work_out(
    plans: WorkPlans, tree: PlanTree, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refactoring_plans, "MOST_PLANS", 1)
    for number in range(3):
        row = PlanRow(f"ref_{number}", "toy", "1", "{}", number, number)  # type: ignore[arg-type]
        PlanStore(database).save(row)
    assert plans.load(tree.plan.id) == tree


def test_plans_are_listed_and_dropped(plans: WorkPlans, tree: PlanTree) -> None:
    [summary] = plans.summaries()
    assert (summary.id, summary.title, summary.state, summary.items) == (
        tree.plan.id,
        "Type the core",
        "draft",
        len(tree.items),
    )
    plans.drop(tree.plan.id)
    for use in (plans.load, plans.drop, plans.export):
        act: Callable[[str], object] = use
        with pytest.raises(NotFound):
            act(tree.plan.id)


@pytest.mark.parametrize(
    ("name", "limit"), [("MOST_WORK_PLANS", 1), ("LARGEST_STORE", 3000), ("LARGEST_PLAN", 100)]
)
def test_no_more_plans_are_stored_than_fit(
    plans: WorkPlans, tree: PlanTree, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    monkeypatch.setattr(work_plans, name, limit)
    with pytest.raises(PlanTooLarge):
        plans.create(PLAN)
    assert len(plans.summaries()) == 1


@pytest.mark.parametrize(("name", "limit"), [("MOST_ITEMS", 5), ("MOST_LINKS", 2), ("LARGEST_FIELDS", 30)])
def test_a_plan_that_is_too_large_is_refused(
    plans: WorkPlans, monkeypatch: pytest.MonkeyPatch, name: str, limit: int
) -> None:
    monkeypatch.setattr(bounds, name, limit)
    with pytest.raises(PlanTooLarge):
        plans.create(PLAN)
    assert plans.summaries() == []


def test_ten_thousand_tasks_are_stored_ordered_and_exported(plans: WorkPlans) -> None:
    tasks = [
        {"title": f"task {n}", "key": f"k{n}", "after": [f"k{n - 1}"] if n else [], "delta": DELTA}
        for n in reversed(range(10_000))
    ]
    document = {"title": "much", "phases": [{"title": "all", "tasks": tasks}]}
    tree = plans.create(document)
    [phase] = tree.phases_in_order()
    assert [item.key for item in tree.tasks_in_order(phase.id)] == [f"k{n}" for n in range(10_000)]
    assert plans.load(tree.plan.id) == tree and plans.export(tree.plan.id) == document
    with pytest.raises(PlanInvalid, match="cycle"):
        plans.edit_items(tree.plan.id, [("k0", {"after": ["k9999"]})])


def test_an_item_says_what_it_is_after_and_blocks(tree: PlanTree) -> None:
    item: Item = tree.find_item("create")
    assert tree.blockers_of(item.id) == () and len(tree.blocked_by(item.id)) == 2
