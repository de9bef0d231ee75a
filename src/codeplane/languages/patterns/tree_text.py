"""Syntax trees as text: named nodes alone, with their fields, for whoever writes a pattern or a query."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.languages.operations.source import Source

_MOST_LINES: Final = 400
_LONGEST: Final = 60


def tree_lines(source: Source, line: int) -> list[str]:
    """The outermost nodes that begin in a line, with all that is in them, a line each."""
    lines: list[str] = []
    waiting = [(node, field, 0) for node, field in reversed(list(_nodes_beginning(source, line)))]
    while waiting and len(lines) < _MOST_LINES:
        node, field, depth = waiting.pop()
        lines.append("  " * depth + _shown_node(source, node, field))
        waiting += [(child, name, depth + 1) for child, name in reversed(list(_named_children(node)))]
    return [*lines, "…"] if waiting else lines


def _nodes_beginning(source: Source, line: int) -> Iterator[tuple[Node, str]]:
    """The outermost named nodes whose first byte is in a line, below the root."""
    waiting = list(reversed(list(_named_children(source.root))))
    while waiting:
        node, field = waiting.pop()
        first, last = source.line_of(node.start_byte), source.line_of(max(node.start_byte, node.end_byte - 1))
        if first == line:
            yield node, field
        elif first < line <= last:
            waiting += reversed(list(_named_children(node)))


def _named_children(node: Node) -> Iterator[tuple[Node, str]]:
    for number, child in enumerate(node.children):
        if child.is_named or child.is_missing:
            yield child, node.field_name_for_child(number) or ""


def _shown_node(source: Source, node: Node, field: str) -> str:
    label = f"{field}: {node.type}" if field else node.type
    if node.is_missing:
        return f"{label} (missing)"
    if any(child.is_named for child in node.children):
        return label
    text = source.text(node).partition("\n")[0]
    return f"{label} {text[:_LONGEST]!r}" if text else label
