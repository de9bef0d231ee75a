"""Which lines a write replaced, and what tells it from other writes: for programs that follow changes."""

from collections.abc import Sequence

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.edits import FileChange
from codeplane.graph.diff.structure import flattened
from codeplane.jail import shown
from codeplane.ledger import mutation_fingerprint
from codeplane.mutation.diff_preview import ranges
from codeplane.session.operation.edits import Written
from codeplane.session.operation.effects import Effects

_LONGEST_TEXT = 200
_MOST_SYMBOLS = 60


class Position(Output):
    line: int = Field(description="Line, from 1.")
    char: int = Field(description="Column, from 1.")


class EditRange(Output):
    start: Position = Field(description="Start, in the old content.")
    end: Position = Field(description="End (exclusive), in the old content.")
    new_text: str = Field(description="Replacement; cut if long.")
    symbol: str | None = Field(default=None, description="Definition it changed.")


class Mutation(Output):
    fingerprint: str = Field(description="Equal for equal changes; recorded in the ledger.")
    files_changed_hash: str = Field(description="Of the paths with their old and new contents.")
    diff_stats: str = Field(description="Lines added and removed.")
    symbol_changes: list[str] = Field(description="`change kind name` of definitions, of all files.")


def old_hash(result: Written, change: FileChange) -> str | None:
    """The content before; of a move, that of the path it came from."""
    if change.moved_from is None:
        return change.before
    return next((one.before for one in result.changes if one.path == change.moved_from), None)


def edits_of(effects: Effects, path: str, old: bytes | None, new: bytes | None) -> list[EditRange]:
    """The lines that were replaced in one file, whole, in order."""
    if old is None or new is None:
        return []
    spans = [
        (one.definition.span, shown(one.name))
        for file in effects.files
        if file.path == path
        for one in flattened(file.changes)
        if one.after is not None and one.tags
    ]
    shift, edits = 0, []
    for one in ranges(old, new):
        text = "".join(one.new)
        first = one.start + shift + 1  # in the content now
        around = [name for span, name in spans if span.start_line <= first <= span.end_line]
        shift += len(one.new) - (one.end - one.start)
        edits.append(
            EditRange(
                start=Position(line=one.start + 1, char=1),
                end=Position(line=one.end + 1, char=1),
                new_text=text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…",
                symbol=around[-1] if around else None,
            )
        )
    return edits


def mutation_of(
    fingerprint: str | None, changes: Sequence[FileChange], effects: Effects, stats: tuple[int, int]
) -> Mutation | None:
    """What tells a change from others; None for a preview."""
    if fingerprint is None:
        return None
    symbols = [
        f"{one.change.value} {one.definition.kind} {shown(one.name)}"
        for file in effects.files
        for one in flattened(file.changes)
        if one.tags
    ]
    return Mutation(
        fingerprint=fingerprint,
        files_changed_hash=mutation_fingerprint(changes, 0, 0),
        diff_stats=f"+{stats[0]} -{stats[1]}",
        symbol_changes=symbols[:_MOST_SYMBOLS],
    )
