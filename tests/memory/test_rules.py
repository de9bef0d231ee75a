"""Conditions of plan rules, strategy signals, anchors, and what a turn may show."""

from pathlib import Path
from typing import Any

import pytest

from codeplane.config.settings import MemorySettings
from codeplane.memory import (
    AnchorRules,
    Enforcement,
    MemoryState,
    MemoryStore,
    anchors_of_files,
    expired_citations,
    injectable,
    pack_entry,
    render_memory,
)
from codeplane.memory.anchors import common_anchor
from tests.memory.conftest import Clock
from tests.memory.samples import FEW_SHOT, NOTE, SIGNAL, accept, reject, taught, write_override


@pytest.mark.parametrize(
    ("condition", "anchors", "expected"),
    [
        ({}, [], {}),
        ({}, ["."], {}),
        ({}, ["src/api"], {"files": ["src/api/"]}),
        ({"files": ["*.py"]}, ["src", "lib"], {"files": ["src/**/*.py", "lib/**/*.py"]}),
        ({"files": ["src/a.py", "!b.py"]}, ["src"], {"files": ["src/a.py", "!b.py"]}),
        (
            {"features": {"hasJira": True}, "nodeKinds": ["change"]},
            [],
            {"features": {"hasJira": True}, "nodeKinds": ["change"]},
        ),
    ],
)
def test_a_rule_in_force_is_data_scoped_to_its_folders(
    store: MemoryStore,
    tmp_path: Path,
    condition: dict[str, Any],
    anchors: list[str],
    expected: dict[str, Any],
) -> None:
    rule = {"condition": condition, "requiredSteps": ["file:CHANGELOG.md"]}
    memory = {"enforcementType": "plan_rule", "planRule": rule, "domainAnchorIds": anchors}
    write_override(tmp_path / "o", "a.json", memory)
    store.import_overrides(tmp_path / "o")
    [active] = store.rules(["src/api", "src", "lib"])
    assert active.condition == expected
    assert (active.required_steps, active.deny_code) == (("file:CHANGELOG.md",), "PLAN_POLICY_VIOLATION")
    assert len(store.rules(["docs"])) == (anchors in ([], ["."]))


def test_signals_come_with_the_most_specific_folder_first(store: MemoryStore, tmp_path: Path) -> None:
    general = SIGNAL | {
        "domainAnchorIds": ["."],
        "strategySignal": SIGNAL["strategySignal"] | {"value": False},
    }
    write_override(tmp_path / "o", "a.json", [general, SIGNAL])
    store.import_overrides(tmp_path / "o")
    signals = store.signals(["src/ui", "src"])
    assert [(one.feature_flag, one.value) for one in signals] == [
        ("mentionsAgGrid", True),
        ("mentionsAgGrid", False),
    ]


def test_a_file_has_the_anchors_of_its_folders() -> None:
    rules = AnchorRules.of_settings(MemorySettings())
    assert rules.anchors_of_file("a/b/c/d/e.py") == ("a/b/c", "a/b", "a", ".")
    assert rules.anchors_of_file("a/node_modules/b/e.py") == ("a", ".")
    assert rules.anchors_of_file("e.py") == (".",)
    assert anchors_of_files(rules, ["a/x.py", "b/c/y.py"]) == ("b/c", "a", "b", ".")


def test_anchors_are_seeded_from_the_list_of_files() -> None:
    rules = AnchorRules(2, ["*.egg-info", "dist"])
    anchors = rules.seed_anchors(["a/b/c/x.py", "a/y.py", "dist/z.py", "p.egg-info/q", "top.py"])
    assert [(one.id, one.parent, one.depth) for one in anchors] == [
        (".", None, 0),
        ("a", ".", 1),
        ("a/b", "a", 2),
    ]


@pytest.mark.parametrize(
    ("anchors", "expected"),
    [(["a/b", "a/c"], "a"), (["a", "b"], "."), (["a/b"], "a/b"), (["a", "."], "."), (["ab/c", "a/c"], ".")],
)
def test_folders_have_a_deepest_common_one(anchors: list[str], expected: str) -> None:
    assert common_anchor(anchors) == expected


