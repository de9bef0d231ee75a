"""Removes a parameter of a function."""

from collections.abc import Sequence

from tree_sitter import Node

from codeplane.languages.javascript.operations._contents import dynamic_code
from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._signatures import (
    Parameter,
    arguments_uses,
    body_of,
    call_notes,
    documentation_of,
    documents_parameter,
    function_of,
    parameters_of,
    refuse_accessor,
)
from codeplane.languages.operations import (
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.bindings import bind_at, facts_of, lines_of, uses_of
from codeplane.languages.operations.signature_arguments import removed_parameter


@operation(
    version=1,
    target="definition",
    arguments=removed_parameter(", without dots"),
)
def remove_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Removes a parameter of a function; calls stay as they are."""
    refuse_unsafe(source)
    function = function_of(source, match.node)
    name = arguments.text("name").strip()
    parameters = parameters_of(source, function)
    index = next(
        (number for number, one in enumerate(parameters.entries) if one.is_named(source, name)), None
    )
    if index is None:
        _refuse_pattern(source, parameters.entries, name)
        return Outcome()
    refuse_accessor(function)
    if not arguments.flag("force"):
        _refuse_used(source, function, parameters.entries[index], name)
    notes = [*generated_notes(source), *call_notes(source, function)]
    if documents_parameter(documentation_of(source, function), name):
        notes.append(f"The comment above describes `{name}`.")
    if parameters.items is None:
        bare = parameters.entries[index].node
        return Outcome([source.replace(bare.start_byte, bare.end_byte, "()")], notes)
    outcome = parameters.items.remove([index])
    return Outcome(outcome.edits, [*outcome.notes, *notes])


def _refuse_pattern(source: Source, entries: Sequence[Parameter], name: str) -> None:
    for one in entries:
        if one.binds(source, name):
            raise OperationRefused(
                f"`{name}` is taken out of another parameter, `{source.text(one.node)}`; change that.",
                one.node,
            )


def _refuse_used(source: Source, function: Node, parameter: Parameter, name: str) -> None:
    if parameter.is_field:
        raise OperationRefused(
            f"`{name}` is a field of the class too; remove its uses, then send `force`.", parameter.node
        )
    if body_of(function) is None:
        return
    facts = facts_of(source)
    bind = bind_at(source, facts, parameter.pattern)
    if bind is None:
        raise OperationRefused(f"Whether the body uses `{name}` can't be told; send `force`.", parameter.node)
    uses = [one for one in uses_of(source, facts, name, bind) if one != parameter.pattern.start_byte]
    if uses:
        raise OperationRefused(
            f"The function uses `{name}` at {lines_of(source, uses)}; change that first, or send `force`.",
            parameter.node,
        )
    if uses := arguments_uses(source, function):
        raise OperationRefused(
            f"The body reads `arguments` at {lines_of(source, uses)}; change that first, or send `force`.",
            parameter.node,
        )
    if places := dynamic_code(source, function):
        raise OperationRefused(
            f"Code at {lines_of(source, places)} may use `{name}` without naming it; send `force`.",
            parameter.node,
        )
