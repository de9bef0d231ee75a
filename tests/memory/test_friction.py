"""Friction: recorded, counted, resolved, rotated; and what is made of it."""

import json

import pytest

from codeplane.config.settings import MemorySettings
from codeplane.memory import Enforcement, FrictionEvent, MemoryState, MemoryStore, Trigger
from codeplane.memory.export import export_lines
from codeplane.storage.database import Database
from tests.memory.conftest import Clock
from tests.memory.samples import ACCEPTED, CODE, REFUSED, accept, reject, taught


def with_settings(database: Database, clock: Clock, **values: object) -> MemoryStore:
    return MemoryStore(lambda: database, MemorySettings.model_validate(values), clock)


def test_friction_that_nobody_resolved_makes_no_memory(store: MemoryStore) -> None:
    reject(store, 50)
    assert store.list_all() == []
    assert store.scaffold_patterns("w1", {}) == []
    assert all(not entry.is_resolved for entry in store.friction.list_entries())


def test_three_resolved_rejections_become_one_example_of_what_differs(store: MemoryStore) -> None:
    record = taught(store)
    shot = record.content.few_shot
    assert shot is not None
    assert (shot.before, shot.after) == (
        '{"verificationHooks": []}',
        '{"verificationHooks": ["tests/test_a.py"]}',
    )
    assert (record.state, record.count) == (MemoryState.PENDING, 3)
    assert record.content.domain_anchor_ids == ("src/app",)
    assert record.content.rejection_codes == (CODE,)
    assert record.content.digests == {"src/app/a.py": "d1"}
    assert {entry.memory for entry in store.friction.list_entries()} == {record.id}


def test_fewer_rejections_than_the_threshold_teach_nothing_until_another_run_adds_one(
    store: MemoryStore,
) -> None:
    reject(store, 2)
    assert accept(store) == []
    reject(store, 1, work_id="w2")
    [record] = accept(store, work_id="w2")
    assert (record.count, record.trace_ref) == (3, "w2")


def test_further_rejections_are_counted_and_make_no_second_memory(store: MemoryStore) -> None:
    record = taught(store)
    reject(store, 5, work_id="w2")
    assert accept(store, work_id="w2") == []
    assert [(one.id, one.count) for one in store.list_all()] == [(record.id, 8)]
    assert store.changes(record.id)[-1].event == "counted"


@pytest.mark.parametrize(
    "other", [{"code": "PLAN_NOT_ATOMIC"}, {"anchors": ("lib", ".")}, {"strategy": "api_contract_feature"}]
)
def test_another_code_folder_or_strategy_is_another_memory(store: MemoryStore, other: dict[str, str]) -> None:
    taught(store)
    reject(store, 3, work_id="w2", **other)  # type: ignore[arg-type]
    assert len(accept(store, work_id="w2")) == 1
    assert len(store.list_all()) == 2


def test_a_person_who_rejected_an_example_is_not_asked_again(store: MemoryStore) -> None:
    record = taught(store)
    store.reject(record.id)
    reject(store, 5, work_id="w2")
    assert accept(store, work_id="w2") == []
    assert [one.state for one in store.list_all()] == ["rejected"]


def test_an_example_that_expired_is_proposed_again_when_the_friction_goes_on(
    store: MemoryStore, clock: Clock
) -> None:
    record = taught(store)
    clock.advance(100)
    reject(store, 3, work_id="w2")
    [second] = accept(store, work_id="w2")
    assert [(one.id, one.state) for one in store.list_all()] == [
        (record.id, "expired"),
        (second.id, "pending"),
    ]


def test_a_pair_without_a_difference_teaches_nothing(store: MemoryStore) -> None:
    reject(store, 3)
    assert accept(store, node=REFUSED) == []
    reject(store, 3, work_id="w2", node=None)
    assert accept(store, work_id="w2") == []


def test_a_run_resolves_only_its_own_friction(store: MemoryStore) -> None:
    reject(store, 3)
    reject(store, 3, work_id="w2")
    accept(store, work_id="w2")
    assert [entry.is_resolved for entry in store.friction.list_entries()] == [False] * 3 + [True] * 3


def test_the_accepted_node_is_found_by_file_when_its_id_changed(store: MemoryStore) -> None:
    reject(store, 3)
    [record] = accept(store, node=ACCEPTED | {"nodeId": "other"})
    assert record.content.few_shot is not None
    assert "tests/test_a.py" in record.content.few_shot.after


