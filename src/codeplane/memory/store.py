"""The store of memories: looked up by anchor, changed by the clock, by people and by friction."""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from codeplane.config.settings import MemorySettings
from codeplane.core.errors import NotFound
from codeplane.core.suggest import nearest
from codeplane.memory import rows
from codeplane.memory.anchors import AnchorRules
from codeplane.memory.friction import FrictionEvent, FrictionLedger, Resolution
from codeplane.memory.index import MemoryIndex
from codeplane.memory.learning import Pattern, wide_patterns
from codeplane.memory.lifecycle import PERSON, due_transitions, personal_transition
from codeplane.memory.overrides import OverrideFiles, OverrideFolder, OverrideReport
from codeplane.memory.records import (
    Enforcement,
    MemoryChange,
    MemoryRecord,
    MemoryState,
    Phase,
    Trigger,
)
from codeplane.memory.rules import ActiveRule, ActiveSignal
from codeplane.memory.transitions import (
    CONTROLLER,
    add_record,
    carry_out,
    count_again,
    new_record,
    retire_overrides,
    retire_stale,
)
from codeplane.storage.database import Database

DigestOf = Callable[[str], str | None]
"""The digest that a file of the repository has now; None where there is no such file."""


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


class MemoryStore:
    """Memories in `state.db`. Every change leaves a line in the changelog, in the same transaction."""

    def __init__(
        self,
        database: Callable[[], Database],
        settings: MemorySettings,
        clock: Callable[[], int] = _now_ms,
    ) -> None:
        self._database = database
        self._clock = clock
        self._overrides = OverrideFolder()
        self.configure(settings)

    def configure(self, settings: MemorySettings) -> None:
        """Goes on with other settings."""
        self.settings = settings
        self._index: MemoryIndex | None = None
        self.anchors = AnchorRules.of_settings(settings)
        self.friction = FrictionLedger(self._database, settings, self._clock)

    # What is there.

    def list_all(self, states: Collection[MemoryState] = ()) -> list[MemoryRecord]:
        """Every memory, or those in some states, in the order in which they were made."""
        records = self._current().records.values()
        return [record for record in records if not states or record.state in states]

    def show(self, memory_id: str) -> MemoryRecord:
        """The memory of an id; `NotFound` with the nearest ids."""
        records = self._current().records
        if memory_id not in records:
            near = nearest(memory_id[:60], records, most=3)
            raise NotFound(
                f"There is no memory {memory_id[:60]!r}.",
                hints=[f"cpl memory show {one}" for one in near] or ["cpl memory list"],
            )
        return records[memory_id]

    def changes(self, memory_id: str | None = None) -> list[MemoryChange]:
        """The changelog of one memory or of all."""
        self._current()
        with self._database().read() as connection:
            return rows.read_changes(connection, memory_id)

    def active(
        self, kind: Enforcement | Collection[Enforcement], anchors: Collection[str]
    ) -> list[MemoryRecord]:
        """Memories of a kind that are enforced for some anchors, the most specific first."""
        kinds = (kind,) if isinstance(kind, Enforcement) else tuple(kind)
        return self._current().active(kinds, anchors)

    def rules(self, anchors: Collection[str], digest_of: DigestOf | None = None) -> tuple[ActiveRule, ...]:
        """Plan rules that are enforced for some anchors; each says in its condition which nodes it is for."""
        if not self.settings.enable_plan_rule_mutation:
            return ()
        records = self.active(Enforcement.PLAN_RULE, anchors)
        return tuple(map(ActiveRule.of_record, self._without_stale(records, digest_of)))

    def signals(
        self, anchors: Collection[str], digest_of: DigestOf | None = None
    ) -> tuple[ActiveSignal, ...]:
        """Strategy signals that hold for some anchors, the most specific first."""
        if not self.settings.enable_strategy_override:
            return ()
        records = self.active(Enforcement.STRATEGY_SIGNAL, anchors)
        return tuple(map(ActiveSignal.of_record, self._without_stale(records, digest_of)))

    def _without_stale(self, records: list[MemoryRecord], digest_of: DigestOf | None) -> list[MemoryRecord]:
        return self.retire_changed(records, digest_of) if digest_of is not None else records

    def expired_among(self, memory_ids: Iterable[str]) -> list[MemoryRecord]:
        """Memories among these ids that were provisional and have expired."""
        records = self._current().records
        matches = (records.get(memory_id) for memory_id in memory_ids)
        return [one for one in matches if one is not None and one.state is MemoryState.EXPIRED]

    # What people decide.

    def approve(self, memory_id: str, reason: str = "") -> MemoryRecord:
        """A person says that a memory is right."""
        return self._decide(memory_id, MemoryState.APPROVED, reason or "approved by a person")

    def reject(self, memory_id: str, reason: str = "") -> MemoryRecord:
        """A person says that a memory is wrong; none is made of the same friction again."""
        return self._decide(memory_id, MemoryState.REJECTED, reason or "rejected by a person")

    def drop(self, memory_id: str, reason: str = "") -> MemoryRecord:
        """A person retires a memory; none is made of the same friction again."""
        return self._decide(memory_id, MemoryState.RETIRED, reason or "dropped by a person")

    def _decide(self, memory_id: str, target: MemoryState, reason: str) -> MemoryRecord:
        self.show(memory_id)
        with self._database().write() as connection:
            record = rows.find_record(connection, memory_id)
            assert record is not None, "BUG: memories are deleted only where the store is full"
            step = personal_transition(record, target, self._clock(), reason=reason)
            carry_out(connection, record, [step])
        return self.show(memory_id)

    # Ways in.

    def import_overrides(self, folder: Path | None) -> OverrideReport:
        """Takes in what people wrote into the override folder; None where the repository is not trusted.

        What is there already stays as it is. A memory whose file is gone or says something else is retired.
        """
        files = self._overrides.read_files(folder) if folder is not None else OverrideFiles()
        with self._database().read() as connection:
            known_keys = rows.override_sources(connection)
        new_keys = files.contents.keys() - known_keys.keys()
        gone_ids = [
            memory_id
            for key, (memory_id, source) in known_keys.items()
            if key not in files.contents and source not in files.broken_files
        ]
        if not new_keys and not gone_ids:
            return OverrideReport(problems=files.problems)
        additions, now = [], self._clock()
        state = MemoryState(self.settings.human_override_initial_state)
        with self._database().write() as connection:
            retired_ids = retire_overrides(connection, gone_ids, now)
            for key, (source, content) in files.contents.items():
                if key not in new_keys:
                    continue
                if rows.find_by_key(connection, key) is None and rows.make_room(connection):
                    record = new_record(content, state, now, trace_ref=source, source=source)
                    add_record(connection, record, key, actor=PERSON, reason=f"read from {source}")
                    additions.append(record)
        return OverrideReport(tuple(additions), retired_ids, files.problems)

    def record_friction(self, event: FrictionEvent) -> int:
        """Records a rejection; returns how many equal ones there have been."""
        return self.friction.record_event(event)

    def resolve_friction(self, resolution: Resolution) -> list[MemoryRecord]:
        """Records that what a run was refused has been accepted, and makes memories of what recurs."""
        patterns = self.friction.resolve_entries(resolution)
        return self._learn(patterns, Trigger.REJECTION_PATTERN, resolution.digests, self._least_rejections())

    def scaffold_patterns(self, work_id: str, digests: Mapping[str, str]) -> list[MemoryRecord]:
        """Makes memories of what a run met in several folders, too rarely in each of them."""
        patterns = wide_patterns(self.friction.resolved_patterns(work_id))
        return self._learn(
            patterns, Trigger.RETROSPECTIVE, digests, self.settings.auto_scaffold_min_rejections
        )

    def _least_rejections(self) -> int:
        return max(self.settings.rejection_threshold, self.settings.auto_scaffold_min_rejections)

    def _learn(
        self, patterns: Sequence[Pattern], trigger: Trigger, digests: Mapping[str, str], least: int
    ) -> list[MemoryRecord]:
        if not self.settings.enable_auto_scaffold_from_rejections or not patterns:
            return []
        self._current()  # what has expired by now makes room for the same example
        additions, now = [], self._clock()
        with self._database().write() as connection:
            for pattern in patterns:
                previous = rows.find_by_key(connection, pattern.key)
                if previous is not None:
                    count_again(connection, previous, pattern, now)
                elif pattern.count >= least and pattern.example is not None and rows.make_room(connection):
                    phase = Phase.RETROSPECTIVE if trigger is Trigger.RETROSPECTIVE else pattern.phase
                    content = pattern.to_content(trigger, phase, digests)
                    record = new_record(
                        content, MemoryState.PENDING, now, trace_ref=pattern.trace_ref, count=pattern.count
                    )
                    reason = f"{pattern.count} rejections with {pattern.code} in {pattern.anchor}, resolved"
                    add_record(connection, record, pattern.key, actor=CONTROLLER, reason=reason)
                    FrictionLedger.link_entries(connection, pattern.entries, record.id)
                    additions.append(record)
        return additions

    # What files and outcomes do.

    def retire_changed(self, records: Iterable[MemoryRecord], digest_of: DigestOf) -> list[MemoryRecord]:
        """The records whose files are as they were; the others are retired."""
        valid, stale = [], list[tuple[MemoryRecord, str]]()
        for record in records:
            digests = record.content.digests.items()
            changed_file = next((path for path, digest in digests if digest_of(path) != digest), None)
            if changed_file is None:
                valid.append(record)
            else:
                stale.append((record, changed_file))
        if stale:
            with self._database().write() as connection:
                for record, path in stale:
                    retire_stale(connection, record.id, path, self._clock())
        return valid

    def renew_digests(self, memory_ids: Iterable[str], digest_of: DigestOf) -> None:
        """Ties memories to their files as these are now: a run's own edits do not speak against what it
        taught."""
        with self._database().write() as connection:
            for memory_id in memory_ids:
                record = rows.find_record(connection, memory_id)
                if record is None or not record.content.digests:
                    continue
                digests = {path: digest_of(path) for path in record.content.digests}
                present = {path: digest for path, digest in digests.items() if digest is not None}
                content = record.content.model_copy(update={"digests": present})
                if content == record.content:
                    continue
                rows.write_content(connection, record.id, content)
                change = MemoryChange(
                    record.id, "renewed", None, None, CONTROLLER, "the run changed its files", self._clock()
                )
                rows.add_change(connection, change)

    def note_outcome(self, memory_id: str, work_id: str, outcome: str) -> None:
        """Records what a memory did to a run that it was shown to."""
        change = MemoryChange(memory_id, "outcome", None, None, work_id, outcome, self._clock())
        with self._database().write() as connection:
            rows.add_change(connection, change)

    # The clock.

    def _current(self) -> MemoryIndex:
        """The index as the store is now, with everything done that is due."""
        index = self._load_index()
        now = self._clock()
        if index.next_due_ms is None or now < index.next_due_ms:
            return index
        with self._database().write() as connection:
            for record in rows.read_records(connection, "state IN ('pending', 'provisional')"):
                carry_out(connection, record, due_transitions(record, now, self.settings))
        return self._load_index()

    def _load_index(self) -> MemoryIndex:
        with self._database().read() as connection:
            version = rows.read_version(connection)
            index = self._index
            if index is None or index.version != version:
                index = MemoryIndex.build(version, rows.read_records(connection), self.settings)
                self._index = index
        return index