def test_pending_is_never_shown_and_changed_files_retire(store: MemoryStore, clock: Clock) -> None:
    record = taught(store)
    kinds = [Enforcement.FEW_SHOT]
    assert injectable(store, kinds, ["src/app"], {"src/app/a.py": "d1"}.get) == []
    clock.advance(48)
    assert [one.id for one in injectable(store, kinds, ["src/app"], {"src/app/a.py": "d1"}.get)] == [
        record.id
    ]
    assert injectable(store, kinds, ["lib"], {"src/app/a.py": "d1"}.get) == []
    assert injectable(store, kinds, ["src/app"], {"src/app/a.py": "d2"}.get) == []
    assert store.show(record.id).state is MemoryState.RETIRED
    assert store.changes(record.id)[-1].reason == "src/app/a.py has changed"
    reject(store, 3, work_id="w2")
    assert len(accept(store, work_id="w2")) == 1


def test_a_run_renews_what_it_changed_itself(store: MemoryStore) -> None:
    record = taught(store)
    store.renew_digests([record.id], {"src/app/a.py": "d9"}.get)
    store.approve(record.id)
    assert injectable(store, [Enforcement.FEW_SHOT], ["src/app"], {"src/app/a.py": "d9"}.get)


def test_at_most_two_are_shown_the_most_specific_first(store: MemoryStore, tmp_path: Path) -> None:
    folder = tmp_path / "overrides"
    for anchor in (".", "src", "src/app", "src/app/deep"):
        write_override(folder, f"{anchor.replace('/', '-')}.json", FEW_SHOT | {"domainAnchorIds": [anchor]})
    store.import_overrides(folder)
    shown = injectable(store, [Enforcement.FEW_SHOT], ["src/app", "src"], lambda _: None)
    assert [record.content.domain_anchor_ids for record in shown] == [("src/app",), ("src",)]
    [third] = injectable(
        store, list(Enforcement), ["src/app", "src"], lambda _: None, without=[one.id for one in shown]
    )
    assert third.content.domain_anchor_ids == (".",)


def test_examples_can_be_switched_off(store: MemoryStore, tmp_path: Path) -> None:
    write_override(tmp_path / "o", "a.json", [FEW_SHOT, NOTE])
    store.import_overrides(tmp_path / "o")
    store.configure(MemorySettings(enable_few_shot_injection=False))
    [record] = injectable(store, list(Enforcement), ["src/app"], lambda _: None)
    assert record.enforcement is Enforcement.INFORMATIONAL


def test_rules_and_signals_can_be_switched_off(store: MemoryStore, tmp_path: Path) -> None:
    rule = {"enforcementType": "plan_rule", "planRule": {"requiredSteps": ["validate"]}}
    write_override(tmp_path / "o", "a.json", [rule, SIGNAL])
    store.import_overrides(tmp_path / "o")
    assert (len(store.rules([])), len(store.signals(["src/ui"]))) == (1, 1)
    store.configure(MemorySettings(enable_plan_rule_mutation=False, enable_strategy_override=False))
    assert (store.rules([]), store.signals(["src/ui"])) == ((), ())


def test_a_rule_that_rests_on_a_changed_file_is_not_enforced(store: MemoryStore, tmp_path: Path) -> None:
    rule = {"enforcementType": "plan_rule", "planRule": {}, "digests": {"a.py": "d1"}}
    write_override(tmp_path / "o", "a.json", rule)
    store.import_overrides(tmp_path / "o")
    assert len(store.rules([], {"a.py": "d1"}.get)) == 1
    assert store.rules([], {"a.py": "d2"}.get) == ()


def test_a_plan_that_cites_an_expired_memory_is_noticed(store: MemoryStore, clock: Clock) -> None:
    record = taught(store)
    document = {"nodes": [{"citations": [f"as {record.id} says", "mem_000000000000"]}]}
    assert expired_citations(store, document) == []
    clock.advance(97)
    assert [one.id for one in expired_citations(store, document)] == [record.id]


def test_a_memory_is_shown_as_its_example(store: MemoryStore) -> None:
    record = taught(store)
    text = render_memory(record)
    assert 'refused: {"verificationHooks": []}' in text and "why: No test reaches the change." in text
    entry = pack_entry(record)
    assert list(entry)[:2] == ["id", "enforcementType"]
    assert "createdAt" not in entry and entry["fewShot"]["after"].startswith("{")
