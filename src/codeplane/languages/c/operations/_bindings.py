"""Which places of a file mean a declaration, by C's name spaces and scopes."""

from collections.abc import Sequence
from typing import Final, Literal

from tree_sitter import Node

from codeplane.languages.c.operations._tokens import declaration_of, names_in
from codeplane.languages.operations import OperationRefused, Source

Space = Literal["tag", "label", "member", "ordinary"]
TAGGED: Final = ("struct_specifier", "union_specifier", "enum_specifier")
_SCOPES: Final = ("compound_statement", "for_statement", "function_definition", "translation_unit")


def space_of(node: Node) -> Space:
    """The name space that a name is of."""
    parent = node.parent
    if node.type == "statement_identifier":
        return "label"
    if node.type == "field_identifier":
        return "member"
    if parent is not None and parent.type in TAGGED and parent.child_by_field_name("name") == node:
        return "tag"
    return "ordinary"


def scope_of(source: Source, node: Node) -> Node:
    """The scope that a declaration of a name is seen in."""
    if space_of(node) == "label":
        return _ancestor(node, ("function_definition", "translation_unit"))
    declaration = declaration_of(node)
    if declaration is None:
        return _ancestor(node, _SCOPES[:1] + _SCOPES[3:])
    if declaration.type == "parameter_declaration":
        return _parameter_scope(declaration)
    if declaration.type == "function_definition":
        return _outer_scope(declaration)
    if declaration.type == "declaration" and _is_linked(source, declaration, node):
        return source.root
    return _ancestor(declaration, _SCOPES)


def _ancestor(node: Node, kinds: Sequence[str]) -> Node:
    current = node
    while current.parent is not None and (current == node or current.type not in kinds):
        current = current.parent
    return current


def _outer_scope(node: Node) -> Node:
    assert node.parent is not None, "BUG: a function without a file"
    return node.parent if node.parent.type in _SCOPES else _ancestor(node.parent, _SCOPES)


def _parameter_scope(declaration: Node) -> Node:
    """The function that a parameter belongs to, or the list that it is of."""
    scope = declaration.parent
    owner = scope.parent if scope is not None else None
    assert scope is not None, "BUG: a parameter without a list"
    while owner is not None and owner.type.endswith("declarator"):
        inner = owner.child_by_field_name("declarator")
        if owner.type == "function_declarator" and inner is not None and inner.start_byte > scope.start_byte:
            return scope
        owner = owner.parent
    return owner if owner is not None and owner.type == "function_definition" else scope


def _is_linked(source: Source, declaration: Node, node: Node) -> bool:
    """Whether a declaration in a block means what the file declares: `extern`, a prototype."""
    is_extern = any(
        child.type == "storage_class_specifier" and source.text(child) == "extern"
        for child in declaration.children
    )
    parent = node.parent
    return is_extern or (parent is not None and parent.type == "function_declarator")


def is_declaring(node: Node) -> bool:
    """Whether a name is declared where it stands."""
    space, parent = space_of(node), node.parent
    if space == "label":
        return parent is not None and parent.type == "labeled_statement"
    if space == "tag":
        return parent is not None and parent.child_by_field_name("body") is not None
    return declaration_of(node) is not None


def is_preprocessed(node: Node) -> bool:
    """Whether a name is of the preprocessor: a macro, or a parameter of one."""
    return node.parent is not None and node.parent.type.startswith("preproc_")


def places_of(source: Source, target: Node) -> list[Node]:
    """The places that mean what a name declares, itself included; not for members."""
    name, space = source.text(target), space_of(target)
    tokens = [
        one
        for one in names_in(source, source.root, name)
        if space_of(one) == space and not is_preprocessed(one)
    ]
    own = scope_of(source, target)
    declarations = [one for one in tokens if is_declaring(one)]
    scopes = {scope_of(source, one).id: one for one in declarations}
    scopes[own.id] = target
    return [one for one in tokens if _scope_id(source, one, scopes, declarations) == own.id]


def _scope_id(
    source: Source, node: Node, scopes: dict[int, Node], declarations: Sequence[Node]
) -> int | None:
    """The innermost scope around a place that declares its name before it."""
    if any(one == node for one in declarations):
        return scope_of(source, node).id
    current: Node | None = node
    while current is not None:
        first = scopes.get(current.id)
        is_before = first is not None and (
            current.type not in ("compound_statement", "for_statement")
            or space_of(node) == "label"
            or _is_before(source, declarations, current, node)
        )
        if is_before:
            return current.id
        current = current.parent
    return None


def _is_before(source: Source, declarations: Sequence[Node], scope: Node, node: Node) -> bool:
    return any(
        one.start_byte <= node.start_byte and scope_of(source, one).id == scope.id for one in declarations
    )


def refuse_misread(source: Source, places: Sequence[Node]) -> None:
    """Refuses declarations that may be something else: `a * b;` a product, `DEFINE(x);` a macro."""
    for node in places:
        declaration = declaration_of(node)
        if declaration is None or declaration.type not in ("declaration", "function_definition"):
            continue
        kind = declaration.child_by_field_name("type")
        if kind is None or kind.type != "type_identifier":
            continue
        text, line = source.text(kind), source.line_of(node.start_byte)
        parent = node.parent
        is_wrapped = parent is not None and parent.type == "parenthesized_declarator"
        if is_wrapped and text.isupper():
            raise OperationRefused(f"Line {line} may be a macro `{text}` that declares it.", node)
        if any(_is_value(one) for one in names_in(source, source.root, text)):
            raise OperationRefused(f"Line {line} may be a product or a call, `{text}` is no type.", node)


def _is_value(node: Node) -> bool:
    declaration = declaration_of(node)
    return (
        node.type == "identifier"
        and declaration is not None
        and declaration.type != "type_definition"
        and space_of(node) == "ordinary"
    )
