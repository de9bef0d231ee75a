"""Adds traits to what an item derives."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import OperationRefused, Outcome, Source
from codeplane.languages.operations.lists import SeparatedList, list_of
from codeplane.languages.rust.operations._attributes import (
    arguments_of,
    attribute_path,
    conditional_derives,
)
from codeplane.languages.rust.operations._guards import changed_part, compact_text
from codeplane.languages.rust.operations._widths import MAX_WIDTH, display_width

_DERIVING: Final = ("struct_item", "enum_item", "union_item")
_STANDARD: Final = ("std", "core", "alloc")


class _Derive(NamedTuple):
    """A `derive` attribute with the traits that it names."""

    item: Node
    traits: Sequence[str]
    traits_list: SeparatedList | None  # None for a bare `#[derive]`


def add_derives(source: Source, node: Node, attributes: Sequence[Node], request: Node) -> Outcome | None:
    """The edits that put the traits of a `derive` into one that is there; None where there is none."""
    if node.type not in _DERIVING:
        raise OperationRefused("Only structures, enumerations and unions derive traits.", node)
    tree = request.child_by_field_name("arguments")
    wanted = _trait_names(tree) if tree is not None else []
    derives = [_read_derive(source, one) for one in attributes if attribute_path(source, one) == "derive"]
    for item in attributes:
        _refuse_conditional(source, item, wanted)
    missing, notes = [], []
    for name in wanted:
        same = [trait for one in derives for trait in one.traits if _is_same_trait(trait, name)]
        if not same:
            missing.append(name)
        elif same[0] != name:
            notes.append(f"`{same[0]}` is derived.")
    if not missing and wanted:
        return Outcome((), notes)
    if not derives:
        return None
    return Outcome(_merge_traits(source, derives[-1], missing), notes)


def _trait_names(tree: Node) -> list[str]:
    names, current = [], ""
    for child in tree.children[1:-1]:
        if child.type == ",":
            names.append(current)
            current = ""
        else:
            current += compact_text(child)
    return [name for name in (*names, current) if name]


def _read_derive(source: Source, item: Node) -> _Derive:
    tree = arguments_of(item)
    if tree is None:
        return _Derive(item, [], None)
    return _Derive(item, _trait_names(tree), list_of(source, tree, trailing=True))


def _refuse_conditional(source: Source, item: Node, wanted: Sequence[str]) -> None:
    for trait in conditional_derives(source, item):
        if trait.rpartition("::")[2] in {name.rpartition("::")[2] for name in wanted}:
            raise OperationRefused(f"`{trait}` is derived under a condition: `{source.text(item)}`.", item)


def _is_same_trait(present: str, wanted: str) -> bool:
    """Whether two paths name one trait; refused where that depends on what is imported."""
    own, other = present.removeprefix("::").split("::"), wanted.removeprefix("::").split("::")
    if own[-1] != other[-1] or (len(own) > 1 and len(other) > 1):
        return own == other
    prefix = own[:-1] or other[:-1]
    if not prefix or prefix[0] in _STANDARD:
        return True
    raise OperationRefused(f"`{present}` is derived; whether `{wanted}` is the same trait can't be told.")


def _merge_traits(source: Source, derive: _Derive, names: Sequence[str]) -> list[TextEdit]:
    items = derive.traits_list
    if items is None:
        path = next(child for child in derive.item.named_children if child.type == "attribute")
        return [source.insert(path.end_byte, f"({', '.join(names)})")]
    edits = items.insert(len(items.items), *names)
    item, start = derive.item, source.line_start(derive.item.start_byte)
    is_line = source.line_of(item.start_byte) == source.line_of(item.end_byte)
    before = source.slice(start, item.end_byte)
    if not is_line or items.comments or display_width(before) > MAX_WIDTH or not items.closing:
        return edits
    after = before + ", ".join(("", *names))
    if display_width(after) <= MAX_WIDTH or not source.is_first_in_line(item.start_byte):
        return edits
    # The line was short enough, and is not any more: one trait a line.
    assert items.opening is not None, "BUG: a list without brackets"
    newline, indent = source.newline_at(item.start_byte), source.indent_at(item.start_byte)
    inner = newline + indent + source.indent_unit
    text = "".join(f"{inner}{name}," for name in (*derive.traits, *names)) + newline + indent
    return changed_part(source, items.opening.end_byte, items.closing.start_byte, text)
