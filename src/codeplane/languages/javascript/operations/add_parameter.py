"""Adds a parameter to a function."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.facts import Facts
from codeplane.languages.javascript.operations._contents import nodes_in
from codeplane.languages.javascript.operations._fragments import FRAMES
from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._signatures import (
    PLAIN_FUNCTIONS,
    Parameter,
    Parameters,
    arguments_uses,
    body_of,
    call_notes,
    documentation_of,
    documents_parameter,
    function_of,
    is_strict_inside,
    parameters_of,
    refuse_accessor,
)
from codeplane.languages.javascript.operations._types import refuse_untyped, same_code
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.bindings import facts_of, lines_of, offset_of
from codeplane.languages.operations.changes import with_newlines
from codeplane.languages.operations.fragments import fragment_node
from codeplane.languages.operations.signature_arguments import added_parameter, parameter_place_errors

_PLATFORM: Final = frozenset(
    "Array Boolean Date Error JSON Map Math Number Object Promise Proxy Reflect RegExp Set String Symbol URL"
    " WeakMap WeakSet arguments console decodeURIComponent document encodeURIComponent event exports fetch"
    " global globalThis history isNaN localStorage location module name navigator parseFloat parseInt process"
    " require self setInterval setTimeout clearTimeout structuredClone undefined window".split()
)


def _check(arguments: Arguments) -> Sequence[str]:
    errors = parameter_place_errors(arguments)
    if arguments.flag("optional") and "default" in arguments:
        errors.append("A parameter with a default is optional; send one of `optional` and `default`.")
    default = fragment_node("typescript", FRAMES["expression"], arguments.optional("default") or "0")
    waits = ("await_expression", "yield_expression")
    if default is not None and next(nodes_in(default, *waits, stops=PLAIN_FUNCTIONS), None) is not None:
        errors.append("`default`: a default can't wait.")
    return errors


@operation(
    version=1,
    target="definition",
    arguments=added_parameter(
        Argument("default", "expression", "its default, as source text"),
        Argument("optional", "flag", "it may be left out: `name?`; TypeScript only"),
        position="first of all, or last before `...rest`, as by default",
        type_note="; TypeScript only",
    ),
    check_arguments=_check,
)
def add_parameter(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Adds a parameter to a function; calls stay as they are."""
    refuse_unsafe(source)
    function = function_of(source, match.node)
    if arguments.optional("type") or arguments.flag("optional"):
        refuse_untyped(source)
    name = arguments.text("name").strip()
    parameters = parameters_of(source, function)
    existing = next((one for one in parameters.entries if one.binds(source, name)), None)
    if existing is not None:
        return _existing(source, existing, name, arguments)
    _refuse_unfit(source, function, name, arguments)
    index = _index(source, parameters, arguments)
    uses = arguments_uses(source, function) if index < len(parameters.entries) else []
    if uses:
        raise OperationRefused(
            f"The body counts on the order of `arguments` at {lines_of(source, uses)}; add it as the last.",
            function,
        )
    text = _text(source, function, arguments)
    if parameters.items is not None:
        edits = parameters.items.insert(index, text)
    else:
        bare = parameters.bare
        assert bare is not None, "BUG: no parameters at all"
        own = source.text(bare)
        both = f"({text}, {own})" if index == 0 else f"({own}, {text})"
        edits = [source.replace(bare.start_byte, bare.end_byte, both)]
    return Outcome(edits, _notes(source, function, name))


def _text(source: Source, function: Node, arguments: Arguments) -> str:
    name, kind, default = (
        arguments.text("name").strip(),
        arguments.optional("type"),
        arguments.optional("default"),
    )
    text = f"{name}?" if arguments.flag("optional") else name
    text += f": {with_newlines(source, function.start_byte, kind.strip())}" if kind else ""
    return f"{text} = {with_newlines(source, function.start_byte, default.strip())}" if default else text


