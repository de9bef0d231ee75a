"""A write from intent to answer: budget, commit, row, index, effects. Every change of files is one."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.core.edits import Change, FileChange
from codeplane.core.errors import CodePlaneError, EditConflict, EditInDoubt
from codeplane.core.ids import OperationId
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown
from codeplane.ledger import Operation, mutation_fingerprint
from codeplane.mutation import Applied, Prepared, Scope
from codeplane.mutation.diff_preview import counts, preview
from codeplane.mutation.placement.locate import Correction
from codeplane.session.call import Call
from codeplane.session.operation.aftermath import afterwards
from codeplane.session.operation.effects import Before, Effects, effects, state_before
from codeplane.session.operation.envelope import Envelope, refresh_index
from codeplane.session.preparse import reading_ahead
from codeplane.working_tree import digest_of

# Other clients may write to the same file, one after the other.
_MOST_TRIES: Final = 50


@dataclass(frozen=True)
class Intent:
    """What is to be done, exactly."""

    op_type: str
    change: Change
    undoes: OperationId | None = None
    corrections: Mapping[RepoPath, Sequence[Correction]] = field(default_factory=dict)
    plan: str | None = None  # of a phase of a plan
    phase: str | None = None


@dataclass(frozen=True)
class Written:
    """What has been done, or would be."""

    operation_id: OperationId | None  # None for a preview
    intent: Intent
    changes: tuple[FileChange, ...]
    lines: dict[RepoPath, tuple[int, int]]  # that came and went, by path
    effects: Effects = field(default_factory=Effects)
    fingerprint: str | None = None  # of the mutation, as the ledger has it
    repo_fingerprint: str | None = None  # of all files afterwards

    @property
    def insertions(self) -> int:
        return sum(came for came, _ in self.lines.values())

    @property
    def deletions(self) -> int:
        return sum(went for _, went in self.lines.values())


def write(
    call: Call,
    make: Callable[[], Intent],
    *,
    ignored_ok: bool = False,
    dry_run: bool = False,
    wants_effects: bool = True,
) -> Written:
    """Makes the change and has it in the ledger and in the index when it returns; or nothing has happened.

    What is to be done is made out anew when a file changes at the last moment: `make` finds its place again,
    or refuses. A call that was charged has its row, whatever comes of it; one that fails is not counted.
    """
    edit: _Edit | None = None
    try:
        for left in reversed(range(_MOST_TRIES)):
            intent = make()
            try:
                batch = _prepare_edits(call, intent, ignored_ok=ignored_ok)
                if dry_run:
                    return Written(None, intent, _planned_changes(batch), _line_counts(intent))
                # A change that is tried again is still one change: it is charged once.
                if edit is None:
                    call.charge("mutation", intent.op_type)
                edit = _Edit(call, intent)
                return _commit_edit(edit, batch, wants_effects=wants_effects)
            except EditConflict:
                if not left or (edit is not None and edit.envelope.is_recorded):
                    raise
                call.check()
    except EditInDoubt:
        # The start that settles it writes its row; one now would say that it is settled.
        raise
    except CodePlaneError as error:
        if edit is not None and not edit.envelope.is_recorded:
            edit.note_failure(error)
        raise
    raise AssertionError("BUG: the last try has neither returned nor raised")


def _commit_edit(edit: "_Edit", batch: Prepared, *, wants_effects: bool) -> Written:
    call, intent = edit.call, edit.intent
    with reading_ahead(call.repo) as begin:
        begin(intent.change.contents)
        if not wants_effects:
            result = edit.commit(batch)
            afterwards(call.warn, "the index is behind", lambda: refresh_index(call), None)
            return result
        with call.repo.index.snapshot() as snapshot:
            was = state_before(snapshot, intent.change.before)
        result = edit.commit(batch)
        # The look itself waits for the facts that are being read; up to there it need not.
        return replace(result, effects=_effects_after(call, intent, was))


def _prepare_edits(call: Call, intent: Intent, *, ignored_ok: bool) -> Prepared:
    scope = Scope(tuple(call.task.working_set), ignored_ok)
    batch = call.repo.engine.prepare(intent.change.edits, scope)
    for flag in batch.flags:
        call.warn(flag.text)
    return batch


class _Edit:
    """One change of files: in the journal before it is made, in the ledger after."""

    def __init__(self, call: Call, intent: Intent) -> None:
        self.call = call
        self.intent = intent
        self._lines = lines = _line_counts(intent)
        self.envelope = Envelope(
            call,
            intent.op_type,
            repo_before=call.repo.states.now().hex(),
            insertions=sum(came for came, _ in lines.values()),
            deletions=sum(went for _, went in lines.values()),
            undoes=intent.undoes,
            plan=intent.plan,
            phase=intent.phase,
        )

    def commit(self, batch: Prepared) -> Written:
        repo, envelope = self.call.repo, self.envelope
        note = envelope.row.body()
        with repo.engine.committed(batch, envelope.id, note, self.call.check) as outcome:
            row = envelope.record(self._done(outcome), repo.states.turn(envelope.id, outcome.changes))
        envelope.signal(row)
        return Written(
            row.operation_id,
            self.intent,
            row.changes,
            self._lines,
            fingerprint=row.mutation_fingerprint,
            repo_fingerprint=row.repo_after,
        )

    def _done(self, outcome: Applied) -> Operation:
        changes, row = outcome.changes, self.envelope.row
        return self.envelope.ended(
            success=True,
            changes=changes,
            mutation_fingerprint=mutation_fingerprint(changes, row.insertions, row.deletions),
            artifact=self._artifact(changes),
        )

    def _artifact(self, changes: tuple[FileChange, ...]) -> Digest | None:
        """The whole diff, where the user wants it kept."""
        if not self.call.repo.artifacts.are_wanted:
            return None
        old, new = self.intent.change.before, self.intent.change.after
        pairs = ((one, old.get(one.moved_from or one.path), new.get(one.path)) for one in changes)
        diff = "\n".join(preview(shown(one.path), was, is_, sys.maxsize) for one, was, is_ in pairs)
        return self.call.repo.artifacts.keep(diff.encode("utf-8", "replace"))

    def note_failure(self, error: CodePlaneError) -> None:
        """A failed operation is on record too, where there is still a way to record it."""
        row = self.envelope.failed(error, insertions=0, deletions=0, unchanged=True)
        with suppress(CodePlaneError):
            self.envelope.record(row, self.call.repo.states.turn(row.operation_id))


def _line_counts(intent: Intent) -> dict[RepoPath, tuple[int, int]]:
    """Lines that come and go; those of a file that moves are counted where it goes."""
    sources = {edit.moved_from for edit in intent.change.edits.edits if edit.moved_from is not None}
    return {
        edit.path: counts(intent.change.before.get(edit.moved_from or edit.path), edit.after)
        for edit in intent.change.edits.edits
        if edit.path not in sources or edit.after is not None
    }


def _planned_changes(batch: Prepared) -> tuple[FileChange, ...]:
    return tuple(
        FileChange(
            path=one.edit.path,
            before=one.edit.before,
            after=digest_of(one.edit.after) if one.edit.after is not None else None,
            mode_before=one.mode_before,
            mode_after=one.mode_after,
            moved_from=one.edit.moved_from,
        )
        for one in batch.planned
        if one.is_change
    )


def _effects_after(call: Call, intent: Intent, was: Before) -> Effects:
    """What the change affects, with the change in the index; nothing where that cannot be found out."""

    def effects_now() -> Effects:
        refresh_index(call)
        with call.seen() as snapshot:
            return effects(snapshot, was, intent.change.before, intent.change.after, call.repo.learnt)

    return afterwards(call.warn, "its effects are unknown", effects_now, Effects())
