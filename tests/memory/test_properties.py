"""Friction and overrides at random: what must hold whatever happens."""

import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from codeplane.config.settings import MemorySettings
from codeplane.core.errors import OverrideInvalid
from codeplane.memory import MemoryStore, Trigger
from codeplane.memory.overrides import parse_override
from codeplane.storage.state_db import open_state_db
from tests.memory.conftest import Clock
from tests.memory.samples import ACCEPTED, FEW_SHOT, NOTE, PLAN_RULE, REFUSED, SIGNAL, accept, reject

RUNS = st.sampled_from(["w1", "w2", "w3"])
CODES = st.sampled_from(["PLAN_A", "PLAN_B"])
FOLDERS = st.sampled_from(["src/a", "src/b", "lib"])

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)


class FrictionMachine(RuleBasedStateMachine):
    """Runs that fail, recover or give up, while people and the clock decide about what they teach."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.database = open_state_db(Path(self.folder.name) / "state.db")
        self.clock = Clock()
        self.store = MemoryStore(lambda: self.database, MemorySettings(), self.clock)
        self.accepted_runs: set[str] = set()

    @rule(run=RUNS, code=CODES, folder=FOLDERS, times=st.integers(1, 4))
    def refuse(self, run: str, code: str, folder: str, times: int) -> None:
        node = REFUSED | {"nodeId": folder, "targetFile": f"{folder}/x.py"}
        reject(self.store, times, work_id=run, code=code, anchors=(folder, "."), node=node)

    @rule(run=RUNS, folder=FOLDERS)
    def recover(self, run: str, folder: str) -> None:
        accept(self.store, work_id=run, node=ACCEPTED | {"nodeId": folder, "targetFile": f"{folder}/x.py"})
        self.accepted_runs.add(run)

    @rule(run=RUNS)
    def complete(self, run: str) -> None:
        self.store.scaffold_patterns(run, {})

    @rule(hours=st.sampled_from([1, 50, 100]))
    def wait(self, hours: int) -> None:
        self.clock.advance(hours)

    @rule(number=st.integers(0, 9), action=st.sampled_from(["approve", "reject", "drop"]))
    def decide(self, number: int, action: str) -> None:
        records = [one for one in self.store.list_all() if one.state in ("pending", "provisional")]
        if records:
            getattr(self.store, action)(records[number % len(records)].id)

    @invariant()
    def every_memory_counts_resolved_entries_once(self) -> None:
        entries = self.store.friction.list_entries()
        assert all(entry.is_resolved for entry in entries if entry.memory is not None)
        counts = Counter(entry.memory for entry in entries if entry.memory is not None)
        assert counts == {record.id: record.count for record in self.store.list_all()}
        assert all(entry.work_id in self.accepted_runs for entry in entries if entry.is_resolved)

    @invariant()
    def there_is_one_live_memory_of_a_pattern(self) -> None:
        keys = [
            (
                record.content.rejection_codes,
                record.content.domain_anchor_ids,
                record.content.origin_strategy_id,
            )
            for record in self.store.list_all()
            if record.state not in ("expired", "retired")
        ]
        assert len(keys) == len(set(keys))
        for record in self.store.list_all():
            shot = record.content.few_shot
            assert shot is not None and shot.before != shot.after
            assert record.count >= 3

    def teardown(self) -> None:
        self.database.close()
        self.folder.cleanup()


TestFriction = FrictionMachine.TestCase
TestFriction.settings = hypothesis_settings(max_examples=25, stateful_step_count=25, deadline=None)


@st.composite
def spoilt_memories(draw: st.DrawFn) -> Any:
    """A sound memory with one value somewhere replaced, removed or added."""
    memory = json.loads(json.dumps(draw(st.sampled_from([FEW_SHOT, PLAN_RULE, SIGNAL, NOTE]))))
    target = memory
    while draw(st.booleans()):
        inner = [value for value in target.values() if isinstance(value, dict)]
        if not inner:
            break
        target = draw(st.sampled_from(inner))
    key = (
        draw(st.sampled_from(sorted(target)) | st.text(max_size=12)) if target else draw(st.text(max_size=12))
    )
    target[key] = draw(VALUES)
    return memory


@given(VALUES | spoilt_memories())
@hypothesis_settings(deadline=None)
def test_any_document_is_a_memory_or_a_typed_error(document: Any) -> None:
    for name in ("a.json", "a.yaml"):
        try:
            contents = parse_override(name, json.dumps(document).encode())
        except OverrideInvalid as error:
            assert error.details["file"] == name and error.message.startswith(".codeplane/memory/overrides/")
        else:
            assert all(content.trigger is Trigger.HUMAN_OVERRIDE for content in contents)


@given(st.binary(max_size=200), st.sampled_from(["a.json", "a.yaml"]))
def test_any_bytes_are_a_memory_or_a_typed_error(data: bytes, name: str) -> None:
    try:
        parse_override(name, data)
    except OverrideInvalid as error:
        assert error.code == 9601
