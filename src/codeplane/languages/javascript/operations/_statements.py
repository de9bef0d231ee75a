"""Takes a statement out of a module with its lines."""

import re
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.javascript.operations._import_places import joins_next, owned_start
from codeplane.languages.javascript.operations._imports import statement_end
from codeplane.languages.operations import OperationRefused, Outcome, Source
from codeplane.languages.operations.source import BOM

_BLANK_AFTER: Final = re.compile(rb"(?:[ \t\f]*(?:\r\n|\n|\r))*")

# Statements that go on in the next line where no semicolon ends them.
_OPEN: Final = ("lexical_declaration", "variable_declaration", "expression_statement", "export_statement")


def remove_statement(source: Source, node: Node, *, is_first: bool) -> Outcome:
    """The edit that removes a statement with its lines, and the comments that belong to it."""
    _refuse_joining(source, node)
    end = statement_end(source, node)
    following = node.next_sibling
    while following is not None and following.type in (";", "empty_statement"):
        following = following.next_sibling
    shares_line = not source.is_first_in_line(node.start_byte)
    is_whole = end == node.end_byte
    if shares_line or (is_whole and following is not None and _begins_in_line(source, node, following)):
        return Outcome([_remove_in_line(source, node, following, shares_line=shares_line)])
    start = owned_start(source, node, is_first=is_first)
    edit = _remove_lines(source, start, source.next_line(end))
    return Outcome([edit], _comment_notes(source, node, edit))


def _begins_in_line(source: Source, node: Node, following: Node) -> bool:
    same_line = source.line_of(following.start_byte) == source.line_of(node.end_byte)
    return same_line and following.type != "comment"


def _remove_in_line(source: Source, node: Node, following: Node | None, *, shares_line: bool) -> TextEdit:
    if following is not None and _begins_in_line(source, node, following):
        return source.delete(node.start_byte, following.start_byte)
    start = node.start_byte
    while shares_line and source.data[start - 1 : start] in (b" ", b"\t"):
        start -= 1
    return source.delete(start, node.end_byte)


def _refuse_joining(source: Source, node: Node) -> None:
    """Refuses a removal after which the statement before would go on with the one behind."""
    previous = node.prev_sibling
    while previous is not None and previous.type == "comment":
        previous = previous.prev_sibling
    if previous is None or not joins_next(source, statement_end(source, node)):
        return
    inner = previous.child_by_field_name("declaration") or previous
    is_closed = source.data[previous.end_byte - 1 : previous.end_byte] == b";"
    if inner.type in _OPEN and not is_closed:
        line = source.line_of(previous.end_byte)
        raise OperationRefused(
            f"Without it, line {line} would go on with the code behind it; end line {line} with `;`.", node
        )


def _remove_lines(source: Source, start: int, end: int) -> TextEdit:
    """The edit that removes lines; blank lines on both sides do not pile up."""
    data = source.data
    match = _BLANK_AFTER.match(data, end)
    after = match.end() if match else end
    before = start
    while before and source.is_last_in_line(source.line_start(before - 1)):
        before = source.line_start(before - 1)
    first = len(BOM) if data.startswith(BOM) else 0
    if before <= first:
        return source.delete(max(before, first), after)
    if after == len(data):
        return source.delete(before if data.endswith((b"\n", b"\r")) else source.line_end(before - 2), after)
    if before == start or after == end:
        return source.delete(start, end)
    return source.delete(start, after)


def _comment_notes(source: Source, node: Node, edit: TextEdit) -> list[str]:
    start, end = source.span_of(edit)
    siblings = node.parent.children if node.parent is not None else []
    statement = " ".join(source.text(node).split())
    return [
        f"The comment `{source.text(one).strip()}` belongs to `{statement}` and goes with it."
        for one in siblings
        if one.type == "comment" and start <= one.start_byte < end
    ]
