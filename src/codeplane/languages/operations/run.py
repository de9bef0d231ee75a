"""Runs one operation over the matches of its target: all edits are one batch, on one tree."""

from collections.abc import Sequence
from typing import NamedTuple

from tree_sitter import Node

from codeplane.languages.operations.operation import (
    Arguments,
    Change,
    Match,
    Operation,
    OperationRefused,
    Outcome,
)
from codeplane.languages.operations.source import OverlappingEdits, Source


class Result(NamedTuple):
    """What an operation makes of a file."""

    data: bytes
    outcome: Outcome
    after: Source | None = None  # where the bytes were parsed to be checked

    @property
    def is_already(self) -> bool:
        """Whether the file was as it should be."""
        return not self.outcome.edits


def run_operation(
    operation: Operation, source: Source, matches: Sequence[Match], arguments: Arguments
) -> Result:
    """The bytes of the file afterwards; `OperationRefused` where one of the matches can't be done."""
    outcomes = []
    for match in matches:
        if operation.target != "file":
            refuse_broken(source, match.node)
        outcomes.append(operation.compute_edit(source, match, arguments))
    edits = [edit for outcome in outcomes for edit in outcome.edits]
    notes = list(dict.fromkeys(note for outcome in outcomes for note in outcome.notes))
    try:
        data = source.apply(edits)
    except OverlappingEdits as error:
        raise OperationRefused(f"Edits of two matches overlap at line {error.line}.") from error
    after = None
    if operation.check_result is not None and data != source.data:
        after = Source(source.language, data, source.path, source.has_file, source)
        operation.check_result(Change(source, after, edits, matches, arguments))
    return Result(data, Outcome(edits if data != source.data else (), notes), after)


def refuse_broken(source: Source, node: Node) -> None:
    """Refuses a target that the grammar could not read: what is edited there would be a guess."""
    if not (node.has_error or node.is_missing):
        return
    culprit = node
    while inner := next((child for child in culprit.children if child.has_error or child.is_missing), None):
        culprit = inner
    line = source.line_of(culprit.start_byte)
    raise OperationRefused(
        f"The target holds a syntax error at line {line}, or syntax that the grammar does not know.", culprit
    )