def _existing(source: Source, parameter: Parameter, name: str, arguments: Arguments) -> Outcome:
    """Nothing to do where the parameter is as it should be; refused where it is another."""
    annotation = source.text(parameter.annotation).removeprefix(":") if parameter.annotation else ""
    default = source.text(parameter.default) if parameter.default else ""
    is_same = (
        parameter.is_named(source, name)
        and not parameter.is_rest
        and parameter.is_optional == arguments.flag("optional")
        and same_code(annotation, arguments.optional("type") or "")
        and same_code(default, arguments.optional("default") or "")
    )
    if is_same:
        return Outcome()
    raise OperationRefused(
        f"The function has another parameter of that name: `{source.text(parameter.node)}`.", parameter.node
    )


def _refuse_unfit(source: Source, function: Node, name: str, arguments: Arguments) -> None:
    refuse_accessor(function)
    body = body_of(function)
    if body is None:
        if "default" in arguments:
            raise OperationRefused("What is only declared has no defaults; send `optional`.", function)
        return
    if "default" in arguments and is_strict_inside(source, function):
        raise OperationRefused(
            'The body begins with "use strict", which a default can\'t stand before.', function
        )
    facts = facts_of(source)
    declarations, outer = _body_uses(source, facts, name, function, body)
    if declarations:
        raise OperationRefused(
            f"The body declares `{name}` at {lines_of(source, declarations)}; take another name.", function
        )
    if outer:
        raise OperationRefused(
            f"`{name}` means something else at {lines_of(source, outer)}; take another name.",
            function,
        )


def _body_uses(
    source: Source, facts: Facts, name: str, function: Node, body: Node
) -> tuple[list[int], list[int]]:
    """Where the body of a function declares a name for all of itself, and where it is another's."""
    declarations, outer = [], []
    for bind in facts.binds:
        at = offset_of(source, bind)
        scope = facts.scopes[bind.scope]
        start = source.line_offset(scope.span.start_line) + scope.span.start_column
        if (
            bind.name == name
            and body.start_byte <= at < body.end_byte
            and (function.start_byte <= start <= body.start_byte)
        ):
            declarations.append(at)
    for one in facts.named(name):
        at = offset_of(source, one)
        if one.receiver or not function.start_byte <= at < function.end_byte:
            continue
        if not one.target:
            outer += [at] if name in _PLATFORM else []
        elif not function.start_byte <= offset_of(source, facts.binds[one.target - 1]) < function.end_byte:
            outer.append(at)
    return declarations, outer


def _index(source: Source, parameters: Parameters, arguments: Arguments) -> int:
    """The index that the parameter gets."""
    entries = parameters.entries
    first = 1 if entries and entries[0].pattern.type == "this" else 0
    rest = next((number for number, one in enumerate(entries) if one.is_rest), len(entries))
    index = rest
    if arguments.optional("position") == "first":
        index = first
    for key, distance in (("after", 1), ("before", 0)):
        neighbour = arguments.optional(key)
        if neighbour is not None:
            index = _index_of(source, entries, neighbour) + distance
    if index > rest:
        raise OperationRefused(
            "Nothing can stand behind the parameter that takes the rest.", entries[rest].node
        )
    _refuse_order(entries, index, arguments)
    return index


def _index_of(source: Source, entries: Sequence[Parameter], name: str) -> int:
    for number, one in enumerate(entries):
        if one.is_named(source, name):
            return number
    raise OperationRefused(f"The function has no parameter `{name}`.")


def _refuse_order(entries: Sequence[Parameter], index: int, arguments: Arguments) -> None:
    """Refuses what TypeScript does: a parameter that is needed behind one that may be left out."""
    is_needed = not arguments.flag("optional") and "default" not in arguments
    if is_needed and any(one.is_optional for one in entries[:index]):
        raise OperationRefused(
            "A parameter that is needed can't stand behind an optional one; send `optional` or `default`."
        )
    later = [
        one for one in entries[index:] if not one.is_rest and not one.is_optional and one.default is None
    ]
    if arguments.flag("optional") and later:
        raise OperationRefused("An optional parameter can't stand before one that is needed.", later[0].node)


def _notes(source: Source, function: Node, name: str) -> list[str]:
    notes = [*generated_notes(source), *call_notes(source, function)]
    text = documentation_of(source, function)
    if "@param" in text and not documents_parameter(text, name):
        notes.append(f"The comment above describes parameters, and not `{name}`.")
    return notes
