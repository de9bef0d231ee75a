"""Puts a decorator on a function or class."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

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
from codeplane.languages.python.operations._fragments import FRAMES
from codeplane.languages.python.operations._guards import refuse_unsafe

_DEFINITIONS: Final = ("function_definition", "class_definition")
# They make something that is no function; what stands above them decorates that.
_DESCRIPTORS: Final = frozenset(
    "property cached_property staticmethod classmethod setter getter deleter abstractproperty".split()
)
_INNERMOST: Final = frozenset(("abstractmethod",))


def _check_decorator(arguments: Arguments) -> Sequence[str]:
    text = _expression_of(arguments)
    error = fragment_error("python", FRAMES, "decorator", text)
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
            "above all others or below them; by default above, but below what makes a property or a"
            " static method",
            choices=("outermost", "innermost"),
        ),
    ),
    check_arguments=_check_decorator,
)
def add_decorator(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Puts a decorator on a function or class, on a line of its own."""
    text = _expression_of(arguments)
    refuse_unsafe(source, text)
    definition = match.node
    if definition.type not in _DEFINITIONS:
        raise OperationRefused("Only functions and classes have decorators.", definition)
    decorators = _decorators_of(definition)
    if any(_same_text(_text_of(source, one), text) for one in decorators):
        return Outcome()
    anchor = _anchor_node(source, definition, decorators, text, arguments.optional("position"))
    indent = source.indent_at(definition.start_byte)
    if not source.is_first_in_line(anchor.start_byte):
        raise OperationRefused("The definition does not begin its line.", anchor)
    line = with_newlines(source, anchor.start_byte, text, _continuation_indent(text, indent))
    edit = source.insert(anchor.start_byte, f"@{line}{source.newline_at(anchor.start_byte)}{indent}")
    return Outcome([edit], _decorator_notes(source, decorators, text, arguments.optional("position")))


def _decorators_of(definition: Node) -> list[Node]:
    parent = definition.parent
    if parent is None or parent.type != "decorated_definition":
        return []
    return [child for child in parent.children if child.type == "decorator"]


def _text_of(source: Source, decorator: Node) -> str:
    return source.text(decorator.named_children[0])


def _same_text(one: str, other: str) -> bool:
    return "".join(one.split()) == "".join(other.split())


def _last_name(text: str) -> str:
    return text.partition("(")[0].strip().rpartition(".")[2]


def _anchor_node(
    source: Source, definition: Node, decorators: Sequence[Node], text: str, position: str | None
) -> Node:
    """What the decorator goes before: another one, or the definition."""
    if position == "innermost" or not decorators:
        return definition
    if position == "outermost":
        return decorators[0]
    if _last_name(text) in _INNERMOST:
        return definition
    if _last_name(text) in _DESCRIPTORS:
        return decorators[0]
    descriptors = [
        number for number, one in enumerate(decorators) if _last_name(_text_of(source, one)) in _DESCRIPTORS
    ]
    if not descriptors:
        return decorators[0]
    return (*decorators, definition)[descriptors[-1] + 1]


def _continuation_indent(text: str, indent: str) -> str:
    """How far lines behind the first are indented more: not at all where a string goes over them."""
    node = fragment_node("python", FRAMES["decorator"], text)
    waiting = [node] if node is not None else []
    while waiting:
        inner = waiting.pop()
        if inner.type == "string" and b"\n" in (inner.text or b""):
            return ""
        waiting += inner.children
    return indent


def _decorator_notes(
    source: Source, decorators: Sequence[Node], text: str, position: str | None
) -> list[str]:
    notes = []
    for one in decorators:
        own = _text_of(source, one)
        if own.partition("(")[0].strip() == text.partition("(")[0].strip():
            notes.append(f"`@{own}` is there with other arguments.")
        is_descriptor = _last_name(own) in _DESCRIPTORS and _last_name(text) not in _DESCRIPTORS
        if position == "outermost" and is_descriptor:
            notes.append(f"It decorates what `@{own}` makes, not the function.")
    return notes
