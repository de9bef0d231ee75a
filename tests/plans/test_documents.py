"""Documents: the same out as in, every unknown key refused by name, hostile ones with a typed error."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codeplane.core.errors import CodePlaneError, PlanError, PlanInvalid, PlanTooLarge
from codeplane.core.yaml_text import dump_yaml, parse_yaml
from codeplane.plans import PlanTree, WorkPlans, check_graph, parse_document, render_json, render_yaml
from codeplane.plans.document import DocumentReader, export_document
from codeplane.plans.links import order_by_links
from codeplane.storage.state_db import open_state_db
from tests.plans.conftest import core

ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
ODD = " \n\t:#-'\"\\|>%@&*!{}[]é\u2028\x85\ufeff\x1f\u0301😀~=<,?`\rnoyes0123456789"
TEXTS = st.text(ANY, max_size=20) | st.text(st.sampled_from(ODD), max_size=20)
VISIBLE = st.characters(exclude_categories=["C", "Z"]) | st.sampled_from(
    [one for one in ODD if one.isprintable() and not one.isspace()]
)
PADDING = st.text(VISIBLE | st.just(" "), max_size=10)
TITLES = st.builds(lambda *parts: "".join(parts), PADDING, VISIBLE, PADDING)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


def shuffled(draw: Any, item: dict[str, Any]) -> dict[str, Any]:
    return dict(draw(st.permutations(list(item.items()))))


@st.composite
def documents(draw: Any) -> dict[str, Any]:
    """Plans whose links go from earlier to later items only, written on either side."""
    phases, keys = [], list[str]()
    for number in range(draw(st.integers(0, 3))):
        tasks: list[Any] = []
        for place in range(draw(st.integers(0, 4))):
            task = draw(st.fixed_dictionaries({"title": TITLES}, optional=TASK))
            if keys and draw(st.booleans()):
                task["after"] = draw(st.lists(st.sampled_from(keys), unique=True, max_size=3))
            if draw(st.booleans()):
                task["key"] = f"t{number}.{place}"
                keys.append(task["key"])
            tasks.append(shuffled(draw, task))
        phase = draw(st.fixed_dictionaries({"title": TITLES}, optional=PART))
        phases.append(shuffled(draw, phase | ({"tasks": tasks} if tasks or draw(st.booleans()) else {})))
    plan = draw(st.fixed_dictionaries({"title": TITLES}, optional=PART))
    plan.pop("type", None)
    return shuffled(draw, plan | ({"phases": phases} if phases or draw(st.booleans()) else {}))


PART: dict[str, st.SearchStrategy[Any]] = {
    "description": TEXTS,
    "fields": st.fixed_dictionaries({}, optional={"notes": TEXTS, "labels": st.lists(VALUES, max_size=3)}),
}
TASK = PART | {
    "delta": st.dictionaries(TEXTS, VALUES, max_size=3),
    "type": st.just("task"),
    "blocks": st.just([]),
    "steps": st.lists(TITLES | st.fixed_dictionaries({"title": TITLES}, optional=PART), max_size=2).map(
        lambda steps: [
            {**one, "fields": {"notes": "x"}} if isinstance(one, dict) and "fields" in one else one
            for one in steps
        ]
    ),
}


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents())
def test_a_document_comes_back_as_it_was_written(document: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = open_state_db(Path(folder) / "state.db")
        try:
            plans = WorkPlans(lambda: database, core)
            for text in (render_json(document), render_yaml(document)):
                tree = plans.create(parse_document(text))
                exported = plans.export(tree.plan.id)
                assert json.dumps(exported) == json.dumps(document)
                assert (
                    parse_document(render_yaml(exported)) == parse_document(render_json(exported)) == document
                )
                assert plans.replace_document(tree.plan.id, document).revision == 1
        finally:
            database.close()


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_yaml_brings_every_value_back(value: Any) -> None:
    assert json.dumps(parse_yaml(dump_yaml(value))) == json.dumps(value)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_cycle_is_never_taken_and_an_order_is_always_one(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 8))
    keys = [f"k{n}" for n in range(count)]
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(keys), st.sampled_from(keys)), max_size=12))
    phases = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    after: dict[str, set[str]] = {key: set() for key in keys}
    blocks: dict[str, set[str]] = {key: set() for key in keys}
    for source, target in pairs:
        if data.draw(st.booleans()):
            after[target].add(source)
        else:
            blocks[source].add(target)
    tasks = [
        {"title": key, "key": key, "after": sorted(after[key]), "blocks": sorted(blocks[key])} for key in keys
    ]
    document = {
        "title": "p",
        "phases": [
            {"title": str(n), "tasks": [task for task, at in zip(tasks, phases, strict=True) if at == n]}
            for n in range(3)
        ],
    }
    tree = DocumentReader(core()).read_plan(document)
    place = dict(zip(keys, phases, strict=True))
    crossing = {(place[a], place[b]) for a, b in pairs if place[a] != place[b]}
    is_cyclic = _has_cycle(keys, pairs) or _has_cycle(range(3), crossing)
    if is_cyclic:
        with pytest.raises(PlanInvalid, match=r"cycle|itself"):
            check_graph(tree)
        return
    check_graph(tree)
    order = _execution_order(tree)
    assert sorted(order) == sorted(keys)
    assert all(order.index(a) < order.index(b) for a, b in pairs)


def _execution_order(tree: PlanTree) -> list[str]:
    tasks = (task for phase in tree.phases_in_order() for task in tree.tasks_in_order(phase.id))
    return [task.title for task in tasks]


def _has_cycle(nodes: Any, pairs: Any) -> bool:
    """By taking away, again and again, what nothing blocks."""
    left, edges = set(nodes), set(pairs)
    while free := {one for one in left if not any(b == one and a in left for a, b in edges)}:
        left -= free
    return bool(left)


def test_links_without_a_cycle_keep_the_order_that_was_written() -> None:
    ids: Any = ["c", "a", "b"]
    assert order_by_links(ids, []) == ["c", "a", "b"]
    assert order_by_links(ids, [("b", "c")]) == ["a", "b", "c"]  # type: ignore[list-item]


TASKS = {"phases": [{"title": "one", "tasks": [{"title": "a"}]}]}


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ({}, "has no title"),
        ({"titel": "x"}, r"unknown key 'titel'; did you mean title\?"),
        ({"title": "x", "tasks": []}, "Put the tasks into a phase|unknown key 'tasks'"),
        ({"title": ""}, "one line of text"),
        ({"title": "a\nb"}, "one line of text"),
        ({"title": "a\x1b[31m"}, "one line of text"),
        ({"title": "a\0"}, "null character"),
        ({"title": "a\ud800"}, "surrogate"),
        ({"title": 1}, "must be text, not a number"),
        ({"title": None}, "must be text, not null"),
        ({"title": "x", "description": "\ud800"}, "surrogate"),
        ({"title": "x", "description": None}, "must be text"),
        ({"title": "x", "phases": {}}, "phases must be a list"),
        ({"title": "x", "phases": [1]}, r"phases\[0\] must be an object"),
        ({"title": "x", "phases": [{"title": "y", "phases": []}]}, "unknown key 'phases'"),
        ({"title": "x", "phases": [{"title": "y", "tasks": ["z"]}]}, "must be an object"),
        ({"title": "x", "state": "done"}, "unknown key 'state'"),
        ({"title": "x", "after": ["y"]}, "unknown key 'after'"),
        ({"title": "x", "type": "task"}, "a type of level task, not plan"),
        ({"title": "x", "type": "plam"}, "did you mean plan"),
        ({"title": "x", "key": "a b"}, "key must be"),
        ({"title": "x", "key": "pt_0123456789ab"}, "no id of an item"),
        ({"title": "x", "fields": {"lables": []}}, "did you mean labels"),
        ({"title": "x", "fields": {1: 2}}, "there is no field 1"),
        ({"title": "x", "fields": {"labels": [float("nan")]}}, "JSON has no form for"),
        ({"title": "x", "fields": {"labels": [b"bytes"]}}, "JSON has no form for"),
        ({"title": "x", "fields": {"labels": [{1: 2}]}}, "must be text"),
        ({"title": "x", "fields": {"labels": ["\0"]}}, "null character"),
        ({"title": "x", "fields": {"labels": [1 << 5000]}}, "too many digits"),
    ],
)
def test_a_document_that_is_wrong_is_refused(plans: WorkPlans, document: Any, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        plans.create(document)
    assert plans.summaries() == []


def test_keys_and_links_of_a_document_are_checked(plans: WorkPlans) -> None:
    def tasks(*items: dict[str, Any]) -> dict[str, Any]:
        return {"title": "x", "phases": [{"title": "y", "tasks": [{"title": "t", **one} for one in items]}]}

    for document, problem in (
        (tasks({"key": "a"}, {"key": "a"}), "Two items have the key a"),
        (tasks({"key": "a", "after": ["b"]}), "links to b, which no item has"),
        (tasks({"key": "first", "after": ["frist"]}), r"did you mean first\?"),
        (tasks({"key": "a", "after": ["a"]}), "to itself"),
        (tasks({"key": "a"}, {"after": ["a", "a"]}), "names an item twice"),
        (tasks({"key": "a", "after": ["b"]}, {"key": "b", "after": ["a"]}), "The links make a cycle"),
        (tasks({"after": "a"}), "must be a list"),
        (tasks({"after": [1]}), "must be text"),
        (tasks({"fields": {"delta_status": "green"}}), "is derived"),
        (tasks({"delta_status": "green"}), "unknown key 'delta_status'"),
    ):
        with pytest.raises(PlanInvalid, match=problem):
            plans.create(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1, 2]",
        "title: [",
        "title: *a",
        "title: &a x\nother: *a",
        "title: !!python/object:os.system x",
        "title: 2024-01-01",
        "title: yes",
        "title: x\ntitle: y",
        "{" * 5000,
        "[" * 5000,
        "- " * 5000,
        '{"title": "x", "description": "\\ud800"}',
        '{"title": "\\u0000"}',
        "title: x\nphases:\n" + " - " * 200 + "x",
        '{"title": "x"',
    ],
)
def test_a_text_that_is_no_plan_is_a_typed_error(plans: WorkPlans, text: str) -> None:
    with pytest.raises(CodePlaneError) as raised:
        plans.create(parse_document(text))
    assert isinstance(raised.value, PlanError)


def test_what_is_too_deep_or_too_large_is_refused(plans: WorkPlans) -> None:
    deep: Any = 1
    for _ in range(2000):
        deep = [deep]
    with pytest.raises(PlanTooLarge, match="nested deeper"):
        plans.create({"title": "x", "fields": {"labels": deep}})
    with pytest.raises(PlanTooLarge, match="characters"):
        plans.create({"title": "x" * 301})
    with pytest.raises(PlanTooLarge, match="characters"):
        plans.create({"title": "x", "description": "x" * 20_001})
    with pytest.raises(PlanTooLarge, match="KB"):
        plans.create({"title": "x", "fields": {"labels": ["x" * 200_000, "y" * 200_000]}})
    with pytest.raises(PlanTooLarge, match="items"):
        plans.create({"title": "x", "phases": [{"title": "p", "tasks": [{"title": "t"}] * 20_000}]})
    with pytest.raises(PlanTooLarge, match="items"):
        plans.create({"title": "x", "phases": [{"title": "p"}] * 20_001})
    with pytest.raises(PlanTooLarge):
        parse_document("x" * (8 << 20 | 1))


def test_a_plan_that_yaml_cannot_hold_is_written_as_json(plans: WorkPlans) -> None:
    tree = plans.create({"title": "x", "description": "[" * 200})
    document = export_document(tree, core())
    with pytest.raises(PlanTooLarge, match="as YAML"):
        render_yaml(document)
    assert parse_document(render_json(document)) == document


def test_an_item_that_is_linked_later_gets_a_key_in_the_document(plans: WorkPlans) -> None:
    tree = plans.create({"title": "x", **TASKS})
    [task] = tree.tasks_in_order(tree.phases_in_order()[0].id)
    plans.edit_items(
        tree.plan.id, [(tree.phases_in_order()[0].id, {"add": [{"title": "b", "after": [task.id]}]})]
    )
    document = plans.export(tree.plan.id)
    [first, second] = document["phases"][0]["tasks"]
    assert second["after"] == [first["key"]]
    assert plans.export(plans.create(document).plan.id) == document
