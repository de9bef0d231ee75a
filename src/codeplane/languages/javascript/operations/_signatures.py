"""The parameters of a function, and what is said of them around it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from codeplane.languages.facts import Role
from codeplane.languages.javascript.operations._contents import nodes_in
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.bindings import bind_at, facts_of, lines_of, offset_of
from codeplane.languages.operations.lists import SeparatedList, list_of

PLAIN_FUNCTIONS: Final = (
    "function_declaration",
    "generator_function_declaration",
    "function_expression",
    "generator_function",
    "method_definition",
)
SIGNATURES: Final = ("function_signature", "method_signature", "abstract_method_signature")
_FUNCTIONS: Final = (*PLAIN_FUNCTIONS, *SIGNATURES, "arrow_function")
_CLASSES: Final = ("class_declaration", "abstract_class_declaration", "class")
_VALUES: Final = ("value", "right", "declaration")
_STATEMENTS: Final = (
    "export_statement",
    "lexical_declaration",
    "variable_declaration",
    "variable_declarator",
    "expression_statement",
    "assignment_expression",
    "ambient_declaration",
    "pair",
)
_BINDING: Final = ("identifier", "shorthand_property_identifier_pattern")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function."""

    node: Node
    pattern: Node  # what it is bound by: a name, or what takes it apart
    annotation: Node | None  # with its colon
    default: Node | None
    is_rest: bool
    is_optional: bool  # `a?`
    is_field: bool  # with `private`, `readonly` or the like it is a field too

    def is_named(self, source: Source, name: str) -> bool:
        """Whether it is the parameter of a name."""
        return self.pattern.type == "identifier" and source.text(self.pattern) == name

    def binds(self, source: Source, name: str) -> bool:
        """Whether it binds a name, alone or out of an object or array."""
        return any(source.text(one) == name for one in nodes_in(self.pattern, *_BINDING))


@dataclass(frozen=True)
class Parameters:
    """The parameters of a function, in parentheses or alone before the arrow."""

    function: Node
    bare: Node | None
    items: SeparatedList | None
    entries: Sequence[Parameter]


def function_of(source: Source, node: Node) -> Node:
    """The function that a target is, or that it gets as its value; refused for anything else."""
    current: Node | None = node
    if node.type == "identifier" and node.parent is not None and node.parent.type == "variable_declarator":
        current = node.parent
    while current is not None:
        if current.type in _FUNCTIONS:
            return current
        if current.type in _CLASSES:
            name = current.child_by_field_name("name")
            own = source.text(name) if name is not None else "A"
            raise OperationRefused(f"The target is a class; name its method, as `{own}.constructor`.", node)
        current = next((one for field in _VALUES if (one := current.child_by_field_name(field))), None)
    raise OperationRefused("The target is no function; name the function, as `Class.method`.", node)


def parameters_of(source: Source, function: Node) -> Parameters:
    """The parameters of a function for edits, and what each of them is."""
    bare = function.child_by_field_name("parameter")
    if bare is not None:
        return Parameters(function, bare, None, [Parameter(bare, bare, None, None, False, False, False)])
    node = function.child_by_field_name("parameters")
    if node is None:
        raise OperationRefused("The function has no parameters that can be read.", function)
    items = list_of(source, node, trailing=True)
    return Parameters(function, None, items, [_parameter(item.node) for item in items.items])


def _parameter(node: Node) -> Parameter:
    pattern, annotation, default = node, None, None
    if node.type in ("required_parameter", "optional_parameter"):
        pattern = node.child_by_field_name("pattern") or node
        annotation, default = node.child_by_field_name("type"), node.child_by_field_name("value")
    elif node.type == "assignment_pattern":
        pattern, default = node.child_by_field_name("left") or node, node.child_by_field_name("right")
    is_rest = pattern.type == "rest_pattern"
    if is_rest:
        pattern = pattern.named_children[-1]
    is_field = any(
        one.type in ("accessibility_modifier", "override_modifier", "readonly") for one in node.children
    )
    return Parameter(node, pattern, annotation, default, is_rest, node.type == "optional_parameter", is_field)


def body_of(function: Node) -> Node | None:
    """The body of a function; none for an overload or what is only declared."""
    return function.child_by_field_name("body")


def refuse_accessor(function: Node) -> None:
    """Refuses what reads or writes a property: its parameters are what the language says."""
    kinds = {child.type for child in function.children}
    if kinds & {"get", "set"}:
        raise OperationRefused("A getter takes no parameters, a setter exactly one.", function)


def arguments_uses(source: Source, function: Node) -> list[int]:
    """Where a function reads `arguments`; an arrow function has those of the function around it."""
    if function.type == "arrow_function" or b"arguments" not in source.data:
        return []
    return [
        one.start_byte
        for one in nodes_in(function, "identifier", stops=PLAIN_FUNCTIONS)
        if source.text(one) == "arguments"
    ]


def is_strict_inside(source: Source, function: Node) -> bool:
    """Whether the body begins with `"use strict"`, which defaults and patterns can't stand before."""
    body = body_of(function)
    for child in body.named_children if body is not None else ():
        if child.type == "comment":
            continue
        if child.type != "expression_statement" or child.named_children[0].type != "string":
            return False
        if source.text(child.named_children[0])[1:-1] == "use strict":
            return True
    return False


def documentation_of(source: Source, function: Node) -> str:
    """The comment that documents a function, or nothing."""
    node = function
    while node.parent is not None and node.parent.type in _STATEMENTS:
        node = node.parent
    previous = node.prev_sibling
    while previous is not None and previous.type == "decorator":
        previous = previous.prev_sibling
    text = source.text(previous) if previous is not None and previous.type == "comment" else ""
    return text if text.startswith("/**") else ""


def documents_parameter(text: str, name: str) -> bool:
    """Whether a comment describes a parameter."""
    pattern = rf"@param\s+(?:\{{[^\n]*\}}\s*)?\[?{re.escape(name)}(?![\w$])"
    return re.search(pattern, text) is not None


def call_notes(source: Source, function: Node) -> list[str]:
    """What is said of overloads, and of places that hand the function on instead of calling it."""
    name = _name_of(function)
    if name is None:
        return []
    notes = []
    others = [one for one in _overloads(source, function, name) if one != function]
    if others:
        lines = lines_of(source, [one.start_byte for one in others])
        notes.append(f"Other signatures of `{source.text(name)}` at {lines} stay as they are.")
    facts = facts_of(source)
    bind = bind_at(source, facts, name) if name.type == "identifier" else None
    places = [
        offset_of(source, one)
        for one in (facts.named(source.text(name)) if bind is not None else ())
        if not one.receiver and one.target == (bind or 0) + 1 and one.role is Role.READ
    ]
    if places:
        notes.append(f"`{source.text(name)}` is handed on at {lines_of(source, places)}.")
    return notes


def _name_of(function: Node) -> Node | None:
    parent = function.parent
    if parent is not None and parent.type == "variable_declarator":
        return parent.child_by_field_name("name")
    return function.child_by_field_name("name")


def _overloads(source: Source, function: Node, name: Node) -> Iterator[Node]:
    node = function
    if node.parent is not None and node.parent.type in ("export_statement", "ambient_declaration"):
        node = node.parent
    for sibling in node.parent.children if node.parent is not None else ():
        inner = sibling.child_by_field_name("declaration") or sibling
        own = inner.child_by_field_name("name") if inner.type in _FUNCTIONS else None
        if (
            own is not None
            and source.text(own) == source.text(name)
            and (inner.type in SIGNATURES or function.type in SIGNATURES)
        ):
            yield inner