def test_the_same_rejection_in_several_folders_becomes_one_memory_of_their_common_folder(
    store: MemoryStore,
) -> None:
    for folder in ("src/app", "src/lib", "src/web"):
        node = REFUSED | {"nodeId": folder, "targetFile": f"{folder}/a.py"}
        reject(store, 1, anchors=(folder, "src", "."), node=node)
        assert accept(store, node=ACCEPTED | node | {"verificationHooks": ["t"]}) == []
    [record] = store.scaffold_patterns("w1", {})
    assert (record.content.trigger, record.content.domain_anchor_ids, record.count) == (
        Trigger.RETROSPECTIVE,
        ("src",),
        3,
    )
    assert store.scaffold_patterns("w1", {}) == []


def test_the_ledger_keeps_the_newest_entries(database: Database, clock: Clock) -> None:
    store = with_settings(database, clock, friction_ledger_max_entries=100)
    reject(store, 250)
    entries = store.friction.list_entries()
    assert len(entries) == 100
    assert entries[-1].body["count"] == 101  # of those that are left, with itself


def test_a_ledger_that_is_switched_off_records_nothing(database: Database, clock: Clock) -> None:
    store = with_settings(database, clock, enable_friction_ledger=False)
    reject(store, 5)
    assert store.friction.list_entries() == []


def test_scaffolds_can_be_switched_off(database: Database, clock: Clock) -> None:
    store = with_settings(database, clock, enable_auto_scaffold_from_rejections=False)
    reject(store, 5)
    assert accept(store) == []


def test_entries_are_exported_with_the_fields_of_the_ledger(store: MemoryStore) -> None:
    record = taught(store)
    lines = [json.loads(line) for line in export_lines(store, "friction")]
    assert lines[2] == {
        "ts": "2027-01-15T08:00:00Z",
        "trigger": "rejection_pattern",
        "rejectionCodes": [CODE],
        "domainAnchorIds": ["src/app", "src", "."],
        "memoryId": record.id,
        "rejectionCount": 3,
        "resolved": True,
        "strategyId": "debug_symptom_trace",
        "sessionId": "s1",
        "workId": "w1",
    }
    [change] = [json.loads(line) for line in export_lines(store, "changelog")]
    assert (change["event"], change["newState"], change["memoryId"]) == ("created", "pending", record.id)
    [exported] = [json.loads(line) for line in export_lines(store, "records")]
    assert (exported["enforcementType"], exported["state"]) == ("few_shot", "pending")


def test_secrets_are_written_down_nowhere(store: MemoryStore, database: Database) -> None:
    secret = "ghp_" + "a1B2" * 9
    node = REFUSED | {"editIntent": f"use {secret}"}
    reject(store, 3, node=node)
    [record] = accept(store, node=ACCEPTED | {"editIntent": f"password = '{secret}'"})
    assert record.content.few_shot is not None
    assert "[redacted]" in record.content.few_shot.before
    database.fold()
    assert secret.encode() not in database.path.read_bytes()


def test_huge_hostile_nodes_are_cut(store: MemoryStore) -> None:
    deep: object = "x"
    for _ in range(400):
        deep = [deep]
    node = REFUSED | {
        "editIntent": "é" * 1_000_000,
        "deep": deep,
        "many": list(range(100_000)),
        "s": "\ud800",
    }
    reject(store, 3, node=node, anchors=("d\udcff", "."))
    [record] = accept(store, node=ACCEPTED)
    assert len(json.dumps(record.to_dict())) < 10_000
    assert store.show(record.id) == record


def test_several_codes_of_one_event_are_entries_of_their_own(store: MemoryStore) -> None:
    count = store.record_friction(FrictionEvent(work_id="w", codes=("A", "B", "A")))
    assert (count, [entry.code for entry in store.friction.list_entries()]) == (1, ["A", "B"])


def test_ten_thousand_entries_and_a_thousand_memories_are_looked_up_by_folder(
    database: Database, clock: Clock
) -> None:
    store = with_settings(database, clock, friction_ledger_max_entries=20_000, contest_window_hours=0)
    with database.write() as connection:
        connection.executemany(
            "INSERT INTO friction (work_id, trigger, code, anchor, strategy, is_resolved, body, at_ms)"
            " VALUES ('w0', 'rejection_pattern', ?, ?, '', 0, '{}', 0)",
            [(f"C{number % 17}", f"d{number % 300}") for number in range(10_000)],
        )
    for number in range(30):
        reject(store, 3, work_id=f"w{number}", anchors=(f"f{number}", "."))
        accept(store, work_id=f"w{number}")
    [record] = store.active(Enforcement.FEW_SHOT, ["f7"])
    assert record.content.domain_anchor_ids == ("f7",)
    index = store._current()
    assert store._current() is index  # nothing is read anew while nothing changes
