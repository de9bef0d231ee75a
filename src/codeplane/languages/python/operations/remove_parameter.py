"""Removes a parameter of a function."""

from collections.abc import Sequence

from tree_sitter import Node

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
from codeplane.languages.python.operations._guards import refuse_unsafe
from codeplane.languages.python.operations._occurrences import dynamic_reads
from codeplane.languages.python.operations._signatures import (
    Parameter,
    docstring_of,
    documents_parameter,
    function_of,
    is_method,
    parameters_of,
    refuse_type_comments,
)


@operation(
    version=1,
    target="definition",
    arguments=removed_parameter(", without stars"),
)
def remove_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Removes a parameter, with a `*` or `/` that nothing is left for; calls stay as they are."""
    function = function_of(match.node)
    refuse_unsafe(source)
    name = arguments.text("name")
    items, parameters = parameters_of(source, function)
    index = next((number for number, one in enumerate(parameters) if one.is_named(source, name)), None)
    if index is None:
        return Outcome()
    parameter = parameters[index]
    refuse_type_comments(source, function)
    if not arguments.flag("force"):
        if index == 0 and is_method(source, function) and not parameter.mark:
            raise OperationRefused(f"`{name}` is what the method is called on; send `force`.", parameter.node)
        _refuse_used(source, function, parameter, name)
    notes = []
    if documents_parameter(docstring_of(source, function), name):
        notes.append(f"The docstring describes `{name}`.")
    if parameter.mark == "*" and _has_keywords(parameters, index):
        return Outcome([items.replace(index, "*")], notes)
    outcome = items.remove([index, *_empty_marks(parameters, index)])
    return Outcome(outcome.edits, [*outcome.notes, *notes])


def _refuse_used(source: Source, function: Node, parameter: Parameter, name: str) -> None:
    facts = facts_of(source)
    assert parameter.name is not None, "BUG: a parameter without a name"
    bind = bind_at(source, facts, parameter.name)
    if bind is None:
        raise OperationRefused(f"Whether the body uses `{name}` can't be told; send `force`.", parameter.node)
    uses = [one for one in uses_of(source, facts, name, bind) if one != parameter.name.start_byte]
    if uses:
        raise OperationRefused(
            f"The body uses `{name}` at {lines_of(source, uses)}; change that first, or send `force`.",
            parameter.node,
        )
    body = function.child_by_field_name("body")
    reads = list(dynamic_reads(source, facts, body)) if body is not None else []
    if reads:
        raise OperationRefused(
            f"The body reads its variables without naming them at {lines_of(source, reads)}; send `force`.",
            parameter.node,
        )


def _has_keywords(parameters: Sequence[Parameter], index: int) -> bool:
    return any(one.mark != "**" for one in parameters[index + 1 :])


def _empty_marks(parameters: Sequence[Parameter], index: int) -> list[int]:
    """The `*` and `/` that no parameter is left for without the one of an index."""
    marks = []
    for number, one in enumerate(parameters):
        others = [at for at, each in enumerate(parameters) if at != index and each.name is not None]
        if one.name is None and one.mark == "/" and not any(at < number for at in others):
            marks.append(number)
        if one.name is None and one.mark == "*":
            keywords = [at for at in others if at > number and parameters[at].mark != "**"]
            marks += [] if keywords else [number]
    return marks
