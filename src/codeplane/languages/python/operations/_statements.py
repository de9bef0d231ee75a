"""Takes a statement out of a suite with its lines."""

import re
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations.source import BOM, Source

_BLANK_AFTER: Final = re.compile(rb"(?:[ \t\f]*(?:\r\n|\n|\r))*")


def remove_statement(source: Source, node: Node, start: int) -> TextEdit:
    """The edit that removes a statement, from the first byte of its lines, or puts `pass` in its place."""
    parent = node.parent
    siblings = (
        [child for child in parent.children if not child.is_extra and child.type != ";"] if parent else []
    )
    if parent is not None and parent.type == "block" and len(siblings) == 1:
        return source.replace(node.start_byte, node.end_byte, "pass")
    is_first = parent is not None and parent.type == "block" and siblings[0] == node
    following, previous = node.next_sibling, node.prev_sibling
    if following is not None and following.type == ";":
        later = following.next_sibling
        if later is not None and source.line_of(later.start_byte) == source.line_of(node.end_byte):
            return source.delete(node.start_byte, later.start_byte)
        if previous is not None and previous.type == ";":
            return source.delete(previous.start_byte, node.end_byte)
        return _remove_lines(source, start, source.next_line(following.end_byte), is_first=is_first)
    if previous is not None and previous.type == ";":
        return source.delete(previous.start_byte, node.end_byte)
    return _remove_lines(source, start, source.next_line(node.end_byte), is_first=is_first)


def _remove_lines(source: Source, start: int, end: int, *, is_first: bool) -> TextEdit:
    """The edit that removes lines; blank lines on both sides do not pile up."""
    data = source.data
    match = _BLANK_AFTER.match(data, end)
    after = match.end() if match else end
    before = start
    while before and source.is_last_in_line(source.line_start(before - 1)):
        before = source.line_start(before - 1)
    first = len(BOM) if data.startswith(BOM) else 0
    if before <= first or is_first:
        return source.delete(max(start if is_first else before, first), after)
    if after == len(data):
        has_newline = data.endswith((b"\n", b"\r"))
        return source.delete(before if has_newline else source.line_end(before - 2), after)
    if before == start or after == end:
        return source.delete(start, end)
    if data.count(b"\n", before, start) < data.count(b"\n", end, after):
        return source.delete(before, end)
    return source.delete(start, after)
