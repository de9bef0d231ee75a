"""Where a file means a member of one of its classes, objects or enumerations."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.facts import MADE, Definition, Facts, Occurrence
from codeplane.languages.javascript.operations._contents import nodes_in
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.bindings import lines_of, offset_of

_OWNERS: Final = frozenset(
    ("class", "interface", "enum", "namespace", "variable", "constant", "type", "object")
)
_PRIVATE: Final = "private_property_identifier"
_CLASSES: Final = ("class_declaration", "abstract_class_declaration", "class")


def member_at(source: Source, facts: Facts, node: Node) -> int | None:
    """The number of the definition of a member whose name a node is; None for what is no member."""
    line = source.line_of(node.start_byte)
    place = (line, node.start_byte - source.line_offset(line))
    for number, one in enumerate(facts.definitions):
        is_here = (one.name_line, one.name_column) == place
        if is_here and one.parent >= 0 and facts.definitions[one.parent].kind in _OWNERS:
            return number
    return None


def private_uses(source: Source, node: Node) -> list[int]:
    """The bytes at which a private name of a class is meant."""
    owner: Node | None = node
    while owner is not None and owner.type not in _CLASSES:
        owner = owner.parent
    assert owner is not None, "BUG: a private name outside of a class"
    name = source.text(node)
    for inner in nodes_in(owner, *_CLASSES):
        body = inner.child_by_field_name("body")
        members = body.named_children if body is not None and inner != owner else []
        fields = [one.child_by_field_name("name") or one.child_by_field_name("property") for one in members]
        if any(one is not None and source.text(one) == name for one in fields):
            raise OperationRefused(f"A class inside of the class has a `{name}` too.", inner)
    return [one.start_byte for one in nodes_in(owner, _PRIVATE) if source.text(one) == name]


def member_uses(source: Source, facts: Facts, number: int) -> list[int]:
    """The bytes at which a member is meant; refused where some place may mean it or not."""
    member = facts.definitions[number]
    owner = facts.definitions[member.parent]
    _refuse_inheritance(facts, owner, member.name)
    pairs = [
        (index + 1, one)
        for index, one in enumerate(facts.definitions)
        if one.parent == member.parent and one.name == member.name
    ]
    numbers = {index for index, _ in pairs}
    definitions = {(one.name_line, one.name_column) for _, one in pairs}
    binds = {index + 1 for index, one in enumerate(facts.binds) if one.target + 1 in numbers}
    places, unclear = [], []
    for one in facts.named(member.name):
        is_definition = (one.line, one.column) in definitions
        is_bare = not one.receiver and one.target in binds
        if is_definition or is_bare or (one.receiver and _is_proven(facts, one, owner, numbers)):
            places.append(offset_of(source, one))
        elif one.receiver and not one.target:
            unclear.append(offset_of(source, one))
    if unclear:
        raise OperationRefused(
            f"`{member.name}` at {lines_of(source, unclear)} may be this one or not; rename it in the whole"
            " project."
        )
    return places


def _is_proven(facts: Facts, one: Occurrence, owner: Definition, numbers: set[int]) -> bool:
    """Whether a member is asked for on the owner itself, or on what is known to be of it."""
    if one.target in numbers:
        return True
    receiver = facts.receivers[one.receiver - 1]
    if sum(bind.name == owner.name for bind in facts.binds) != 1:
        return False
    if receiver in (owner.name, f"new {owner.name}()"):
        return True
    types = {
        bind.type_name.removesuffix(MADE) for bind in facts.binds if bind.name == receiver and bind.certain
    }
    return types == {owner.name}


def _refuse_inheritance(facts: Facts, owner: Definition, name: str) -> None:
    if owner.bases:
        raise OperationRefused(
            f"`{owner.name}` inherits from {_quoted_list(owner.bases)}, which may have a `{name}`; rename it"
            " in the whole project."
        )
    heirs = [one.name for one in facts.definitions if owner.name in one.bases]
    if heirs:
        raise OperationRefused(
            f"{_quoted_list(heirs)} inherits from `{owner.name}`; rename `{name}` in the whole project."
        )


def _quoted_list(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
