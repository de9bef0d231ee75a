"""Puts an attribute into a module, a function or a file: `#![…]`."""

from collections.abc import Sequence

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.source import BOM
from codeplane.languages.rust.operations._guards import COMMENTS, compact_text, with_newlines


def add_inner_attribute(source: Source, node: Node, attribute: Node, text: str) -> list[TextEdit]:
    """The edits that put an inner attribute behind those that are there; none where it is one of them."""
    children = _inner_children(node)
    head = inner_head(source, children)
    for child in children:
        if child.type == "inner_attribute_item" and compact_text(child.named_children[0]) == compact_text(
            attribute
        ):
            return []
    line = f"#![{text}]"
    if head:
        last = head[-1]
        indent = source.indent_at(last.start_byte)
        line = with_newlines(source, last.start_byte, line, indent)
        if last.type == "inner_attribute_item" and source.is_last_in_line(last.end_byte):
            return [source.insert(last.end_byte, source.newline_at(last.start_byte) + indent + line)]
        return [_insert_behind(source, last, indent, line)]
    if node.type == "source_file":
        return [_insert_at_top(source, line)]
    body = node.child_by_field_name("body")
    assert body is not None, "BUG: an item without a body has inner attributes"
    start = body.start_byte + 1
    indent = source.indent_at(node.start_byte)
    newline = source.newline_at(body.start_byte)
    if source.line_of(body.start_byte) == source.line_of(body.end_byte):
        if body.named_child_count:
            return [source.insert(start, f" {line}")]
        return [
            source.replace(
                start, body.end_byte - 1, f"{newline}{indent}{source.indent_unit}{line}{newline}{indent}"
            )
        ]
    line = with_newlines(source, start, line, indent + source.indent_unit)
    return [source.insert(start, f"{newline}{indent}{source.indent_unit}{line}")]


def _inner_children(node: Node) -> Sequence[Node]:
    if node.type == "source_file":
        return node.children
    body = node.child_by_field_name("body")
    if node.type not in ("mod_item", "function_item", "impl_item") or body is None:
        raise OperationRefused("Only modules, functions and `impl` blocks with a body take `#![…]`.", node)
    return body.children[1:-1]


def inner_head(source: Source, children: Sequence[Node]) -> list[Node]:
    """The shebang, inner documentation and inner attributes at the beginning, comments between them."""
    last = -1
    for at, child in enumerate(children):
        if child.type in ("inner_attribute_item", "shebang") or is_inner_doc(source, child):
            last = at
        elif child.type not in COMMENTS:
            break
    return list(children[: last + 1])


def is_inner_doc(source: Source, node: Node) -> bool:
    """Whether a comment documents what it stands in: `//!`, `/*! */`."""
    return node.type in COMMENTS and source.data[node.start_byte + 2 : node.start_byte + 3] == b"!"


def _insert_behind(source: Source, last: Node, indent: str, line: str) -> TextEdit:
    newline = source.newline_at(last.start_byte)
    end = last.start_byte + len(source.data[last.start_byte : last.end_byte].rstrip())
    before = newline if "comment" in last.type else ""
    rest = source.data[end:]
    is_apart = not rest.strip() or rest.startswith((b"\n\n", b"\r\n\r\n"))
    after = "" if is_apart or last.type == "inner_attribute_item" else newline
    return source.insert(end, newline + before + indent + line + after)


def _insert_at_top(source: Source, line: str) -> TextEdit:
    start = len(BOM) if source.data.startswith(BOM) else 0
    newline = source.newline
    gap = newline if source.data[start:].strip() else ""
    return source.insert(start, with_newlines(source, start, line) + newline + gap)
