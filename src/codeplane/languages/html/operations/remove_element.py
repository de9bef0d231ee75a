"""Removes an element."""

import re

from codeplane.languages.html.element_tree import Document
from codeplane.languages.html.operations._lines import Lines, own_lines
from codeplane.languages.html.operations._page import (
    TEMPLATES,
    content_end,
    is_preserved,
    open_element,
    refuse_faults,
)
from codeplane.languages.html.operations._shape import check_shape
from codeplane.languages.html.selector_syntax import parse_selector
from codeplane.languages.operations import Arguments, Match, Outcome, Source, operation


def _is_done(_source: Source, selector: str, _arguments: Arguments) -> bool:
    return bool(parse_selector(selector))


@operation(version=1, target="element", arguments=(TEMPLATES,), is_done=_is_done, check_result=check_shape)
def remove_element(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Removes an element with all that is in it, and the comments that belong to it."""
    document, element = open_element(source, match, arguments)
    refuse_faults(source, document, element)
    lines = own_lines(source, document, element)
    if lines is not None:
        start, end = _whole_lines(source, lines)
        return Outcome([source.delete(start, end)], _notes(source, document, lines))
    start, end = element.start, content_end(source, element)
    if not is_preserved(element) and source.data[start - 1 : start] in (b" ", b"\t"):
        following = source.data[end : end + 1]
        # Of the spaces on both sides, one stays.
        start -= following in (b" ", b"\t", b"\r", b"\n")
    return Outcome([source.delete(start, end)])


def _whole_lines(source: Source, lines: Lines) -> tuple[int, int]:
    start, end = source.line_start(lines.start), source.next_line(lines.end)
    if start == 0 and source.data.startswith(b"\xef\xbb\xbf"):
        start = 3
    if source.line_end(lines.end) == len(source.data) and start > 3:
        # The last line has no ending: the one before it goes.
        ending = re.compile(rb"\r?\n\Z").search(source.data[:start])
        return (ending.start() if ending else start), end
    before = source.data[source.line_start(start - 1) : start] if start > 3 else b"x"
    if not before.strip() and start and not source.data[end : source.next_line(end)].strip():
        end = source.next_line(end)  # of the blank lines on both sides, one stays
    return start, end


def _notes(source: Source, document: Document, lines: Lines) -> list[str]:
    comments = [
        item
        for item in document.comments
        if lines.start <= item.start < lines.element_start or lines.element_end <= item.start < lines.end
    ]
    return [f"The comment at line {source.line_of(item.start)} goes with the element." for item in comments]
