"""Gives a variable, a closure or a function a type."""

from collections.abc import Iterator

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
from codeplane.languages.rust.operations._guards import compact_text, refuse_unsafe, with_newlines
from codeplane.languages.rust.operations._signatures import FUNCTIONS, lay_out, parameters_of
from codeplane.languages.rust.operations._widths import MAX_WIDTH, display_width

_TYPED = ("const_item", "static_item", "field_declaration", "parameter")


@operation(
    version=2,
    target="definition",
    arguments=annotated_places(
        variable="function", field="structure that gets it", function="function or closure"
    ),
    check_arguments=type_place_errors,
)
def add_type_annotation(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Gives a variable, a parameter of a closure, or the result of a function or closure a type."""
    refuse_unsafe(source)
    node = match.node
    closure = _closure_of(node)
    if name := arguments.optional("variable"):
        return _annotate_let(source, _variable_in(source, node, name.strip()), arguments)
    if name := arguments.optional("field"):
        return _retype(source, _field_in(source, node, name.strip()), arguments)
    if name := arguments.optional("parameter"):
        return _annotate_parameter(source, closure or node, name.strip(), arguments)
    if node.type in FUNCTIONS:
        return _annotate_result(source, node, arguments)
    if closure is not None and arguments.flag("returns"):
        return _annotate_closure(source, closure, arguments)
    if arguments.flag("returns"):
        raise OperationRefused("It is no function and holds no closure, so it has no result.", node)
    subject = node
    while subject.type not in ("let_declaration", *_TYPED) and subject.parent is not None:
        subject = subject.parent
        if subject.type in ("block", "match_arm", "let_condition", "for_expression", "closure_parameters"):
            break
    if subject.type in _TYPED:
        return _retype(source, subject, arguments)
    return _annotate_let(source, subject, arguments)


def _closure_of(node: Node) -> Node | None:
    """The closure that a node is, or that a variable holds."""
    if node.type == "closure_expression":
        return node
    parent = node.parent if node.type == "identifier" else node
    value = parent.child_by_field_name("value") if parent is not None else None
    return value if value is not None and value.type == "closure_expression" else None


def _type_text(source: Source, arguments: Arguments, offset: int) -> str:
    return with_newlines(source, offset, arguments.text("type").strip(), source.indent_at(offset))


def _compare_type(source: Source, present: Node, arguments: Arguments) -> Outcome:
    """What becomes of a type that is there: nothing where it is the same, else another if asked for."""
    text = _type_text(source, arguments, present.start_byte)
    if "".join(compact_text(present).split()) == "".join(text.split()):
        return Outcome()
    if not arguments.flag("replace"):
        raise OperationRefused(
            f"It has the type `{source.text(present)}`; send `replace` to change it.", present
        )
    return Outcome([source.replace(present.start_byte, present.end_byte, text)])


def _retype(source: Source, node: Node, arguments: Arguments) -> Outcome:
    kind = node.child_by_field_name("type")
    assert kind is not None, "BUG: what always has a type has none"
    return _compare_type(source, kind, arguments)


def _nodes_below(node: Node, kind: str) -> Iterator[Node]:
    waiting = list(reversed(node.children))
    while waiting:
        current = waiting.pop()
        if current.type == kind:
            yield current
        if current.type not in FUNCTIONS:
            waiting += reversed(current.children)


def _variable_in(source: Source, node: Node, name: str) -> Node:
    own = [one for one in _nodes_below(node, "let_declaration") if _binds(source, one, name)]
    if len(own) == 1:
        return own[0]
    if own:
        lines = ", ".join(str(source.line_of(one.start_byte)) for one in own)
        raise OperationRefused(f"`{name}` is bound {len(own)} times, at lines {lines}.", node)
    raise OperationRefused(f"No `let` of the function binds `{name}`.", node)


def _binds(source: Source, declaration: Node, name: str) -> bool:
    pattern = declaration.child_by_field_name("pattern")
    waiting = [pattern] if pattern is not None else []
    while waiting:
        node = waiting.pop()
        if node.type in ("identifier", "shorthand_field_identifier") and source.text(node) == name:
            return True
        waiting += node.named_children
    return False


def _field_in(source: Source, node: Node, name: str) -> Node:
    for one in _nodes_below(node, "field_declaration"):
        field = one.child_by_field_name("name")
        if field is not None and source.text(field) == name:
            return one
    raise OperationRefused(f"The structure has no field `{name}`.", node)


def _annotate_let(source: Source, node: Node, arguments: Arguments) -> Outcome:
    pattern = node.child_by_field_name("pattern")
    if node.type != "let_declaration" or pattern is None:
        raise OperationRefused("Only what `let` binds can have a type; the others have none to write.", node)
    present = node.child_by_field_name("type")
    if present is not None:
        return _compare_type(source, present, arguments)
    if pattern.type not in ("identifier", "mut_pattern", "_"):
        raise OperationRefused(
            f"The type would be that of the whole pattern `{source.text(pattern)}`.", pattern
        )
    text = f": {_type_text(source, arguments, node.start_byte)}"
    edits = [source.insert(pattern.end_byte, text)]
    return Outcome([*edits, *_break_behind_equals(source, node, text)])


def _break_behind_equals(source: Source, node: Node, text: str) -> list[TextEdit]:
    """The edit that puts the value on a line of its own where the line gets too wide by a text."""
    value = node.child_by_field_name("value")
    line = source.slice(source.line_start(node.start_byte), source.line_end(node.start_byte))
    is_one_line = source.line_of(node.start_byte) == source.line_of(node.end_byte)
    if value is None or not is_one_line or not display_width(line) <= MAX_WIDTH < display_width(line + text):
        return []
    space = source.data[value.start_byte - 1 : value.start_byte]
    newline, indent = source.newline_at(node.start_byte), source.indent_at(node.start_byte)
    broken = f"{newline}{indent}{source.indent_unit}"
    return [source.replace(value.start_byte - 1, value.start_byte, broken)] if space == b" " else []


def _annotate_parameter(source: Source, node: Node, name: str, arguments: Arguments) -> Outcome:
    parameters = node.child_by_field_name("parameters")
    if parameters is None:
        raise OperationRefused("It has no parameters.", node)
    for one in parameters.named_children:
        pattern = one.child_by_field_name("pattern") if one.type == "parameter" else one
        kind = one.child_by_field_name("type") if one.type == "parameter" else None
        if pattern is None or source.text(pattern).removeprefix("mut ").strip() != name:
            continue
        if kind is not None:
            return _compare_type(source, kind, arguments)
        return Outcome([source.insert(one.end_byte, f": {_type_text(source, arguments, one.start_byte)}")])
    raise OperationRefused(f"It has no parameter `{name}`.", node)


def _annotate_result(source: Source, function: Node, arguments: Arguments) -> Outcome:
    present = function.child_by_field_name("return_type")
    text = _type_text(source, arguments, function.start_byte)
    if present is not None:
        return _compare_type(source, present, arguments)
    if "".join(text.split()) == "()":
        return Outcome()
    items, _ = parameters_of(source, function)
    assert items.closing is not None, "BUG: parameters without brackets"
    texts = [source.slice(item.start, item.end) for item in items.items]
    layout = lay_out(source, function, items, texts, text) or []
    text = _before_body(source, items.closing.end_byte, f" -> {text}")
    return Outcome([*layout, source.insert(items.closing.end_byte, text)])


def _before_body(source: Source, offset: int, text: str) -> str:
    """A result that stands apart from a body or a `where` that was directly there."""
    following = source.data[offset : offset + 1]
    return text if following in (b"", b";") or following.isspace() else f"{text} "


def _annotate_closure(source: Source, closure: Node, arguments: Arguments) -> Outcome:
    present, body = closure.child_by_field_name("return_type"), closure.child_by_field_name("body")
    parameters = closure.child_by_field_name("parameters")
    if present is not None:
        return _compare_type(source, present, arguments)
    assert body is not None and parameters is not None, "BUG: a closure without a body"
    text = f" -> {_type_text(source, arguments, closure.start_byte)}"
    edits = [source.insert(parameters.end_byte, _before_body(source, parameters.end_byte, text))]
    if body.type != "block":
        edits += [source.insert(body.start_byte, "{ "), source.insert(body.end_byte, " }")]
    return Outcome(edits)
