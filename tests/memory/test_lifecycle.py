"""The life of a memory, on a clock that the tests move."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from codeplane.config.settings import MemorySettings
from codeplane.core.errors import MemoryStateRefused, NotFound
from codeplane.memory import Enforcement, MemoryContent, MemoryRecord, MemoryState, MemoryStore, rows
from codeplane.memory.transitions import add_record, new_record
from codeplane.storage.database import Database
from codeplane.storage.state_db import open_state_db
from tests.memory.conftest import Clock
from tests.memory.samples import FEW_SHOT, NOTE, PLAN_RULE, SIGNAL, taught

SAMPLES = {"few_shot": FEW_SHOT, "plan_rule": PLAN_RULE, "strategy_signal": SIGNAL, "informational": NOTE}


def put(database: Database, clock: Clock, sample: dict[str, Any], key: str) -> MemoryRecord:
    content = MemoryContent.model_validate(sample)
    record = new_record(content, MemoryState.PENDING, clock(), trace_ref="t")
    with database.write() as connection:
        add_record(connection, record, key, actor="test", reason="")
    return record


@pytest.mark.parametrize(
    ("kind", "states"),
    [
        ("few_shot", ["pending", "provisional", "expired"]),
        ("informational", ["pending", "approved", "approved"]),
        ("strategy_signal", ["pending", "approved", "approved"]),
        ("plan_rule", ["pending", "pending", "pending"]),
    ],
)
def test_the_clock_promotes_each_type_as_it_may(
    store: MemoryStore, database: Database, clock: Clock, kind: str, states: list[str]
) -> None:
    record = put(database, clock, SAMPLES[kind], "k")
    states_seen = [store.show(record.id).state.value]
    for _ in range(2):
        clock.advance(47.9)
        assert store.show(record.id).state.value == states_seen[-1]
        clock.advance(0.1)
        states_seen.append(store.show(record.id).state.value)
    assert states_seen == states


def test_a_long_absence_spans_both_windows_with_their_own_moments(store: MemoryStore, clock: Clock) -> None:
    record = taught(store)
    clock.advance(1_000)
    assert store.show(record.id).state is MemoryState.EXPIRED
    moments = [change.at_ms - record.created_ms for change in store.changes(record.id)[1:]]
    assert moments == [48 * 3_600_000, 96 * 3_600_000]


def test_a_person_can_settle_a_memory_before_the_clock_does(store: MemoryStore, clock: Clock) -> None:
    record = taught(store)
    assert store.approve(record.id, "right").state is MemoryState.APPROVED
    clock.advance(1_000)
    assert store.show(record.id).state is MemoryState.APPROVED
    assert store.drop(record.id).state is MemoryState.RETIRED
    assert [change.event for change in store.changes(record.id)] == ["created", "state", "state"]
    assert store.changes(record.id)[1].reason == "right"


def test_what_is_over_stays_over(store: MemoryStore, clock: Clock) -> None:
    record = taught(store)
    store.reject(record.id)
    for decide in (store.approve, store.reject, store.drop):
        with pytest.raises(MemoryStateRefused, match="is rejected and cannot be"):
            decide(record.id)
    clock.advance(1_000)
    assert store.show(record.id).state is MemoryState.REJECTED


def test_an_unknown_id_names_the_nearest(store: MemoryStore) -> None:
    record = taught(store)
    with pytest.raises(NotFound) as refusal:
        store.show(record.id[:-1])
    assert refusal.value.hints == (f"cpl memory show {record.id}",)


def test_an_approval_by_another_process_counts_at_once(
    store: MemoryStore, database: Database, clock: Clock
) -> None:
    record = taught(store)
    assert store.active(Enforcement.FEW_SHOT, ["src/app"]) == []
    other = open_state_db(database.path)
    MemoryStore(lambda: other, MemorySettings(), clock).approve(record.id)
    other.close()
    assert [one.id for one in store.active(Enforcement.FEW_SHOT, ["src/app"])] == [record.id]


def test_a_full_store_forgets_what_is_over_first(
    store: MemoryStore, database: Database, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "MOST_MEMORIES", 2)
    first = put(database, clock, NOTE, "a")
    put(database, clock, FEW_SHOT, "b")
    with database.write() as connection:
        assert not rows.make_room(connection)
    store.drop(first.id)
    with database.write() as connection:
        assert rows.make_room(connection)
    assert len(store.list_all()) <= 2


ALLOWED = {
    ("few_shot", "pending", "provisional", "clock"),
    ("few_shot", "provisional", "expired", "clock"),
    ("strategy_signal", "pending", "approved", "clock"),
    ("informational", "pending", "approved", "clock"),
    *((kind, old, "approved", "person") for kind in SAMPLES for old in ("pending", "provisional")),
    *((kind, old, "rejected", "person") for kind in SAMPLES for old in ("pending", "provisional")),
    *(
        (kind, old, "retired", actor)
        for kind in SAMPLES
        for old in ("pending", "provisional", "approved")
        for actor in ("person", "files")
    ),
}


class LifeMachine(RuleBasedStateMachine):
    """People, files and the clock at random: only settled transitions happen, each with its line."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.database = open_state_db(Path(self.folder.name) / "state.db")
        self.clock = Clock()
        self.store = MemoryStore(lambda: self.database, MemorySettings(), self.clock)
        self.lazy = MemoryStore(lambda: self.database, MemorySettings(), self.clock)
        self.ids: list[str] = []

    @initialize()
    def start(self) -> None:
        for kind in SAMPLES:
            self.add(kind)

    @rule(kind=st.sampled_from(sorted(SAMPLES)))
    def add(self, kind: str) -> None:
        sample = SAMPLES[kind] | {"digests": {"a.py": "d1"}}
        self.ids.append(put(self.database, self.clock, sample, f"k{len(self.ids)}").id)

    @rule(hours=st.sampled_from([0.5, 24, 47, 48, 49, 96, 200]))
    def wait(self, hours: float) -> None:
        self.clock.advance(hours)

    @rule(number=st.integers(0, 50), action=st.sampled_from(["approve", "reject", "drop"]))
    def decide(self, number: int, action: str) -> None:
        memory_id = self.ids[number % len(self.ids)]
        before = self.store.show(memory_id).state
        try:
            getattr(self.store, action)(memory_id)
        except MemoryStateRefused:
            assert before in ("expired", "rejected", "retired") or (before == "approved" and action != "drop")

    @rule(number=st.integers(0, 50), digest=st.sampled_from(["d1", "d2"]))
    def change_file(self, number: int, digest: str) -> None:
        record = self.store.show(self.ids[number % len(self.ids)])
        valid = self.store.retire_changed([record], {"a.py": digest}.get)
        assert (valid == [record]) == (digest == "d1")

    @invariant()
    def only_settled_transitions_happen(self) -> None:
        kinds: dict[str, str] = {record.id: record.enforcement.value for record in self.store.list_all()}
        states: dict[str, str | None] = {}
        for change in self.store.changes():
            if change.event == "state":
                step = (kinds[change.memory], change.old_state, change.new_state, change.actor)
                assert step in ALLOWED
            assert states.get(change.memory) == change.old_state
            states[change.memory] = change.new_state
        assert states == {record.id: record.state.value for record in self.store.list_all()}

    @invariant()
    def nothing_pending_is_active(self) -> None:
        for kind in Enforcement:
            for record in self.store.active(kind, ["src/app", "src/ui"]):
                assert record.state in ("provisional", "approved")

    def teardown(self) -> None:
        self.database.close()
        self.folder.cleanup()


TestLife = LifeMachine.TestCase
TestLife.settings = hypothesis_settings(max_examples=25, stateful_step_count=20, deadline=None)
