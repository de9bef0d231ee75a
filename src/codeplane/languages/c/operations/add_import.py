"""Includes a header at the top of a file."""

from collections.abc import Sequence

from codeplane.core.edits import TextEdit
from codeplane.languages.c.operations._directives import Directive, Preprocessed
from codeplane.languages.c.operations._guards import refuse_unsafe
from codeplane.languages.c.operations._includes import (
    Include,
    check_request,
    closeness,
    feature_end,
    grouped_includes,
    head_includes,
    header_of,
    is_first_header,
    is_main_header,
    is_sorted,
    read_request,
    sort_key,
)
from codeplane.languages.c.operations._top import comment_of, insert_at_top, is_blank_before, uses_blank_lines
from codeplane.languages.operations import Argument, Arguments, Match, Outcome, Source, operation


@operation(
    version=2,
    target="file",
    arguments=(
        Argument("import", "text", "the include, as `#include <stdio.h>` or `<stdio.h>`", is_required=True),
    ),
    check_arguments=check_request,
)
def add_import(source: Source, _: Match, arguments: Arguments) -> Outcome:
    """Includes a header at the top of a file.

    It goes among the includes of its kind, in their order where they have one, behind the guard of a header,
    the licence and the macros that have to be defined before headers are read.
    """
    header = read_request(arguments)
    refuse_unsafe(source)
    lines = Preprocessed(source)
    if (notes := _already_notes(lines, header)) is not None:
        return Outcome((), notes)
    notes = [
        f"Line {source.line_of(one.start)} includes it too, under a condition."
        for one in lines.includes
        if header_of(one) == header
    ]
    groups = grouped_includes(source, head_includes(lines))
    edit = (
        _place_among(lines, groups, header) if groups else insert_at_top(lines, _first_anchor(lines), header)
    )
    return Outcome([edit], notes)


def _already_notes(lines: Preprocessed, header: str) -> list[str] | None:
    """What is to be said where the header is included; None where it is not."""
    source = lines.source
    for one in lines.includes:
        own = header_of(one)
        if one.path != lines.guard.path or own[1:-1] != header[1:-1]:
            continue
        line = source.line_of(one.start)
        notes = [f"Line {line} includes it as `{own}`."] if own != header else []
        return [*notes, *([f"Line {line} includes it, behind code."] if one.start > lines.head_end else [])]
    return None


def _first_anchor(lines: Preprocessed) -> int:
    """Behind what has to stand before the first include; 0 where nothing has."""
    ends = [lines.guard.end, feature_end(lines)]
    for one in lines.includes:
        outer = lines.conditional_at(one)
        if outer and one.start < lines.head_end and is_first_header(header_of(one)):
            ends.append(outer[1].end)
    return max(ends)


def _place_among(lines: Preprocessed, groups: Sequence[Sequence[Include]], header: str) -> TextEdit:
    source = lines.source
    first = groups[0][0]
    if is_main_header(source, header) and not is_first_header(first.header):
        return _insert_before(lines, first.directive, header, is_apart=len(groups) > 1)
    # The header of the file is one of many where it does not come first.
    fixed = _leading_headers(source, [one for group in groups for one in group])
    movable = [[one for one in group if one not in fixed] for group in groups]
    runs = [run for group in movable for run in _runs_of(group, header[:1])]
    if runs:
        return _place_in_run(lines, _best_run(runs, header), header)
    others = [one for group in movable for one in group]
    if fixed and (header[:1] == "<" or not others):
        last = fixed[-1].directive
        return _insert_after(source, last, header, is_apart=bool(others) and len(groups) > 1)
    if header[:1] == "<":
        return _insert_before(lines, others[0].directive, header, is_apart=uses_blank_lines(source))
    return _insert_after(source, others[-1].directive, header, is_apart=uses_blank_lines(source))


def _leading_headers(source: Source, includes: Sequence[Include]) -> list[Include]:
    """The first includes of a file that others have to stay behind."""
    headers = []
    for one in includes:
        if not (is_main_header(source, one.header) or is_first_header(one.header)):
            break
        headers.append(one)
    return headers


def _runs_of(group: Sequence[Include], mark: str) -> list[list[Include]]:
    """The includes of a kind in a group that follow each other."""
    runs: list[list[Include]] = [[]]
    for one in group:
        if one.mark == mark:
            runs[-1].append(one)
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _best_run(runs: Sequence[Sequence[Include]], header: str) -> Sequence[Include]:
    """The includes that a header belongs to: of its folder, where its order is, most of them."""

    def fit(run: Sequence[Include]) -> tuple[int, bool, int]:
        near = max(closeness(header, one.header) for one in run)
        keys = [sort_key(one.header) for one in run]
        return near, is_sorted(run) and keys[0] < sort_key(header) < keys[-1], len(run)

    return max(runs, key=fit)


def _place_in_run(lines: Preprocessed, run: Sequence[Include], header: str) -> TextEdit:
    source = lines.source
    if is_sorted(run):
        for one in run:
            if sort_key(header) < sort_key(one.header):
                return _insert_before(lines, one.directive, header)
        return _insert_after(source, run[-1].directive, header)
    near = [one for one in run if closeness(header, one.header) > 0] or run
    if near is not run and is_sorted(near):
        for one in near:
            if sort_key(header) < sort_key(one.header):
                return _insert_before(lines, one.directive, header)
    return _insert_after(source, near[-1].directive, header)


def _include_text(source: Source, neighbour: Directive, header: str) -> str:
    """An include as its neighbour is written: `# include`, indented."""
    start = source.line_start(neighbour.start)
    head = source.slice(start, neighbour.end)
    own = header_of(neighbour)
    prefix = head[: head.index(own)].lstrip("\ufeff") if own and own in head else "#include "
    return (prefix if "/*" not in prefix and "\\" not in prefix else "#include ") + header


def _insert_before(lines: Preprocessed, place: Directive, header: str, *, is_apart: bool = False) -> TextEdit:
    source = lines.source
    owner = comment_of(lines, place)
    start = owner[0] if owner is not None else place.start
    newline = source.newline_at(start)
    indent = source.indent_at(start)
    is_apart = is_apart and is_blank_before(source, source.line_start(start))
    text = _include_text(source, place, header).removeprefix(source.indent_at(place.start))
    return source.insert(start, text + newline * (1 + is_apart) + indent)


def _insert_after(source: Source, place: Directive, header: str, *, is_apart: bool = False) -> TextEdit:
    newline = source.newline_at(place.start)
    is_apart = is_apart and source.is_last_in_line(source.next_line(place.end))
    return source.insert(place.end, newline * (1 + is_apart) + _include_text(source, place, header))
