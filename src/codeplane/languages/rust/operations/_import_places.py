"""Where a `use` declaration goes in a module."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import Source
from codeplane.languages.operations.source import BOM
from codeplane.languages.rust.operations._declarations import (
    DECLARATIONS,
    Declaration,
    groups_of,
    lists_of,
)
from codeplane.languages.rust.operations._guards import COMMENTS, with_newlines
from codeplane.languages.rust.operations._inner_attributes import inner_head
from codeplane.languages.rust.operations._use_order import Compare, order_of, orders_by

_STANDARD: Final = ("std", "core", "alloc")
_LOCAL: Final = {"crate": 2, "self": 3, "super": 4}
_FIRST_ITEMS: Final = (*DECLARATIONS, "mod_item", "attribute_item", "inner_attribute_item", *COMMENTS)


def place_declaration(
    source: Source, body: Node, declarations: Sequence[Declaration], new: Declaration, text: str
) -> TextEdit:
    """The edit that puts a declaration into its group, into a group of its own, or before all items."""
    own = [one for one in _first_declarations(body, declarations) if one.is_extern == new.is_extern]
    groups = groups_of(source, own)
    if not groups:
        return _insert_first(source, body, declarations, new, text)
    group = _best_group(groups, new)
    if group is not None:
        orders = orders_by(lists_of(declarations))
        return _insert_into_group(source, group, new, text, orders)
    rank = _class_of(new)
    for group in groups:
        if _class_of(group[0]) > rank and group[0].head == new.head:
            start = source.line_start(group[0].first.start_byte)
            newline = source.newline_at(start)
            return _insert_lines(source, start, text, group[0].node, newline)
    last = groups[-1][-1]
    return _insert_behind(source, last.node, text, source.newline_at(last.node.start_byte))


def _first_declarations(body: Node, declarations: Sequence[Declaration]) -> Sequence[Declaration]:
    """The declarations before the first other item, or all where there are none."""
    first = next(
        (child.start_byte for child in body.named_children if _is_other_item(child)),
        body.end_byte,
    )
    return [one for one in declarations if one.node.start_byte < first] or declarations


def _is_other_item(node: Node) -> bool:
    is_module = node.type == "mod_item" and node.child_by_field_name("body") is not None
    return is_module or node.type not in (*_FIRST_ITEMS, "shebang")


def _class_of(one: Declaration) -> int:
    first = one.tree.path[0] if one.tree.path else ""
    return 0 if first in _STANDARD else _LOCAL.get(first, 1)


def _best_group(groups: Sequence[list[Declaration]], new: Declaration) -> list[Declaration] | None:
    """The group with the declaration that is nearest to a new one."""
    ranked = [(max(_nearness(one, new) for one in group), at) for at, group in enumerate(groups)]
    best, at = max(ranked, key=lambda pair: (pair[0], -pair[1]))
    if best >= (1, 1) or (best >= (1, 0) and len(groups) == 1 and _is_mixed(groups[0])):
        return groups[at]
    if (
        best == (0, 1)
        and new.head != "use"
        and all(one.head != new.head for group in groups for one in group)
    ):
        return None
    is_open = _is_mixed(groups[0])
    return groups[at] if len(groups) == 1 and is_open and best[0] else None


def _is_mixed(group: Sequence[Declaration]) -> bool:
    return len({_class_of(one) for one in group}) > 1


def _nearness(one: Declaration, new: Declaration) -> tuple[int, int]:
    """Whether both are as public as the other; the names that their paths begin with, one class as one."""
    shared = 0
    for mine, theirs in zip(one.tree.path, new.tree.path, strict=False):
        if mine != theirs:
            break
        shared += 1
    is_local = _class_of(one) >= 2 and _class_of(new) >= 2
    is_class = _class_of(one) == _class_of(new)
    return int(one.head == new.head), shared + 2 if shared else 2 * is_class or int(is_local)


def _insert_into_group(
    source: Source, group: Sequence[Declaration], new: Declaration, text: str, orders: Sequence[Compare]
) -> TextEdit:
    compare = order_of([one.tree for one in group], orders)
    if compare is not None:
        for one in group:
            if compare(one.tree, new.tree) > 0:
                return _insert_lines(source, source.line_start(one.first.start_byte), text, one.node, "")
        return _insert_behind(source, group[-1].node, text, "")
    nearest = max(range(len(group)), key=lambda at: (_nearness(group[at], new), at))
    return _insert_behind(source, group[nearest].node, text, "")


def _insert_lines(source: Source, start: int, text: str, neighbour: Node, gap: str) -> TextEdit:
    if start == 0 and source.data.startswith(BOM):
        start = len(BOM)
    indent, newline = source.indent_at(neighbour.start_byte), source.newline_at(neighbour.start_byte)
    lines = with_newlines(source, neighbour.start_byte, text, indent)
    return source.insert(start, f"{indent}{lines}{newline}{gap}")


def _insert_behind(source: Source, neighbour: Node, text: str, gap: str) -> TextEdit:
    indent, newline = source.indent_at(neighbour.start_byte), source.newline_at(neighbour.start_byte)
    lines = with_newlines(source, neighbour.start_byte, text, indent)
    end = neighbour.end_byte
    rest = source.data[end : source.line_end(end)].lstrip()
    if not rest or rest.startswith((b"//", b"/*")):
        end = source.line_end(end)
    return source.insert(end, f"{newline}{gap}{indent}{lines}")


def _insert_first(
    source: Source, body: Node, declarations: Sequence[Declaration], new: Declaration, text: str
) -> TextEdit:
    """The edit that puts the first declaration of its kind behind the head of a module."""
    if declarations and not new.is_extern:
        last = next(one for one in reversed(declarations) if one.is_extern)
        return _insert_apart(source, body, last.node, text)
    is_file = body.type == "source_file"
    children = body.children if is_file else body.children[1:-1]
    head = inner_head(source, children) or (_file_comments(source, children) if is_file else [])
    if head:
        return _insert_apart(source, body, head[-1], text)
    if not is_file:
        return _insert_into_body(source, body, text)
    start = len(BOM) if source.data.startswith(BOM) else 0
    newline = source.newline
    if _is_lone_shebang(source):
        return source.insert(len(source.data), newline * 2 + with_newlines(source, start, text))
    lines = with_newlines(source, start, text) + newline
    if not source.data[start:].strip():
        return source.replace(start, len(source.data), lines)
    is_apart = source.is_last_in_line(start)
    return source.insert(start, lines if is_apart else lines + newline)


def _is_lone_shebang(source: Source) -> bool:
    """Whether a file is a shebang without a line end, which the grammar does not read as one."""
    data = source.data.removeprefix(BOM)
    return data.startswith(b"#!") and b"\n" not in data and not data[2:].lstrip().startswith(b"[")


def _file_comments(source: Source, children: Sequence[Node]) -> list[Node]:
    """The comments at the beginning of a file that a blank line parts from what follows."""
    last = -1
    for at, child in enumerate(children):
        text = source.data[child.start_byte : child.end_byte]
        is_doc = text.startswith((b"///", b"/**")) and not text.startswith((b"////", b"/***"))
        if child.type not in COMMENTS or is_doc:
            break
        end = child.start_byte + len(text.rstrip())
        following = children[at + 1].start_byte if at + 1 < len(children) else len(source.data)
        if source.data.count(b"\n", end, following) > 1 or at + 1 == len(children):
            last = at
    return list(children[: last + 1])


def _insert_apart(source: Source, body: Node, before: Node, text: str) -> TextEdit:
    """Behind a node, with blank lines around."""
    newline = source.newline_at(before.start_byte)
    indent = source.indent_at(before.start_byte)
    end = before.start_byte + len(source.data[before.start_byte : before.end_byte].rstrip())
    end = source.line_end(end)
    lines = with_newlines(source, before.start_byte, text, indent)
    closing = len(source.data) if body.type == "source_file" else body.end_byte - 1
    rest = source.data[end:closing]
    is_apart = not rest.strip() or rest.replace(b"\r", b"").replace(b" ", b"").startswith(b"\n\n")
    return source.insert(end, f"{newline}{newline}{indent}{lines}{'' if is_apart else newline}")


def _insert_into_body(source: Source, body: Node, text: str) -> TextEdit:
    newline, outer = source.newline_at(body.start_byte), source.indent_at(body.start_byte)
    indent = outer + source.indent_unit
    lines = with_newlines(source, body.start_byte, text, indent)
    start = body.start_byte + 1
    if source.line_of(body.start_byte) == source.line_of(body.end_byte):
        if body.named_child_count:
            return source.insert(start, f" {lines}")
        return source.replace(start, body.end_byte - 1, f"{newline}{indent}{lines}{newline}{outer}")
    gap = newline if source.data[start : body.end_byte - 1].strip() else ""
    return source.insert(start, f"{newline}{indent}{lines}{gap}")
