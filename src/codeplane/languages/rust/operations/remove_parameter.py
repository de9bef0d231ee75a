"""Removes a parameter of a function."""

import re

from tree_sitter import Node

from codeplane.languages.operations import (
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.signature_arguments import removed_parameter
from codeplane.languages.rust.operations._guards import lines_of, refuse_unsafe
from codeplane.languages.rust.operations._macro_view import bind_at, facts_of, opaque_mentions, uses_of
from codeplane.languages.rust.operations._signatures import (
    Parameter,
    borrows_elided,
    function_of,
    has_elided_lifetime,
    lay_out,
    parameters_of,
    refuse_fixed,
    signature_notes,
)


@operation(
    version=1,
    target="definition",
    arguments=removed_parameter(),
)
def remove_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Removes a parameter with its attributes; calls stay as they are."""
    function = function_of(match.node)
    refuse_unsafe(source)
    name = arguments.text("name").strip()
    items, parameters = parameters_of(source, function)
    index = next(
        (at for at, one in enumerate(parameters) if one.name is not None and source.text(one.name) == name),
        None,
    )
    if index is None:
        _refuse_patterns(source, parameters, name)
        return Outcome()
    parameter = parameters[index]
    if not arguments.flag("force"):
        refuse_fixed(source, function)
        _refuse_used(source, function, parameter, name)
        _refuse_borrowed(source, function, parameter)
    texts = [source.slice(item.start, item.end) for at, item in enumerate(items.items) if at != index]
    edits = lay_out(source, function, items, texts)
    outcome = items.remove([index])
    notes = [*outcome.notes, *_generic_notes(source, function, parameter)]
    return Outcome(edits or outcome.edits, [*notes, *signature_notes(source, function, name)])


def _refuse_patterns(source: Source, parameters: list[Parameter], name: str) -> None:
    word = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    for one in parameters:
        if one.pattern is not None and one.name is None and word.search(source.text(one.pattern)):
            raise OperationRefused(
                f"`{name}` is a part of the pattern `{source.text(one.pattern)}`; change that by hand.",
                one.node,
            )


def _refuse_used(source: Source, function: Node, parameter: Parameter, name: str) -> None:
    body = function.child_by_field_name("body")
    if body is None:
        return
    assert parameter.name is not None, "BUG: a parameter without a name"
    facts = facts_of(source)
    bind = bind_at(source, facts, parameter.name)
    if bind is None:
        raise OperationRefused(f"Whether the body uses `{name}` can't be told; send `force`.", parameter.node)
    uses = [one for one in uses_of(source, facts, name, bind) if one != parameter.name.start_byte]
    uses += opaque_mentions(source, name, body.start_byte, body.end_byte)
    if uses:
        raise OperationRefused(
            f"The body uses `{name}` at {lines_of(source, uses)}; change that first, or send `force`.",
            parameter.node,
        )


def _refuse_borrowed(source: Source, function: Node, parameter: Parameter) -> None:
    kind = source.text(parameter.type) if parameter.type is not None else ""
    if has_elided_lifetime(kind) and borrows_elided(source, function):
        raise OperationRefused(
            "The result may borrow from it; name the lifetime of the result first, or send `force`.",
            parameter.node,
        )


def _generic_notes(source: Source, function: Node, parameter: Parameter) -> list[str]:
    """Remarks on type parameters that nothing but the parameter uses."""
    generics = function.child_by_field_name("type_parameters")
    if generics is None or parameter.type is None:
        return []
    notes = []
    for child in generics.named_children:
        name = child.child_by_field_name("name") or child
        text = source.text(name)
        word = re.compile(rf"(?<![\w']){re.escape(text)}(?!\w)")
        outside = source.slice(generics.end_byte, parameter.node.start_byte) + source.slice(
            parameter.node.end_byte, function.end_byte
        )
        if word.search(source.text(parameter.type)) and not word.search(outside):
            notes.append(f"Nothing else uses `{text}`.")
    return notes
