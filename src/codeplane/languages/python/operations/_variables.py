"""The assignments that bind a variable or an attribute in a scope."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source

_NESTED: Final = ("function_definition", "class_definition", "lambda")
_OTHER: Final = {
    "pattern_list": "unpacking",
    "tuple_pattern": "unpacking",
    "list_pattern": "unpacking",
    "for_statement": "a `for` loop",
    "as_pattern_target": "`as`",
    "named_expression": "`:=`",
    "augmented_assignment": "an augmented assignment",
    "global_statement": "`global`",
    "nonlocal_statement": "`nonlocal`",
}


class Binding(NamedTuple):
    """A place that binds a name: an assignment to it alone, or something else."""

    assignment: Node | None
    node: Node
    reason: str = ""  # what else it is


def scope_body(node: Node) -> Node:
    """The statements of a module, a function or a class."""
    return node.child_by_field_name("body") or node


def find_assignment(source: Source, scope: Node, name: str) -> Node:
    """The assignment of a variable that can have its type; refused where there is none."""
    return _chosen_assignment(source, name, list(_bindings_of(source, scope_body(scope), name)))


def find_attribute(source: Source, scope: Node, name: str) -> Node:
    """The assignment of a field of a class, in its body or to `self` in a method."""
    if scope.type == "class_definition":
        own = list(_bindings_of(source, scope_body(scope), name))
        if own:
            return _chosen_assignment(source, name, own)
    targets = [
        binding
        for function in _methods_of(source, scope)
        for binding in _bindings_of(source, scope_body(function), name, _receiver_name(source, function))
    ]
    return _chosen_assignment(source, name, targets)


def _chosen_assignment(source: Source, name: str, bindings: Sequence[Binding]) -> Node:
    declaration = next((one for one in bindings if one.reason in ("`global`", "`nonlocal`")), None)
    if declaration is not None:
        raise OperationRefused(
            f"`{name}` is declared {declaration.reason}, so it can't have a type here.", declaration.node
        )
    annotations = [
        one.assignment
        for one in bindings
        if one.assignment is not None and one.assignment.child_by_field_name("type") is not None
    ]
    if annotations:
        return annotations[0]
    if not bindings:
        raise OperationRefused(f"Nothing is assigned to `{name}` there.")
    first = bindings[0]
    if first.assignment is None:
        line = source.line_of(first.node.start_byte)
        raise OperationRefused(
            f"`{name}` is bound by {first.reason} at line {line}, which can't have a type.", first.node
        )
    return first.assignment


def _methods_of(source: Source, scope: Node) -> list[Node]:
    """The methods of a class, `__init__` first; a function itself."""
    if scope.type == "function_definition":
        return [scope]
    functions = [
        child.child_by_field_name("definition") if child.type == "decorated_definition" else child
        for child in scope_body(scope).children
    ]
    methods = [one for one in functions if one is not None and one.type == "function_definition"]
    return sorted(methods, key=lambda one: source.text(one.child_by_field_name("name") or one) != "__init__")


def _receiver_name(source: Source, function: Node) -> str:
    parameters = function.child_by_field_name("parameters")
    first = parameters.named_children[0] if parameters is not None and parameters.named_children else None
    return source.text(first) if first is not None and first.type == "identifier" else "self"


def _bindings_of(source: Source, body: Node, name: str, receiver: str = "") -> Iterator[Binding]:
    """The places that bind a name in a scope, in order; those of scopes inside are not of it."""
    target = f"{receiver}.{name}" if receiver else name
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node.type in ("identifier", "attribute") and source.text(node) == target:
            binding = _binding_of(node)
            if binding is not None:
                yield binding
        if node == body or node.type not in _NESTED:
            waiting += reversed(node.children)


def _binding_of(node: Node) -> Binding | None:
    parent = node.parent
    if parent is None:
        return None
    if parent.type == "assignment" and parent.child_by_field_name("left") == node:
        right = parent.child_by_field_name("right")
        outer = parent.parent
        is_chain = (right is not None and right.type == "assignment") or (
            outer is not None and outer.type == "assignment"
        )
        return Binding(None, parent, "a chain of assignments") if is_chain else Binding(parent, parent)
    reason = _OTHER.get(parent.type)
    is_target = parent.child_by_field_name("left") == node or parent.child_by_field_name("name") == node
    if parent.type in ("for_statement", "named_expression", "augmented_assignment") and not is_target:
        return None
    return Binding(None, parent, reason) if reason else None
