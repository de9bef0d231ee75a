"""Gives a parameter, a result, a variable or a field its type."""

import re
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import (
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.signature_arguments import annotated_places, type_place_errors
from codeplane.languages.python.operations._annotations import same_type, written_type
from codeplane.languages.python.operations._guards import refuse_unsafe
from codeplane.languages.python.operations._signatures import (
    function_of,
    is_type_comment,
    parameters_of,
    refuse_type_comments,
)
from codeplane.languages.python.operations._variables import find_assignment, find_attribute

_ENUM: Final = re.compile(r"\b(?:\w*Enum|\w*Flag)\b")
_FIELDS: Final = re.compile(r"\b(?:dataclass|define|frozen|attrs|NamedTuple|TypedDict|BaseModel)\b")


@operation(
    version=1,
    target="definition",
    arguments=annotated_places(
        variable="module, function or class", field="class that gets it, in the class or as `self.field`"
    ),
    check_arguments=type_place_errors,
)
def add_type_annotation(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Gives a parameter, a result, a variable or a field its type.

    The type is written in quotes where it names a class that is not there yet when it is evaluated.
    """
    text = arguments.text("type")
    refuse_unsafe(source, text)
    if name := arguments.optional("parameter"):
        return _annotate_parameter(source, match.node, name, arguments)
    if name := arguments.optional("variable"):
        return _annotate_assignment(source, find_assignment(source, match.node, name), arguments)
    if name := arguments.optional("field"):
        return _annotate_assignment(source, find_attribute(source, match.node, name), arguments)
    if match.node.type == "identifier":
        return _annotate_name(source, match.node, arguments)
    return _annotate_result(source, function_of(match.node), arguments)


def _annotate_name(source: Source, name: Node, arguments: Arguments) -> Outcome:
    """A parameter or a variable that is the target itself gets its type."""
    scope = name.parent
    while scope is not None and scope.type not in ("function_definition", "class_definition", "module"):
        scope = scope.parent
    assert scope is not None, "BUG: a name outside of a module"
    parameters = scope.child_by_field_name("parameters")
    if parameters is not None and parameters.start_byte < name.start_byte < parameters.end_byte:
        return _annotate_parameter(source, scope, source.text(name), arguments)
    return _annotate_assignment(source, find_assignment(source, scope, source.text(name)), arguments)


def _annotate_result(source: Source, function: Node, arguments: Arguments) -> Outcome:
    text = written_type(source, arguments.text("type"), function)
    if (annotation := function.child_by_field_name("return_type")) is not None:
        return _replace_type(source, annotation, text, arguments)
    refuse_type_comments(source, function)
    parameters = function.child_by_field_name("parameters")
    assert parameters is not None, "BUG: a function without parameters"
    return Outcome([source.insert(parameters.end_byte, f" -> {text}")])


def _annotate_parameter(source: Source, node: Node, name: str, arguments: Arguments) -> Outcome:
    function = function_of(node)
    items, parameters = parameters_of(source, function)
    index = next((number for number, one in enumerate(parameters) if one.is_named(source, name)), None)
    if index is None:
        raise OperationRefused(f"The function has no parameter `{name}`.", function)
    parameter = parameters[index]
    text = written_type(source, arguments.text("type"), function)
    if parameter.annotation is not None:
        return _replace_type(source, parameter.annotation, text, arguments)
    refuse_type_comments(source, function)
    for comment in items.items[index].tail:
        if is_type_comment(source.slice(*comment)):
            raise OperationRefused(f"A comment gives the type of `{name}`; remove it first.", parameter.node)
    assert parameter.name is not None, "BUG: a parameter without a name"
    return Outcome([_typed_edit(source, parameter.name, parameter.default, text)])


def _typed_edit(source: Source, name: Node, default: Node | None, text: str) -> TextEdit:
    """`: type` behind a name; `a=1` becomes `a: int = 1`."""
    start, end = name.end_byte, default.start_byte if default is not None else name.end_byte
    gap = source.data[start:end]
    if gap.strip() == b"=" and b"\n" not in gap and b"\r" not in gap:
        return source.replace(start, end, f": {text} = ")
    return source.insert(start, f": {text}")


def _annotate_assignment(source: Source, assignment: Node, arguments: Arguments) -> Outcome:
    text = written_type(source, arguments.text("type"), assignment)
    if (annotation := assignment.child_by_field_name("type")) is not None:
        return _replace_type(source, annotation, text, arguments)
    rest = source.slice(assignment.end_byte, source.line_end(assignment.end_byte)).strip()
    if is_type_comment(rest):
        raise OperationRefused("A comment gives its type; remove it first.", assignment)
    _refuse_enum_member(source, assignment)
    left = assignment.child_by_field_name("left")
    assert left is not None, "BUG: an assignment to nothing"
    edit = _typed_edit(source, left, assignment.child_by_field_name("right"), text)
    return Outcome([edit], _field_notes(source, assignment))


def _replace_type(source: Source, annotation: Node, text: str, arguments: Arguments) -> Outcome:
    old = source.text(annotation)
    if same_type(old, text):
        return Outcome()
    if not arguments.flag("replace"):
        raise OperationRefused(f"The type is `{old}`; send `replace` to change it.", annotation)
    if "#" in old and any(child.type == "comment" for child in _nodes_inside(annotation)):
        raise OperationRefused("The type that is there holds a comment.", annotation)
    return Outcome([source.replace(annotation.start_byte, annotation.end_byte, text)])


def _nodes_inside(node: Node) -> list[Node]:
    return [node, *(inner for child in node.children for inner in _nodes_inside(child))]


def _class_around(node: Node) -> Node | None:
    """The class whose body an assignment stands in."""
    parent = node.parent
    while parent is not None and parent.type not in ("class_definition", "function_definition"):
        parent = parent.parent
    return parent if parent is not None and parent.type == "class_definition" else None


def _refuse_enum_member(source: Source, assignment: Node) -> None:
    owner = _class_around(assignment)
    bases = owner.child_by_field_name("superclasses") if owner is not None else None
    if bases is not None and _ENUM.search(source.text(bases)):
        raise OperationRefused("A member of an enumeration must have no type.", assignment)


def _field_notes(source: Source, assignment: Node) -> list[str]:
    owner = _class_around(assignment)
    body = owner.child_by_field_name("body") if owner is not None else None
    if owner is None or body is None:
        return []
    outer = (
        owner.parent if owner.parent is not None and owner.parent.type == "decorated_definition" else owner
    )
    if not _FIELDS.search(source.slice(outer.start_byte, body.start_byte)):
        return []
    return ["It becomes a field of the class, which the constructor takes."]
