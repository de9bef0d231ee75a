"""Adds a parameter to a function."""

from collections.abc import Sequence

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
from codeplane.languages.operations.bindings import facts_of, lines_of
from codeplane.languages.operations.changes import with_newlines
from codeplane.languages.operations.signature_arguments import added_parameter, parameter_place_errors
from codeplane.languages.python.operations._annotations import same_type, written_type
from codeplane.languages.python.operations._guards import refuse_unsafe
from codeplane.languages.python.operations._occurrences import outer_uses
from codeplane.languages.python.operations._signatures import (
    Parameter,
    decorator_names,
    docstring_of,
    documents_parameter,
    documents_parameters,
    function_of,
    is_method,
    parameters_of,
    refuse_type_comments,
)

_ACCESSORS = ("property", "cached_property", "setter", "deleter")


@operation(
    version=1,
    target="definition",
    arguments=(
        *added_parameter(
            Argument("default", "expression", "its default, as source text"),
            position="first of all, or last of those that are passed by position, as by default",
        ),
        Argument("keyword_only", "flag", "it is passed by name only: goes behind `*`, which is added"),
    ),
    check_arguments=parameter_place_errors,
)
def add_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Adds a parameter to a function; calls stay as they are."""
    function = function_of(match.node)
    name, default = arguments.text("name"), arguments.optional("default")
    refuse_unsafe(source, f"{name}{arguments.optional('type') or ''}{default or ''}")
    items, parameters = parameters_of(source, function)
    existing = next((one for one in parameters if one.is_named(source, name)), None)
    if existing is not None:
        return _compare_existing(source, existing, arguments)
    _refuse_unfit(source, function, name)
    index, is_marked = _parameter_index(source, function, parameters, arguments)
    text = _parameter_text(source, function, arguments)
    edits = items.insert(index, *(["*", text] if is_marked else [text]))
    return Outcome(edits, _parameter_notes(source, function, name, default))


def _parameter_text(source: Source, function: Node, arguments: Arguments) -> str:
    name, kind, default = arguments.text("name"), arguments.optional("type"), arguments.optional("default")
    text = f"{name}: {written_type(source, kind, function)}" if kind else name
    if default is None:
        return text
    value = with_newlines(source, function.start_byte, default.strip())
    return f"{text} = {value}" if kind else f"{text}={value}"


def _compare_existing(source: Source, parameter: Parameter, arguments: Arguments) -> Outcome:
    """Nothing to do where the parameter is as it should be; refused where it is another."""
    annotation = source.text(parameter.annotation) if parameter.annotation else ""
    default = source.text(parameter.default) if parameter.default else ""
    is_same = same_type(annotation, arguments.optional("type") or "") and same_type(
        default, arguments.optional("default") or ""
    )
    if is_same and not parameter.mark:
        return Outcome()
    raise OperationRefused(
        f"The function has another parameter of that name: `{source.text(parameter.node)}`."
    )


def _refuse_unfit(source: Source, function: Node, name: str) -> None:
    refuse_type_comments(source, function)
    if decorator_names(source, function) & set(_ACCESSORS):
        raise OperationRefused("What reads or writes an attribute takes no more parameters.", function)
    body = function.child_by_field_name("body")
    assert body is not None, "BUG: a function without a body"
    if uses := outer_uses(source, facts_of(source), name, body):
        raise OperationRefused(
            f"The body means something else by `{name}`, at {lines_of(source, uses)}; take another name.",
            function,
        )


def _parameter_index(
    source: Source, function: Node, parameters: Sequence[Parameter], arguments: Arguments
) -> tuple[int, bool]:
    """The index that the parameter gets, and whether `*` has to go before it."""
    star = next((number for number, one in enumerate(parameters) if one.mark == "*"), None)
    rest = next((number for number, one in enumerate(parameters) if one.mark == "**"), len(parameters))
    keyword_only = arguments.flag("keyword_only")
    first = 1 if parameters and is_method(source, function) and not parameters[0].mark else 0
    index = _asked_index(source, parameters, arguments, first)
    if index is None:
        index = rest if keyword_only else star if star is not None else rest
    if index > rest:
        raise OperationRefused("Nothing can stand behind `**`.", parameters[rest].node)
    if index < first:
        raise OperationRefused("Nothing can stand before the object of a method.", parameters[0].node)
    is_keyword = star is not None and index > star
    if keyword_only and not is_keyword and index < (star if star is not None else rest):
        raise OperationRefused("A parameter that is passed by name only has to stand behind `*`.", function)
    if not is_keyword and not keyword_only:
        _refuse_order(
            parameters, index, star if star is not None else rest, has_default="default" in arguments
        )
    return index, keyword_only and not is_keyword


def _asked_index(
    source: Source, parameters: Sequence[Parameter], arguments: Arguments, first: int
) -> int | None:
    if arguments.optional("position") == "first":
        return first
    for key, distance in (("after", 1), ("before", 0)):
        neighbour = arguments.optional(key)
        if neighbour is None:
            continue
        for number, one in enumerate(parameters):
            if one.is_named(source, neighbour):
                return number + distance
        raise OperationRefused(f"The function has no parameter `{neighbour}`.")
    return None


def _refuse_order(parameters: Sequence[Parameter], index: int, end: int, *, has_default: bool) -> None:
    """Refuses what Python does: a parameter without a default behind one that has it."""
    before = [one for one in parameters[:index] if one.name is not None]
    after = [one for one in parameters[index:end] if one.name is not None]
    if not has_default and any(one.default is not None for one in before):
        raise OperationRefused(
            "A parameter without a default can't stand behind one with a default; give it a default, or send"
            " `keyword_only`."
        )
    if has_default and any(one.default is None for one in after):
        raise OperationRefused(
            "A parameter with a default can't stand before one without; place it behind that, or send"
            " `keyword_only`."
        )


def _parameter_notes(source: Source, function: Node, name: str, default: str | None) -> list[str]:
    notes = []
    if default is not None and default.strip()[:1] in ("[", "{"):
        notes.append("The default is made once, and every call shares it.")
    docstring = docstring_of(source, function)
    if documents_parameters(docstring) and not documents_parameter(docstring, name):
        notes.append(f"The docstring describes parameters, and not `{name}`.")
    return notes
