"""Puts an attribute on an item."""

import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.fragments import fragment_error, fragment_node
from codeplane.languages.rust.operations._attributes import (
    attribute_path,
    attributed_node,
    attributes_of,
    is_listed,
    item_start,
)
from codeplane.languages.rust.operations._derives import add_derives
from codeplane.languages.rust.operations._fragments import FRAMES
from codeplane.languages.rust.operations._guards import (
    compact_text,
    generated_notes,
    refuse_unsafe,
    with_newlines,
)
from codeplane.languages.rust.operations._inner_attributes import add_inner_attribute

_BRACKETS: Final = re.compile(r"#\s*(!?)\s*\[(.*)\]\s*\Z", re.DOTALL)
# The compiler warns of a second one, or takes only one of them.
_SINGLE: Final = frozenset(
    "inline must_use deprecated path non_exhaustive no_mangle export_name link_name link_section cold test"
    " track_caller automatically_derived macro_export ignore should_panic".split()
)
_CONDITIONS: Final = ("cfg", "cfg_attr")


def _check_decorator(arguments: Arguments) -> Sequence[str]:
    error = fragment_error("rust", FRAMES, "attribute", _read_argument(arguments)[1])
    return [f"`decorator`: {error}"] if error else []


def _read_argument(arguments: Arguments) -> tuple[bool, str]:
    """Whether the attribute is an inner one, and what stands in its brackets."""
    text = arguments.text("decorator").strip()
    match = _BRACKETS.match(text)
    return (bool(match[1]), match[2].strip()) if match else (False, text)


@operation(
    version=1,
    target="definition",
    arguments=(
        Argument(
            "decorator", "text", "the attribute, as source text, with or without its `#[ ]`", is_required=True
        ),
        Argument(
            "position",
            "choice",
            "before all other attributes or behind them; by default conditions and derives go before",
            choices=("outermost", "innermost"),
        ),
    ),
    check_arguments=_check_decorator,
)
def add_decorator(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Puts an attribute on an item, a field, a variant, a parameter or a statement.

    Traits to derive go into a `derive` that is there; `#![…]` goes into the module or function itself.
    """
    refuse_unsafe(source)
    is_inner, text = _read_argument(arguments)
    attribute = fragment_node("rust", FRAMES["attribute"], text)
    assert attribute is not None, "BUG: the arguments were not checked"
    notes = generated_notes(source)
    if is_inner:
        return Outcome(add_inner_attribute(source, match.node, attribute, text), notes)
    if match.node.type == "source_file":
        raise OperationRefused("The file itself takes attributes of the form `#![…]` only.")
    node = attributed_node(match.node)
    attributes = attributes_of(node)
    if any(compact_text(one.named_children[0]) == compact_text(attribute) for one in attributes):
        return Outcome()
    path = text.partition("(")[0].strip()
    if path == "derive":
        outcome = add_derives(source, node, attributes, attribute)
        if outcome is not None:
            return Outcome(outcome.edits, [*outcome.notes, *(notes if outcome.edits else ())])
    same_path = [one for one in attributes if attribute_path(source, one) == path]
    if same_path and path in _SINGLE:
        raise OperationRefused(
            f"`{source.text(same_path[0])}` is there, and an item has only one of it.", same_path[0]
        )
    anchor = _anchor_node(source, node, attributes, path, arguments.optional("position"))
    notes += [
        f"`{source.text(one)}` is there with other arguments." for one in same_path if path != "cfg_attr"
    ]
    return Outcome([_insert_attribute(source, node, anchor, f"#[{text}]")], notes)


def _anchor_node(
    source: Source, node: Node, attributes: Sequence[Node], path: str, position: str | None
) -> Node:
    """What the attribute goes before: another one, or the item."""
    if not attributes or position == "innermost":
        return item_start(node)
    if position == "outermost" or path in _CONDITIONS:
        return attributes[0]
    if path == "derive":
        # Attributes behind it may be read by what it derives: `#[serde(…)]`.
        others = [one for one in attributes if attribute_path(source, one) not in _CONDITIONS]
        return others[0] if others else item_start(node)
    return item_start(node)


def _insert_attribute(source: Source, node: Node, anchor: Node, text: str) -> TextEdit:
    item = item_start(node)
    start = anchor.start_byte
    is_one_line = source.line_of(start) == source.line_of(item.start_byte) and anchor != item
    if is_listed(node) or is_one_line or not source.is_first_in_line(start):
        if "\n" in text:
            text = with_newlines(source, start, text, source.indent_at(start))
        return source.insert(start, f"{text} ")
    indent = source.indent_at(start)
    own_lines = with_newlines(source, start, text, indent)
    return source.insert(start, f"{own_lines}{source.newline_at(start)}{indent}")
