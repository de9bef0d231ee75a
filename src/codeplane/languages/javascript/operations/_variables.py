"""Variables and fields that can be given a type, by their names."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.javascript.operations._contents import nodes_in
from codeplane.languages.javascript.operations._signatures import PLAIN_FUNCTIONS
from codeplane.languages.operations import OperationRefused, Source

FIELDS: Final = ("public_field_definition", "property_signature")
_CLASSES: Final = ("class_declaration", "abstract_class_declaration", "class", "interface_declaration")
_BODIES: Final = (*PLAIN_FUNCTIONS, "arrow_function", "class_body")
_BINDING: Final = ("identifier", "shorthand_property_identifier_pattern")


def find_variable(source: Source, node: Node, name: str) -> Node:
    """The declarator, loop or catch clause that binds a variable; functions inside are left out."""
    start = node
    if node.type in _BODIES:
        start = node.child_by_field_name("body") or node
    elif (value := node.child_by_field_name("value")) is not None and value.type in _BODIES:
        start = value.child_by_field_name("body") or value
    kinds = ("variable_declarator", "for_in_statement", "catch_clause")
    matches = [one for one in nodes_in(start, *kinds, stops=_BODIES) if _binds(source, one, name)]
    return _single(source, matches, f"variable `{name}`", node)


def _binds(source: Source, node: Node, name: str) -> bool:
    pattern = bound_pattern(node)
    if pattern is None:
        return False
    return any(source.text(one) == name for one in nodes_in(pattern, *_BINDING))


def bound_pattern(node: Node) -> Node | None:
    """The name or the pattern that a declarator, a loop or a catch clause binds."""
    field = {"variable_declarator": "name", "for_in_statement": "left", "catch_clause": "parameter"}
    if node.type == "for_in_statement" and node.child_by_field_name("kind") is None:
        return None
    return node.child_by_field_name(field[node.type])


def find_field(source: Source, node: Node, name: str) -> Node:
    """The field of a class or an interface; a parameter of the constructor may make it."""
    if node.type not in _CLASSES:
        raise OperationRefused("The target is no class; name the class that has the field.", node)
    body = node.child_by_field_name("body")
    members = body.named_children if body is not None else []
    matches = [one for one in members if one.type in FIELDS and _field_name(source, one) == name]
    for member in members:
        if _field_name(source, member) == "constructor":
            matches += _parameter_fields(source, member, name)
    return _single(source, matches, f"field `{name}`", node)


def _parameter_fields(source: Source, constructor: Node, name: str) -> list[Node]:
    list_node = constructor.child_by_field_name("parameters")
    fields = []
    for one in list_node.named_children if list_node is not None else ():
        pattern = one.child_by_field_name("pattern")
        kinds = {child.type for child in one.children}
        is_field = kinds & {"accessibility_modifier", "readonly", "override_modifier"}
        if is_field and pattern is not None and source.text(pattern) == name:
            fields.append(one)
    return fields


def _field_name(source: Source, member: Node) -> str:
    name = member.child_by_field_name("name")
    return source.text(name).removeprefix("#") if name is not None else ""


def _single(source: Source, matches: Sequence[Node], label: str, node: Node) -> Node:
    if not matches:
        raise OperationRefused(f"There is no {label} in the target.", node)
    if len(matches) > 1:
        lines = ", ".join(str(source.line_of(one.start_byte)) for one in matches[:5])
        raise OperationRefused(f"There is more than one {label}, at lines {lines}.", node)
    return matches[0]
