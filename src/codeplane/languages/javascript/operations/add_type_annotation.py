"""Gives a parameter, a result, a variable or a field its type."""

from typing import Final

from tree_sitter import Node

from codeplane.languages.javascript.operations._guards import generated_notes, refuse_unsafe
from codeplane.languages.javascript.operations._signatures import function_of, parameters_of
from codeplane.languages.javascript.operations._types import refuse_untyped, same_code, type_annotation
from codeplane.languages.javascript.operations._variables import (
    FIELDS,
    bound_pattern,
    find_field,
    find_variable,
)
from codeplane.languages.operations import (
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.fragments import Frame, fragment_node
from codeplane.languages.operations.signature_arguments import annotated_places, type_place_errors

_VALUE: Final = Frame("let a: ", ";")
_PARAMETERS: Final = ("required_parameter", "optional_parameter")
_BINDERS: Final = ("variable_declarator", "for_in_statement", "catch_clause")


@operation(
    version=1,
    target="definition",
    arguments=annotated_places(variable="file or function", field="class or interface that gets it"),
    check_arguments=type_place_errors,
)
def add_type_annotation(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Gives a parameter, a result, a variable or a field its type; TypeScript only.

    A variable or a field that is the target itself gets it where nothing else is named.
    """
    refuse_untyped(source)
    refuse_unsafe(source)
    node = match.node
    if name := (arguments.optional("parameter") or "").strip():
        outcome = _annotate_parameter(source, node, name, arguments)
    elif name := (arguments.optional("variable") or "").strip():
        outcome = _annotate_variable(source, find_variable(source, node, name), arguments, name)
    elif name := (arguments.optional("field") or "").strip():
        outcome = _annotate_field(source, find_field(source, node, name), arguments)
    else:
        outcome = _annotate_target(source, node, arguments)
    notes = generated_notes(source) if outcome.edits else []
    return Outcome(outcome.edits, [*outcome.notes, *notes])


def _annotate_target(source: Source, node: Node, arguments: Arguments) -> Outcome:
    """The type of what the target is: a function's result, a variable, a field."""
    declarator = node
    if node.type == "identifier" and node.parent is not None and node.parent.type in _BINDERS:
        declarator = node.parent
    value = declarator.child_by_field_name("value")
    is_function = value is not None and value.type in ("arrow_function", "function_expression")
    if not arguments.flag("returns") and not is_function:
        if declarator.type in _BINDERS:
            return _annotate_variable(source, declarator, arguments, "")
        if node.type in FIELDS:
            return _annotate_field(source, node, arguments)
    return _annotate_result(source, function_of(source, node), arguments)


def _annotate_result(source: Source, function: Node, arguments: Arguments) -> Outcome:
    text = type_annotation(source, function.start_byte, arguments.text("type"))
    kinds = {child.type for child in function.children}
    name = function.child_by_field_name("name")
    if (name is not None and source.text(name) == "constructor") or "set" in kinds:
        raise OperationRefused("A constructor or setter has no type of its result.", function)
    if "async" in kinds and "*" not in kinds and not arguments.text("type").strip().startswith("Promise"):
        raise OperationRefused(
            f"An async function returns a promise; send `Promise<{arguments.text('type').strip()}>`.",
            function,
        )
    if (annotation := function.child_by_field_name("return_type")) is not None:
        return _replaced(source, annotation, text, arguments)
    bare = function.child_by_field_name("parameter")
    if bare is not None:
        return Outcome([source.replace(bare.start_byte, bare.end_byte, f"({source.text(bare)}){text}")])
    parameters = function.child_by_field_name("parameters")
    assert parameters is not None, "BUG: a function without parameters"
    return Outcome([source.insert(parameters.end_byte, text)])


def _annotate_parameter(source: Source, node: Node, name: str, arguments: Arguments) -> Outcome:
    function = function_of(source, node)
    parameters = parameters_of(source, function)
    parameter = next((one for one in parameters.entries if one.binds(source, name)), None)
    if parameter is None:
        raise OperationRefused(f"The function has no parameter `{name}`.", function)
    text = _value_type(source, node, arguments)
    if parameters.bare is not None:
        bare = parameters.bare
        return Outcome([source.replace(bare.start_byte, bare.end_byte, f"({source.text(bare)}{text})")])
    notes = [] if parameter.is_named(source, name) else _pattern_notes(source, parameter.pattern)
    outcome = _annotate_named(source, parameter.node, "pattern", text, arguments)
    return Outcome(outcome.edits, notes if outcome.edits else ())


def _annotate_variable(source: Source, node: Node, arguments: Arguments, name: str) -> Outcome:
    text = _value_type(source, node, arguments)
    if node.type == "for_in_statement":
        raise OperationRefused("The variable of a loop over items can't have a type.", node)
    pattern = bound_pattern(node)
    assert pattern is not None, "BUG: a declaration of nothing"
    field = "name"
    if node.type == "catch_clause":
        field = "parameter"
        if text not in (": unknown", ": any"):
            raise OperationRefused("What a catch clause catches is `unknown` or `any`.", node)
    is_whole = not name or source.text(pattern) == name
    outcome = _annotate_named(source, node, field, text, arguments)
    return Outcome(outcome.edits, [] if is_whole or not outcome.edits else _pattern_notes(source, pattern))


def _annotate_field(source: Source, node: Node, arguments: Arguments) -> Outcome:
    field = "pattern" if node.type in _PARAMETERS else "name"
    return _annotate_named(source, node, field, _value_type(source, node, arguments), arguments)


def _annotate_named(source: Source, node: Node, field: str, text: str, arguments: Arguments) -> Outcome:
    """`: type` behind a name or pattern, and behind the `?` or `!` that follows it."""
    if (annotation := node.child_by_field_name("type")) is not None:
        return _replaced(source, annotation, text, arguments)
    name = node.child_by_field_name(field)
    assert name is not None, "BUG: nothing that could have a type"
    following = name.next_sibling
    is_marked = following is not None and following.type in ("?", "!")
    end = following.end_byte if is_marked and following is not None else name.end_byte
    return Outcome([source.insert(end, text)])


def _value_type(source: Source, node: Node, arguments: Arguments) -> str:
    text = arguments.text("type").strip()
    if fragment_node(source.language, _VALUE, text) is None:
        raise OperationRefused(f"`{text}` can only be the type of a result.", node)
    return type_annotation(source, node.start_byte, text)


def _replaced(source: Source, annotation: Node, text: str, arguments: Arguments) -> Outcome:
    old = source.text(annotation)
    if same_code(old, text):
        return Outcome()
    bare = old.removeprefix(":").strip()
    if not arguments.flag("replace"):
        raise OperationRefused(f"The type is `{bare}`; send `replace` to change it.", annotation)
    if "//" in old or "/*" in old:
        raise OperationRefused("The type that is there holds a comment.", annotation)
    return Outcome([source.replace(annotation.start_byte, annotation.end_byte, text)])


def _pattern_notes(source: Source, pattern: Node) -> list[str]:
    return [f"It is the type of `{' '.join(source.text(pattern).split())}` as a whole."]
