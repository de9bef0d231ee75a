"""What a write has changed, as every tool that writes tells it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from codeplane.answers.change_text import broken_lines, delta_text
from codeplane.answers.checks import CheckOutput
from codeplane.answers.edit_ranges import EditRange, Mutation, edits_of, mutation_of, old_hash
from codeplane.answers.output import Output
from codeplane.core.edits import FileChange, told_once
from codeplane.core.paths import RepoPath
from codeplane.graph.diff.structure import Change, ChangeKind, flattened
from codeplane.jail import shown
from codeplane.mutation.diff_preview import line_ending, preview
from codeplane.mutation.placement.locate import Correction
from codeplane.session import Call
from codeplane.session.operation.edits import Written
from codeplane.session.operation.effects import Effects

_MOST_FILES = 60
_MOST_SYMBOLS = 60  # of all files together, and so with the lines of a preview
_MOST_PREVIEWED = 240
_LEAST = 3
_MOST_RANGES = 20  # of all files together
_MOST_TESTS = 20
_MOST_CORRECTIONS = 20


class Lines(Output):
    start_line: int = Field(description="First line.")
    end_line: int = Field(description="Last line.")


class LineCorrection(Output):
    original: Lines | None = Field(default=None, description="Lines that were sent.")
    corrected: Lines = Field(description="Lines that were replaced.")
    reason: str = Field(description="What did not match.")


class FileDelta(Output):
    path: str = Field(description="File.")
    action: str = Field(description="created, updated, deleted or moved.")
    moved_from: str | None = Field(default=None, description="Path before.")
    git_mv: bool | None = Field(default=None, description="Whether git's index records the move.")
    old_hash: str | None = Field(default=None, description="sha256 before.")
    file_sha256: str | None = Field(default=None, description="sha256 now, for the next edit.")
    line_ending: str | None = Field(default=None, description="LF, CRLF or mixed, now.")
    insertions: int = Field(description="Lines added.")
    deletions: int = Field(description="Lines removed.")
    edits: list[EditRange] | None = Field(default=None, description="Lines that were replaced.")
    more_edits: int | None = Field(default=None, description="Replaced lines beyond those.")
    line_corrections: list[LineCorrection] | None = Field(default=None, description="Slips, corrected.")
    symbols: list[str] | None = Field(default=None, description="`change kind name :lines` of definitions.")
    problem: str | None = Field(default=None, description="What is wrong with the file now.")
    diff: str | None = Field(default=None, description="The change, in a preview.")


class DeltaFiles(Output):
    files_changed: int = Field(description="Files.")
    insertions: int = Field(description="Lines added.")
    deletions: int = Field(description="Lines removed.")
    files: list[FileDelta] = Field(description="File by file.")
    more_files: int | None = Field(default=None, description="Files beyond those.")
    repo_fingerprint: str | None = Field(
        default=None, description="Fingerprint of all files as they are now."
    )
    mutation: Mutation | None = Field(default=None, description="Identifies this change.")


class Delta(Output):
    broke: list[str] | None = Field(
        default=None,
        description="What it broke: syntax errors, names that no longer resolve, calls that no longer fit.",
    )
    applied: bool = Field(description="Whether it was applied.")
    dry_run: bool | None = Field(default=None, description="Whether it is a preview.")
    operation: str | None = Field(default=None, description="Id for `undo`.")
    summary: str = Field(description="One-line summary.")
    delta: DeltaFiles = Field(description="What changed, or would change.")
    tests: list[str] | None = Field(
        default=None,
        description="`confidence match path` of affected tests; `chain:N`: through N imports.",
    )
    more_tests: int | None = Field(default=None, description="Tests beyond those.")
    tests_confidence: str | None = Field(
        default=None, description="complete, or partial; `inspect_affected_tests` has the reasons."
    )
    verified: list[CheckOutput] | None = Field(default=None, description="Results of the checks.")

    def render(self) -> str:
        return delta_text(self)


def told(call: Call, result: Written) -> Delta:
    """The answer of a tool that writes."""
    is_done = result.operation_id is not None
    changes = told_once(result.changes)
    share = max(1, min(len(changes), _MOST_FILES))
    files = [_file(result, one, share) for one in changes[:_MOST_FILES]]
    if not files:
        call.warn("The edit changes nothing: the files already have this content.")
    return Delta(
        broke=broken_lines(result.effects) or None,
        applied=is_done,
        dry_run=None if is_done else True,
        operation=result.operation_id,
        summary=_render_summary(changes, result, is_done=is_done),
        delta=DeltaFiles(
            files_changed=len(changes),
            insertions=result.insertions,
            deletions=result.deletions,
            files=files,
            more_files=max(0, len(changes) - len(files)) or None,
            repo_fingerprint=result.repo_fingerprint,
            mutation=mutation_of(
                result.fingerprint,
                result.changes,
                result.effects,
                (result.insertions, result.deletions),
            ),
        ),
        **affected(result.effects, _MOST_TESTS),
    )


def affected(effects: Effects, most: int) -> dict[str, Any]:
    """The fields that tell of tests, in every answer of a write."""
    tests = effects.impact.tests
    return {
        "tests": [one.told for one in tests[:most]] or None,
        "more_tests": max(0, len(tests) - most) or None,
        "tests_confidence": _render_confidence(effects),
    }


def _render_confidence(effects: Effects) -> str | None:
    """Whether the tests are all there are, without the reasons, which are the same at each write.

    Nothing where no file that changed is code.
    """
    impact = effects.impact
    if not any(file.language for file in effects.files if file.path not in impact.nameless_files):
        return None
    return impact.confidence


def _file(result: Written, change: FileChange, share: int) -> FileDelta:
    """One file of so many that share the room."""
    came, went = result.lines.get(change.path, (0, 0))
    intent = result.intent
    old = intent.change.before.get(change.moved_from or change.path)
    corrections = intent.corrections.get(change.moved_from or change.path, ())
    is_preview = result.operation_id is None
    new = intent.change.after[change.path]
    edits = edits_of(result.effects, change.path, old, new) if not is_preview else []
    most = _MOST_RANGES // share
    return FileDelta(
        path=shown(change.path),
        action=_render_action(change),
        moved_from=shown(change.moved_from) if change.moved_from is not None else None,
        git_mv=change.git_mv if change.moved_from is not None and not is_preview else None,
        old_hash=old_hash(result, change),
        file_sha256=change.after,
        line_ending=line_ending(new) if new is not None else None,
        insertions=came,
        deletions=went,
        edits=edits[:most] or None,
        more_edits=max(0, len(edits) - most) or None,
        line_corrections=[_line_correction(one) for one in corrections[:_MOST_CORRECTIONS]] or None,
        symbols=symbols_of(result.effects, change.path, max(_LEAST, _MOST_SYMBOLS // share)) or None,
        problem="It no longer parses completely." if change.path in result.effects.unparsable else None,
        diff=_render_diff(change, old, new, share) if is_preview else None,
    )


def _render_action(change: FileChange) -> str:
    if change.moved_from is not None:
        return "moved"
    if change.before is None:
        return "created"
    return "deleted" if change.after is None else "updated"


def _line_correction(one: Correction) -> LineCorrection:
    return LineCorrection(
        original=Lines(start_line=one.request[0], end_line=one.request[1]) if one.request[0] else None,
        corrected=Lines(start_line=one.target[0], end_line=one.target[1]),
        reason=one.why,
    )


def _render_diff(change: FileChange, old: bytes | None, new: bytes | None, share: int) -> str | None:
    return preview(shown(change.path), old, new, max(2 * _LEAST, _MOST_PREVIEWED // share)) or None


def symbols_of(effects: Effects, path: RepoPath, most: int) -> list[str]:
    """The definitions of a file that are others now, a line each."""
    # A file that does not parse seems to lack what it has.
    is_parsed = path not in effects.unparsable
    changes = [
        one
        for file in effects.files
        if file.path == path
        for one in flattened(file.changes)
        if not (one.nested and one.change is ChangeKind.BODY)
        and (is_parsed or one.change is not ChangeKind.REMOVED)
    ]
    lines = [_render_symbol(one) for one in changes[:most]]
    return [*lines, f"… {len(changes) - most} more"] if len(changes) > most else lines


def _render_symbol(one: Change) -> str:
    span = one.definition.span
    lines = "" if one.after is None else f" :{span.start_line}-{span.end_line}"
    old = f" (was {shown(one.old_name)})" if one.old_name else ""
    return f"{one.change.value} {one.definition.kind} {shown(one.name)}{lines}{old}"


def _render_summary(changes: Sequence[FileChange], result: Written, *, is_done: bool) -> str:
    counts = Counter(_render_action(change) for change in changes)
    what = ", ".join(f"{counts[action]} {action}" for action in _ACTIONS if counts[action])
    what = what or "nothing changed"
    corrections = sum(map(len, result.intent.corrections.values()))
    parts = [f"{what} (+{result.insertions} -{result.deletions})"]
    parts += [f"{corrections} corrected"] if corrections else []
    return ("" if is_done else "preview, nothing written: ") + "; ".join(parts)


_ACTIONS = ("created", "updated", "moved", "deleted")
