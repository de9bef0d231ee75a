"""Adds a parameter to a function."""

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
from codeplane.languages.operations.signature_arguments import added_parameter, parameter_place_errors
from codeplane.languages.rust.operations._guards import lines_of, refuse_unsafe, with_newlines
from codeplane.languages.rust.operations._macro_view import facts_of, offset_of
from codeplane.languages.rust.operations._names import name_errors
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


def _check_places(arguments: Arguments) -> Sequence[str]:
    return [*name_errors(arguments, "name"), *parameter_place_errors(arguments)]


@operation(
    version=1,
    target="definition",
    arguments=added_parameter(
        position="first behind what a method is called on, or last, as by default", is_type_required=True
    ),
    check_arguments=_check_places,
)
def add_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Adds a parameter to a function or method; calls stay as they are."""
    function = function_of(match.node)
    refuse_unsafe(source)
    name, kind = arguments.text("name").strip(), arguments.text("type").strip()
    items, parameters = parameters_of(source, function)
    for one in parameters:
        if one.name is not None and source.text(one.name) == name:
            return _compare_existing(source, one, kind)
        if one.pattern is not None and name in _bound_names(source, one.pattern):
            raise OperationRefused(f"The pattern `{source.text(one.pattern)}` binds `{name}`.", one.node)
    refuse_fixed(source, function)
    _refuse_meanings(source, function, name)
    others = [source.text(one.type) for one in parameters if one.type is not None]
    is_elided = has_elided_lifetime(kind) and any(map(has_elided_lifetime, others))
    if is_elided and borrows_elided(source, function):
        raise OperationRefused(
            "The result borrows from the only reference among the parameters; name its lifetime first.",
            function,
        )
    index = _parameter_index(source, parameters, arguments)
    text = f"{name}: {with_newlines(source, function.start_byte, kind)}"
    texts = [source.slice(item.start, item.end) for item in items.items]
    texts.insert(index, text)
    edits = lay_out(source, function, items, texts) or items.insert(index, text)
    return Outcome(edits, signature_notes(source, function, name))


def _compare_existing(source: Source, parameter: Parameter, kind: str) -> Outcome:
    own = source.text(parameter.type) if parameter.type is not None else ""
    if "".join(own.split()) == "".join(kind.split()):
        return Outcome()
    raise OperationRefused(
        f"The function has another parameter of that name: `{source.text(parameter.node)}`.", parameter.node
    )


def _bound_names(source: Source, pattern: Node) -> set[str]:
    names, waiting = set(), [pattern]
    while waiting:
        node = waiting.pop()
        waiting += node.named_children
        if node.type in ("identifier", "shorthand_field_identifier"):
            names.add(source.text(node))
    return names


def _refuse_meanings(source: Source, function: Node, name: str) -> None:
    """Refuses a name by which the body means something outside of the function."""
    body = function.child_by_field_name("body")
    if body is None:
        return
    facts = facts_of(source)
    places = []
    for one in facts.named(name):
        offset = offset_of(source, one)
        if one.receiver or not one.target or not body.start_byte <= offset < body.end_byte:
            continue
        bind = facts.binds[one.target - 1]
        place = source.line_offset(bind.line) + bind.column
        is_inside = body.start_byte <= place < body.end_byte
        is_type = bind.reason.name == "DEFINITION" and name[:1].isupper()
        places += [] if is_inside or is_type else [offset]
    if places:
        raise OperationRefused(
            f"The body means something else by `{name}`, at {lines_of(source, places)}; take another name.",
            function,
        )


def _parameter_index(source: Source, parameters: Sequence[Parameter], arguments: Arguments) -> int:
    first = 1 if parameters and parameters[0].is_receiver else 0
    last = len(parameters) - (1 if parameters and parameters[-1].is_rest else 0)
    if arguments.optional("position") == "first":
        return first
    for key, distance in (("after", 1), ("before", 0)):
        neighbour = arguments.optional(key)
        if neighbour is None:
            continue
        for number, one in enumerate(parameters):
            if one.name is not None and source.text(one.name) == neighbour.strip():
                return number + distance
        raise OperationRefused(f"The function has no parameter `{neighbour}`.")
    return last
