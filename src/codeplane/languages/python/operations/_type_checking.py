"""Imports for types alone, in the block of a file that only type checkers read."""

from collections.abc import Sequence

from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.changes import with_newlines
from codeplane.languages.python.import_blocks import ImportStatement, head_nodes, import_groups
from codeplane.languages.python.placement import (
    IsOurs,
    merge_name,
    merge_target,
    place_name,
    place_statement,
)
from codeplane.languages.rules.carrying import Wanted

_FLAG = "TYPE_CHECKING"


def type_checking_block(source: Source) -> Node | None:
    """The body of the first `if TYPE_CHECKING:` of a module."""
    for node in source.root.children:
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        if condition is not None and source.text(condition).rpartition(".")[2] == _FLAG:
            return node.child_by_field_name("consequence")
    return None


def place_for_types(source: Source, text: str, names: Sequence[Wanted], is_ours: IsOurs) -> bytes:
    """The bytes of a file that imports some names for type checkers alone."""
    block = type_checking_block(source)
    if block is None:
        return _with_block(source, text, is_ours)
    if source.line_of(block.start_byte) == source.line_of(block.parent.start_byte if block.parent else 0):
        raise OperationRefused("The body of `if TYPE_CHECKING:` stands in the line of its condition.", block)
    data = source.data
    for item in names:
        current = Source(source.language, data, source.path)
        data = _with_name(current, item, text if len(names) == 1 else None, is_ours)
    return data


def _with_name(source: Source, item: Wanted, text: str | None, is_ours: IsOurs) -> bytes:
    block = type_checking_block(source)
    assert block is not None, "BUG: the block is gone"
    groups = import_groups(source, block.children)
    statements = [one for group in groups for one in group]
    target = merge_target(statements, item)
    if target is not None:
        return source.apply(merge_name(source, target, item))
    indent = source.indent_at(block.start_byte)
    line = with_newlines(source, block.start_byte, text or _text_of(item), indent)
    if groups:
        return source.apply(place_statement(source, groups, line, item, is_ours))
    first = block.named_children[0]
    if first.type == "pass_statement" and block.named_child_count == 1:
        return source.apply([source.replace(first.start_byte, first.end_byte, line)])
    newline = source.newline_at(first.start_byte)
    return source.apply([source.insert(first.start_byte, line + newline + indent)])


def _text_of(item: Wanted) -> str:
    name = f"{item.name} as {item.alias}" if item.alias else item.name
    return f"import {name}" if item.module is None else f"from {item.module} import {name}"


def _with_block(source: Source, text: str, is_ours: IsOurs) -> bytes:
    """The bytes of a file with a new block behind its imports."""
    condition = _spelled_flag(_head_imports(source))
    if condition is None:
        data = source.apply(place_name(source, Wanted("typing", _FLAG), is_ours))
        source, condition = Source(source.language, data, source.path), _FLAG
    nodes = [node for node in head_nodes(source) if node.type not in ("comment", ";", "expression_statement")]
    last = nodes[-1]
    end = source.next_line(last.end_byte)
    newline = source.newline_at(last.start_byte)
    lines = with_newlines(source, last.start_byte, text, source.indent_unit)
    block = f"{newline}if {condition}:{newline}{source.indent_unit}{lines}"
    if end == len(source.data) and not source.data.endswith((b"\n", b"\r")):
        return source.data + (newline + block).encode()
    has_gap = end == len(source.data) or source.is_last_in_line(end)
    return source.apply([source.insert(end, block + newline + ("" if has_gap else newline))])


def _head_imports(source: Source) -> list[ImportStatement]:
    return [one for group in import_groups(source, head_nodes(source)) for one in group]


def _spelled_flag(statements: Sequence[ImportStatement]) -> str | None:
    """The flag as a file can spell it; None where it has to be imported."""
    for one in statements:
        for name in one.names:
            if one.module in ("typing", "typing_extensions") and name.name == _FLAG:
                return name.local
    takes_names = any(one.module == "typing" for one in statements)
    for one in statements:
        for name in one.names:
            if one.module is None and name.name == "typing" and not takes_names:
                return f"{name.local}.{_FLAG}"
    return None
