"""Where a file means a field, a method, a variant or a constant of one of its types."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from codeplane.languages.facts import Definition, Facts, Occurrence, Role
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.rust.operations._guards import lines_of
from codeplane.languages.rust.operations._macro_view import macro_view, offset_of

_OWNERS = ("struct", "enum", "impl", "trait")
_HOLDERS = ("struct_expression", "struct_pattern")


def owner_of(facts: Facts, definition: Definition) -> Definition | None:
    """The type, `impl` or trait that a definition is a member of."""
    parent = facts.definitions[definition.parent] if definition.parent >= 0 else None
    return parent if parent is not None and parent.kind in _OWNERS else None


def member_places(source: Source, facts: Facts, definition: Definition, new: str) -> list[int]:
    """The bytes at which a member is named; refused where a place may mean it or not."""
    owner = owner_of(facts, definition)
    assert owner is not None, "BUG: a member of nothing"
    if owner.kind == "trait" or (owner.kind == "impl" and owner.bases):
        raise OperationRefused(
            f"`{definition.name}` is of a trait, and so of all that implement it; rename it in the whole"
            " project."
        )
    _refuse_namesakes(facts, definition, owner.name, new)
    own = source.line_offset(definition.name_line) + definition.name_column
    places, unclear = [own], []
    for one in facts.named(definition.name):
        offset = offset_of(source, one)
        if one.role is Role.DEFINE or not one.receiver or facts.receivers[one.receiver - 1] == "=":
            if _is_bare_variant(source, definition, owner.name, one):
                unclear.append(offset)
            continue
        answer = _member_meaning(source, facts, definition, owner.name, one, offset)
        places += [offset] if answer else []
        unclear += [offset] if answer is None else []
    if definition.kind == "field":
        keys, others = _literal_keys(source, definition.name, owner.name)
        places, unclear = [*places, *keys], [*unclear, *others]
    if unclear:
        raise OperationRefused(
            f"`{definition.name}` at {lines_of(source, unclear)} may be this one or not; rename it in the"
            " whole project."
        )
    return places


def _refuse_namesakes(facts: Facts, definition: Definition, owner: str, new: str) -> None:
    for one in facts.definitions:
        other = owner_of(facts, one)
        if one is definition or other is None or other.name != owner:
            continue
        is_field = one.kind == "field"
        if one.name in (definition.name, new) and is_field == (definition.kind == "field"):
            raise OperationRefused(f"`{owner}` has another `{one.name}` at line {one.name_line}.")


def _is_bare_variant(source: Source, definition: Definition, owner: str, one: Occurrence) -> bool:
    """Whether a name may be a variant that is imported: `use self::E::*;`."""
    if definition.kind != "enum_member" or one.role is Role.DEFINE or one.target:
        return False
    return re.search(rb"\buse\b[^;]*\b" + owner.encode() + rb"\s*::", source.data) is not None


def _member_meaning(
    source: Source, facts: Facts, definition: Definition, owner: str, one: Occurrence, offset: int
) -> bool | None:
    """Whether an occurrence behind a path or an object is the member; None where that can't be told."""
    receiver = facts.receivers[one.receiver - 1]
    if source.data[:offset].rstrip().endswith(b"::"):
        last = receiver.rpartition("::")[2]
        if last == "Self":
            return _self_type(source, offset) == owner
        aliases = {alias.name for alias in facts.definitions if alias.kind == "type"}
        return None if last in aliases or "<" in receiver or not last else last == owner
    is_call = one.role is Role.CALL
    if is_call != (definition.kind == "method"):
        return False
    if receiver == "self":
        return _self_type(source, offset) == owner
    holder = [bind for bind in facts.binds if bind.name == receiver]
    types = {bind.type_name.removesuffix("()") for bind in holder}
    if types == {owner}:
        return True
    return None


def _self_type(source: Source, offset: int) -> str | None:
    """The type of the `impl` around a byte."""
    node = source.root.descendant_for_byte_range(offset, offset)
    while node is not None and node.type != "impl_item":
        node = node.parent
    kind = node.child_by_field_name("type") if node is not None else None
    if kind is not None and kind.type == "generic_type":
        kind = kind.child_by_field_name("type")
    return source.text(kind).rpartition("::")[2] if kind is not None else None


def _literal_keys(source: Source, name: str, owner: str) -> tuple[list[int], list[int]]:
    """Where literals and patterns of a structure name a field, and where they may."""
    places, unclear = [], []
    view = macro_view(source.data)
    for holder, key in _holders(view.root):
        if view.text(key) != name:
            continue
        kind = holder.child_by_field_name("name") or holder.child_by_field_name("type")
        if kind is not None and kind.type == "generic_type":
            kind = kind.child_by_field_name("type")
        last = view.text(kind).rpartition("::")[2].partition("<")[0] if kind is not None else ""
        if last == "Self":
            last = _self_type(view, key.start_byte) or ""
        if last == owner:
            places.append(key.start_byte)
        elif re.search(rb"\btype\s+" + last.encode() + rb"\b", source.data):
            unclear.append(key.start_byte)
    return places, unclear


def _holders(root: Node) -> Iterator[tuple[Node, Node]]:
    """Literals and patterns of structures, each with the name of one of its fields."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type not in ("field_initializer", "shorthand_field_initializer", "field_pattern"):
            continue
        holder = node.parent
        while holder is not None and holder.type not in _HOLDERS:
            holder = holder.parent
        key = node.child_by_field_name("field") or node.child_by_field_name("name")
        if key is None:
            key = next((child for child in node.named_children if child.type == "identifier"), None)
        if holder is not None and key is not None:
            yield holder, key
