"""Where one edit goes. It goes to the one place that is certainly meant, or nowhere."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from codeplane.core.errors import EditConflict, EditNotPlaced, InvalidArgument
from codeplane.core.text import numbered
from codeplane.mutation.placement.line_mapping import moved
from codeplane.mutation.placement.matching import (
    Alike,
    Found,
    is_numbered_in_part,
    match_at,
    matches,
    unnumbered,
)
from codeplane.mutation.placement.text import Text, split

_MOST_PLACES: Final = 10
_MOST_SHOWN: Final = 12


@dataclass(frozen=True)
class SpanEdit:
    """New text for lines, for a text that is there, or for both: then the text decides and the lines help."""

    new: str
    expected: str | None = None
    first: int | None = None
    last: int | None = None
    everywhere: bool = False  # every occurrence of the expected text
    within: tuple[int, int] | None = None  # lines of the present text that it has to be in

    def may_be(self, first: int, last: int) -> bool:
        return self.within is None or (self.within[0] <= first and last <= self.within[1])


class Correction(NamedTuple):
    """What was not as it was sent, and what was done instead; lines are 0 where none were sent."""

    request: tuple[int, int]
    target: tuple[int, int]
    why: str


class Placed(NamedTuple):
    """Bytes that are replaced, and the bytes that come in their place."""

    start: int
    end: int
    data: bytes
    lines: tuple[int, int]
    correction: Correction | None = None


def place(text: Text, edit: SpanEdit, base: Text | None, *, is_stale: bool) -> list[Placed]:
    """Where an edit goes in the present text.

    `is_stale` says that it was made for another content; `base` is that content, where it is known.
    """
    placements = _place_edit(text, edit, base, is_stale=is_stale)
    for one in placements:
        if not edit.may_be(*one.lines):
            raise _outside_symbol_error(text, edit, [one.lines[0]])
    return placements


def _place_edit(text: Text, edit: SpanEdit, base: Text | None, *, is_stale: bool) -> list[Placed]:
    if edit.expected:
        return _by_text(text, edit, base if is_stale else None)
    if edit.first is None:
        raise InvalidArgument(
            f"{text.path}: the edit does not say what to replace.",
            hints=["Send expected_content (the current text), or start_line and end_line."],
        )
    first, last = _requested_lines(edit, (base if is_stale and base is not None else text))
    if not is_stale:
        return [_replace_lines(text, edit.new, first, last)]
    there = moved(base.lines, text.lines, first, last) if base is not None else None
    if there is None:
        raise _edit_conflict(text, base, first, last)
    correction = Correction((first, last), there, "the file has changed elsewhere since it was read")
    return [_replace_lines(text, edit.new, *there, correction=correction)]


def _requested_lines(edit: SpanEdit, text: Text) -> tuple[int, int]:
    """The lines that were sent, where there are such lines; one line when no last one was."""
    first = edit.first or 0
    last = first if edit.last is None else edit.last
    count = len(text.lines)
    if (
        first < 1
        or last < first - 1
        or last > count
        or (last >= first and first > count)
        or first > count + 1
    ):
        raise InvalidArgument(
            f"{text.path} has lines 1 to {count}; lines {first} to {last} are out of range.",
            hints=[f"To add at the end: start_line {count + 1}, end_line {count}."],
        )
    return first, last


def _replace_lines(
    text: Text, new: str, first: int, last: int, *, correction: Correction | None = None
) -> Placed:
    data = text.as_lines(split(new), first, last)
    return Placed(text.start(first), text.start(last + 1), data, (first, last), correction)


def _by_text(text: Text, edit: SpanEdit, base: Text | None) -> list[Placed]:
    if edit.first is not None:
        return [_by_both(text, edit, base)]
    exact = _find_occurrences(text, edit)
    if len(exact) == 1 or (exact and edit.everywhere):
        return [_replace_bytes(text, edit.new, *span) for span in exact]
    if exact:
        raise _several_places_error(text, [text.line_at(start) for start, _ in exact])
    expected_lines, new, why = _as_sent(text, edit)
    matches_found = _best_matches(text, expected_lines, edit)
    if len(matches_found) == 1 or (matches_found and edit.everywhere):
        return [_adapt_indentation(text, one, new, (0, 0), why) for one in matches_found]
    if not matches_found and edit.within and (outside := _find_occurrences(text, replace(edit, within=None))):
        raise _outside_symbol_error(text, edit, [text.line_at(start) for start, _ in outside])
    raise (
        _several_places_error(text, [one.first for one in matches_found])
        if matches_found
        else _no_match_error(text, expected_lines)
    )


def _by_both(text: Text, edit: SpanEdit, base: Text | None) -> Placed:
    """The lines decide between places that are equally good, and nothing else."""
    expected_lines, new, why = _as_sent(text, edit)
    requested_lines = (
        edit.first or 0,
        edit.last if edit.last is not None else (edit.first or 0) + len(expected_lines) - 1,
    )
    here = match_at(text.lines, expected_lines, requested_lines[0])
    if here is not None and here.alike is Alike.EXACT:
        return _adapt_indentation(text, here, new, requested_lines, why)
    matches_found = _best_matches(text, expected_lines, edit)
    if len(matches_found) == 1:
        if here is not None and here.first != matches_found[0].first:
            raise _several_places_error(text, [here.first, matches_found[0].first])
        return _adapt_indentation(text, matches_found[0], new, requested_lines, why)
    if here is not None and any(one.first == here.first for one in matches_found):
        return _adapt_indentation(text, here, new, requested_lines, why)
    if base is not None and matches_found:
        there = moved(
            base.lines, text.lines, requested_lines[0], requested_lines[0] + len(expected_lines) - 1
        )
        for one in matches_found:
            if there == (one.first, one.last):
                return _adapt_indentation(text, one, new, requested_lines, why)
    if matches_found:
        raise _several_places_error(text, [one.first for one in matches_found])
    return _part_of_a_line(text, edit, expected_lines, requested_lines[0])


def _part_of_a_line(text: Text, edit: SpanEdit, sent: Sequence[str], line: int) -> Placed:
    """The expected text is less than whole lines: its occurrence at the line, or the only one."""
    exact = _find_occurrences(text, edit)
    at_line = [span for span in exact if text.line_at(span[0]) == line]
    selection = at_line or exact
    if len(selection) > 1:
        raise _several_places_error(text, [text.line_at(start) for start, _ in selection])
    if not selection:
        raise _no_match_error(text, sent, line)
    placement = _replace_bytes(text, edit.new, *selection[0])
    if at_line:
        return placement
    correction = Correction((line, edit.last or line), placement.lines, "the text is at other lines")
    return placement._replace(correction=correction)


def _as_sent(text: Text, edit: SpanEdit) -> tuple[list[str], str, str]:
    """The expected lines and the new text, without the numbers that both were copied with."""
    expected_lines = split(edit.expected or "")
    bare = unnumbered(expected_lines)
    if bare is None or _best_matches(text, expected_lines, edit):
        return expected_lines, edit.new, ""
    new = unnumbered(split(edit.new))
    if new is None and is_numbered_in_part(split(edit.new)):
        raise InvalidArgument(
            f"{text.path}: some lines of the new text begin with line numbers, others do not.",
            hints=["Send new_content without line numbers."],
        )
    return bare, edit.new if new is None else "\n".join(new), "line numbers were removed"


def _best_matches(text: Text, sent: Sequence[str], edit: SpanEdit) -> list[Found]:
    """The places of the best likeness that there is, where the edit may be."""
    for alike in Alike:
        if matches_found := [
            one for one in matches(text.lines, sent, alike) if edit.may_be(one.first, one.last)
        ]:
            return matches_found
    return []


def _adapt_indentation(text: Text, found: Found, new: str, asked: tuple[int, int], why: str) -> Placed:
    """The lines that were found give way to the new ones, indented as they are."""
    line_range = found.first, found.last
    lines = split(new)
    candidates = [found.adapt(line) for line in lines]
    new_lines = [line for line in candidates if line is not None]
    if len(new_lines) != len(candidates):
        raise EditNotPlaced(
            f"{text.path}:{line_range[0]} matches except for indentation, which does not fit the new text.",
            hints=["Send both texts with the indentation of the file (read_source)."],
            found=_excerpt_of(text, *line_range),
        )
    reasons = [why] if why else []
    if found.alike is not Alike.EXACT:
        reasons.append(f"{found.alike} differs from the file's")
    if asked[0] and asked != line_range:
        reasons.append("the text is at other lines")
    correction = Correction(asked, line_range, "; ".join(reasons)) if reasons else None
    return _replace_lines(text, "\n".join(new_lines) if new_lines else "", *line_range, correction=correction)


def _find_occurrences(text: Text, edit: SpanEdit) -> list[tuple[int, int]]:
    """The bytes of every occurrence where the edit may be, whatever line ends the text was sent with."""
    parts = [_encode_part(text, part) for part in (edit.expected or "").replace("\r\n", "\n").split("\n")]
    if any(part is None for part in parts):
        return []
    pattern = rb"\r?\n".join(re.escape(part) for part in parts if part is not None)
    spans = (match.span() for match in re.finditer(pattern, text.data))
    return [span for span in spans if edit.within is None or edit.may_be(*_lines_of(text, *span))]


def _lines_of(text: Text, start: int, end: int) -> tuple[int, int]:
    return text.line_at(start), text.line_at(max(start, end - 1))


def _encode_part(text: Text, part: str) -> bytes | None:
    try:
        return part.encode("utf-8" if text.is_utf8 else "latin-1")
    except UnicodeEncodeError:
        return None


def _replace_bytes(text: Text, new: str, start: int, end: int) -> Placed:
    first, last = _lines_of(text, start, end)
    line_end = text.line_end(first)
    data = line_end.join(text.encode(part) for part in new.replace("\r\n", "\n").split("\n"))
    return Placed(start, end, data, (first, last))


def _excerpt_of(text: Text, first: int, last: int) -> str:
    last = min(last, first + _MOST_SHOWN - 1, len(text.lines))
    return numbered(text.lines[first - 1 : last], first)


def _several_places_error(text: Text, lines: list[int]) -> EditNotPlaced:
    line_list = ", ".join(map(str, lines[:_MOST_PLACES])) + (", …" if len(lines) > _MOST_PLACES else "")
    return EditNotPlaced(
        f"{text.path} has the expected text in {len(lines)} places: lines {line_list}.",
        hints=[
            "Send more of the surrounding text, or start_line as well; all: true replaces every occurrence."
        ],
        lines=lines[:_MOST_PLACES],
        count=len(lines),
    )


def _outside_symbol_error(text: Text, edit: SpanEdit, lines: list[int]) -> EditNotPlaced:
    assert edit.within is not None, "BUG: an edit that may be anywhere is elsewhere"
    first, last = edit.within
    line_list = ", ".join(map(str, lines[:_MOST_PLACES])) + (", …" if len(lines) > _MOST_PLACES else "")
    return EditNotPlaced(
        f"{text.path} has it at line {line_list}, outside the symbol (lines {first} to {last}).",
        hints=["Name the symbol that contains it, or send path instead of symbol."],
        found=_excerpt_of(text, first, last),
    )


def _no_match_error(text: Text, sent: Sequence[str], near: int | None = None) -> EditNotPlaced:
    """What is there instead: at the lines that were sent, or where the first telling line is."""
    at = near or next(
        (
            number
            for expectation in sent
            if expectation.strip()
            for number, line in enumerate(text.lines, 1)
            if line.strip() == expectation.strip()
        ),
        None,
    )
    details = {"found": _excerpt_of(text, at, at + len(sent) - 1)} if at and at <= len(text.lines) else {}
    return EditNotPlaced(
        f"{text.path} does not contain the expected text.",
        hints=["The details show what is there; read_source shows the current file."]
        if details
        else ["read_source shows the current file."],
        **details,
    )


def _edit_conflict(text: Text, base: Text | None, first: int, last: int) -> EditConflict:
    if base is None:
        return EditConflict(
            f"{text.path} has changed since it was read, and that version is no longer available.",
            hints=["Read it again (read_source), or send expected_content, which finds its lines."],
            found=_excerpt_of(text, first, max(first, last)),
        )
    return EditConflict(
        f"{text.path} has changed since it was read, at the lines of the edit ({first} to {last}).",
        hints=["Compare both sides, then send the edit for the current file."],
        read=_excerpt_of(base, first, max(first, last)),
        found=_excerpt_of(text, first, max(first, last)),
    )
