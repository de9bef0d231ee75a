"""Puts a decorator on a class or a member of one."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.javascript.operations._contents import nodes_in
from codeplane.languages.javascript.operations._fragments import FRAMES
from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._types import same_code
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.changes import with_newlines
from codeplane.languages.operations.fragments import fragment_error, fragment_node

_CLASSES: Final = ("class_declaration", "abstract_class_declaration", "class")
_FIELDS: Final = ("public_field_definition", "field_definition")
_MEMBERS: Final = ("method_definition", *_FIELDS)


def _check(arguments: Arguments) -> Sequence[str]:
    error = fragment_error("typescript", FRAMES, "decorator", _expression_of(arguments))
    return [f"`decorator`: {error}"] if error else []


def _expression_of(arguments: Arguments) -> str:
    return arguments.text("decorator").strip().removeprefix("@").strip()


@operation(
    version=1,
    target="definition",
    arguments=(
        Argument(
            "decorator", "text", "the decorator, as source text, with or without its `@`", is_required=True
        ),
        Argument(
            "position",
            "choice",
            "before or behind the other decorators, before as by default",
            choices=("outermost", "innermost"),
        ),
    ),
    check_arguments=_check,
)
def add_decorator(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Puts a decorator on a class, a method, an accessor or a field.

    It gets a line of its own, or stands in the line where the decorators of the file do.
    """
    refuse_unsafe(source)
    text = _expression_of(arguments)
    definition = _decorated_of(source, match.node)
    decorators = _decorators_of(definition)
    if any(same_code(source.text(one)[1:], text) for one in decorators):
        return Outcome()
    head = _head_of(source, definition, decorators)
    position = arguments.optional("position")
    anchor = decorators[0] if decorators and position != "innermost" else None
    start = anchor.start_byte if anchor is not None else head
    indent = source.indent_at(head)
    line = with_newlines(source, start, text, "" if _has_long_template(text) else indent)
    own_line = source.is_first_in_line(start) and _has_own_line(source, definition, decorators, head)
    gap = source.newline_at(start) + indent if own_line else " "
    edit = source.insert(start, f"@{line}{gap}")
    return Outcome([edit], [*_notes(source, definition, decorators, text), *generated_notes(source)])


def _has_long_template(text: str) -> bool:
    """Whether a template goes over several lines, whose blanks are part of it."""
    node = fragment_node("typescript", FRAMES["decorator"], text)
    templates = nodes_in(node, "template_string") if node is not None else ()
    return any(b"\n" in (one.text or b"") for one in templates)


def _decorated_of(source: Source, node: Node) -> Node:
    """What can have a decorator; refused for anything else."""
    value = node.child_by_field_name("value") or node.child_by_field_name("declaration")
    if node.type == "export_statement" and value is not None and value.type in _CLASSES:
        node = value
    if node.type in _CLASSES:
        return node
    name = node.child_by_field_name("name")
    in_class = node.parent is not None and node.parent.type == "class_body"
    if node.type not in _MEMBERS or not in_class:
        raise OperationRefused("Only classes and their methods, accessors and fields have decorators.", node)
    if name is not None and source.text(name) == "constructor":
        raise OperationRefused("A constructor has no decorators; decorate the class.", node)
    return node


def _decorators_of(definition: Node) -> list[Node]:
    """The decorators of a definition: inside of it, before its `export`, or before it in the class."""
    decorators = [child for child in definition.children if child.type == "decorator"]
    parent = definition.parent
    if parent is not None and parent.type == "export_statement":
        decorators = [*(child for child in parent.children if child.type == "decorator"), *decorators]
    if parent is not None and parent.type == "class_body":
        previous = definition.prev_sibling
        outer = []
        while previous is not None and previous.type in ("decorator", "comment"):
            outer += [previous] if previous.type == "decorator" else []
            previous = previous.prev_sibling
        decorators = [*reversed(outer), *decorators]
    return decorators


def _head_of(source: Source, definition: Node, decorators: Sequence[Node]) -> int:
    """Where a decorator goes that is to stand nearest: before `export`, unless others stand behind it."""
    parent = definition.parent
    own = [child for child in definition.children if child.type not in ("decorator", "comment")]
    if parent is None or parent.type != "export_statement":
        return own[0].start_byte
    is_behind = any(one.parent == definition for one in decorators)
    if is_behind or (not decorators and _stands_behind_export(source)):
        return own[0].start_byte
    return next(child.start_byte for child in parent.children if child.type == "export")


def _stands_behind_export(source: Source) -> bool:
    """Whether the file writes `export @d class`."""
    for node in source.root.children:
        inner = node.child_by_field_name("declaration") if node.type == "export_statement" else None
        if inner is not None and any(child.type == "decorator" for child in inner.children):
            return inner.type in _CLASSES
    return False


def _has_own_line(source: Source, definition: Node, decorators: Sequence[Node], head: int) -> bool:
    """Whether decorators of such definitions have lines of their own, by those that are there."""
    if decorators:
        return source.line_of(decorators[-1].end_byte) < source.line_of(head)
    lines = []
    for one in nodes_in(source.root, "decorator"):
        owner = _owner_of(one)
        if (
            owner is not None
            and (owner.type in _FIELDS) == (definition.type in _FIELDS)
            and ((owner.type in _CLASSES) == (definition.type in _CLASSES))
        ):
            lines.append(source.is_last_in_line(one.end_byte))
    return not lines or lines.count(True) * 2 >= len(lines)


def _owner_of(decorator: Node) -> Node | None:
    """What a decorator stands on."""
    parent = decorator.parent
    if parent is None or parent.type != "class_body":
        is_export = parent is not None and parent.type == "export_statement"
        return parent.child_by_field_name("declaration") if is_export and parent is not None else parent
    following = decorator.next_sibling
    while following is not None and following.type in ("decorator", "comment"):
        following = following.next_sibling
    return following


def _notes(source: Source, definition: Node, decorators: Sequence[Node], text: str) -> list[str]:
    notes = []
    for one in decorators:
        own = source.text(one)[1:]
        if own.partition("(")[0].strip() == text.partition("(")[0].strip():
            notes.append(f"`@{own}` is there with other arguments.")
    for one in _twins(source, definition):
        if _decorators_of(one):
            line = source.line_of(one.start_byte)
            notes.append(f"The other accessor of the property, at line {line}, has decorators too.")
    return notes


def _twins(source: Source, definition: Node) -> list[Node]:
    """The setter of a getter, and the getter of a setter."""
    name = definition.child_by_field_name("name")
    is_accessor = any(child.type in ("get", "set") for child in definition.children)
    if name is None or not is_accessor or definition.parent is None:
        return []
    siblings = [one for one in definition.parent.children if one.type == "method_definition"]
    names = [(one, one.child_by_field_name("name")) for one in siblings if one != definition]
    return [one for one, own in names if own is not None and source.text(own) == source.text(name)]
