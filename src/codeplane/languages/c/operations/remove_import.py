"""Removes the includes of a header."""

from collections.abc import Sequence

from codeplane.core.edits import TextEdit
from codeplane.languages.c.operations._directives import Directive, Preprocessed
from codeplane.languages.c.operations._guards import refuse_unsafe
from codeplane.languages.c.operations._includes import check_request, header_of, read_request
from codeplane.languages.c.operations._top import comment_of, is_blank_at, is_blank_before
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.source import BOM


@operation(
    version=1,
    target="file",
    arguments=(
        Argument("import", "text", "the include, as `#include <stdio.h>` or `<stdio.h>`", is_required=True),
    ),
    check_arguments=check_request,
)
def remove_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Removes every include of a header, with the comments that belong to it; its uses stay as they are."""
    header = read_request(arguments)
    refuse_unsafe(source)
    lines = Preprocessed(source)
    places = [one for one in lines.includes if header_of(one) == header]
    others = [
        one for one in lines.includes if header_of(one) != header and header_of(one)[1:-1] == header[1:-1]
    ]
    notes = [
        f"Line {source.line_of(one.start)} includes it as `{header_of(one)}`; that stays." for one in others
    ]
    edits = []
    for one in places:
        edit, own_notes = _remove_line(lines, one)
        edits.append(edit)
        notes += own_notes
    return Outcome(edits, [*notes, *_empty_notes(lines, places)] if places else notes)


def _remove_line(lines: Preprocessed, place: Directive) -> tuple[TextEdit, list[str]]:
    source = lines.source
    if not source.is_first_in_line(place.start) or not source.is_last_in_line(place.end):
        raise OperationRefused("A comment stands before the include in its line; edit that line by hand.")
    notes = _comment_notes(source.slice(place.start, place.end), header_of(place))
    start, end = source.line_start(place.start), source.next_line(place.end)
    is_alone = is_blank_at(source, end) or end == len(source.data)
    if owner := comment_of(lines, place):
        notes += [_comment_note(source.slice(*owner), header_of(place))]
        start = source.line_start(owner[0])
    start = _first_byte(source, start)
    if end == len(source.data) and is_blank_before(source, start) and start > len(BOM):
        start = source.line_start(start - 1)
    if end == len(source.data) and not source.data.endswith((b"\n", b"\r")):
        start = source.line_end(source.line_start(start - 1)) if start else start
    elif is_alone and is_blank_before(source, start) and end < len(source.data):
        end = source.next_line(end)
    return source.delete(start, end), notes


def _first_byte(source: Source, start: int) -> int:
    return len(BOM) if start == 0 and source.data.startswith(BOM) else start


def _comment_notes(text: str, header: str) -> list[str]:
    comment = text.partition(header)[2].strip()
    return [_comment_note(comment, header)] if comment else []


def _comment_note(comment: str, header: str) -> str:
    return f"The comment `{comment}` belongs to `#include {header}` and goes with it."


def _empty_notes(lines: Preprocessed, places: Sequence[Directive]) -> list[str]:
    """What is said of conditionals that nothing is left in."""
    source, notes = lines.source, []
    for number in dict.fromkeys(one.path[-1] for one in places if one.path[len(lines.guard.path) :]):
        opening, end = lines.directives[number], lines.ends.get(number)
        inner = [one for one in lines.directives if number in one.path and one not in places]
        has_code = any(number in one.path for one in lines.codes)
        if end is not None and not inner and not has_code:
            notes.append(f"Nothing is left in the conditional of line {source.line_of(opening.start)}.")
    return notes
