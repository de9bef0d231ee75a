"""Which places of a file mean a member of a structure, by the declared types of what stands before it."""

from collections.abc import Sequence
from functools import lru_cache

from tree_sitter import Node

from codeplane.languages.c.operations._bindings import TAGGED, places_of, space_of
from codeplane.languages.c.operations._guards import lines_of
from codeplane.languages.c.operations._tokens import declaration_of, names_in, nodes_in
from codeplane.languages.operations import OperationRefused, Source

_WRAPPERS = ("parenthesized_expression", "pointer_expression", "subscript_expression")


def member_places(source: Source, target: Node) -> list[Node]:
    """The places that mean a member; refused where it can't be told of what structure one is."""
    name = source.text(target)
    own = _structure_around(target)
    if own is None:
        raise OperationRefused(f"What structure `{name}` belongs to can't be told.", target)
    places, unclear = [], []
    for node in names_in(source, source.root, name):
        if space_of(node) != "member":
            continue
        structure = _structure_at(source, node)
        if structure is None:
            unclear.append(node.start_byte)
        elif structure.id == own.id:
            places.append(node)
    if unclear:
        raise OperationRefused(
            f"`{name}` at {lines_of(source, unclear)} may be of this structure or not.", target
        )
    return places


def _structure_around(node: Node) -> Node | None:
    """The structure whose declaration a member stands in; that of an unnamed one inside is the outer one."""
    parent = node.parent
    while parent is not None and parent.type not in TAGGED:
        parent = parent.parent
    if parent is None:
        return None
    outer = parent.parent
    is_unnamed = (
        outer is not None
        and outer.type == "field_declaration"
        and not outer.child_by_field_name("declarator")
    )
    return _structure_around(parent) if is_unnamed else parent


def _structure_at(source: Source, node: Node) -> Node | None:
    parent = node.parent
    if declaration_of(node) is not None:
        return _structure_around(node)
    if parent is None:
        return None
    if parent.type == "field_expression":
        argument = parent.child_by_field_name("argument")
        return _structure_of(source, argument) if argument is not None else None
    if parent.type == "field_designator":
        return _initialized(source, parent)
    if parent.type == "offsetof_expression":
        kind = parent.child_by_field_name("type")
        return _named_structure(source, kind.child_by_field_name("type")) if kind is not None else None
    return None


def _structure_of(source: Source, node: Node) -> Node | None:
    """The structure that an expression is one of, or a pointer to."""
    while node.type in _WRAPPERS:
        inner = node.child_by_field_name("argument") or next(iter(node.named_children), None)
        if inner is None:
            return None
        node = inner
    if node.type in ("cast_expression", "compound_literal_expression"):
        kind = node.child_by_field_name("type")
        return _named_structure(source, kind.child_by_field_name("type")) if kind is not None else None
    if node.type == "field_expression":
        argument, field = node.child_by_field_name("argument"), node.child_by_field_name("field")
        outer = _structure_of(source, argument) if argument is not None else None
        return _member_structure(source, outer, source.text(field)) if outer is not None and field else None
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        node = function if function is not None else node
    return _declared_structure(source, node) if node.type == "identifier" else None


def _declared_structure(source: Source, name: Node) -> Node | None:
    """The structure of a variable or of what a function returns."""
    for one in names_in(source, source.root, source.text(name)):
        declaration = declaration_of(one)
        if declaration is None or declaration.type == "enumerator":
            continue
        if any(place == name for place in places_of(source, one)):
            return _named_structure(source, declaration.child_by_field_name("type"))
    return None


def _member_structure(source: Source, structure: Node, name: str) -> Node | None:
    for node in names_in(source, structure, name):
        declaration = declaration_of(node)
        if declaration is not None and declaration.type == "field_declaration":
            return _named_structure(source, declaration.child_by_field_name("type"))
    return None


def _named_structure(source: Source, kind: Node | None) -> Node | None:
    """The structure with a body that a type is, through the type names of the file."""
    if kind is None:
        return None
    if kind.type in TAGGED:
        if kind.child_by_field_name("body") is not None:
            return kind
        name = kind.child_by_field_name("name")
        bodies = [
            one for one in _structures(source) if name is not None and _is_called(source, one, kind, name)
        ]
        return bodies[0] if len(bodies) == 1 else None
    if kind.type != "type_identifier":
        return None
    definitions = [
        declaration
        for one in names_in(source, source.root, source.text(kind))
        if (declaration := declaration_of(one)) is not None and declaration.type == "type_definition"
    ]
    return (
        _named_structure(source, definitions[0].child_by_field_name("type"))
        if len(definitions) == 1
        else None
    )


@lru_cache(maxsize=4)
def _structures(source: Source) -> Sequence[Node]:
    nodes = [one for one in nodes_in(source.root) if one.type in TAGGED]
    return [one for one in nodes if one.child_by_field_name("body") is not None]


def _is_called(source: Source, structure: Node, kind: Node, name: Node) -> bool:
    own = structure.child_by_field_name("name")
    return structure.type == kind.type and own is not None and source.text(own) == source.text(name)


def _initialized(source: Source, designator: Node) -> Node | None:
    """The structure that a list of values with designators is for."""
    pair = designator.parent
    before = _designators_before(designator, pair)
    values = pair.parent if pair is not None else None
    structure = _list_structure(source, values) if values is not None else None
    for one in before:
        structure = (
            _member_structure(source, structure, source.text(one.named_children[0])) if structure else None
        )
    return structure


def _designators_before(designator: Node, pair: Node | None) -> Sequence[Node]:
    children = pair.children if pair is not None else []
    return [
        one for one in children if one.type == "field_designator" and one.start_byte < designator.start_byte
    ]


def _list_structure(source: Source, values: Node) -> Node | None:
    parent = values.parent
    if parent is None:
        return None
    if parent.type == "init_declarator":
        declaration = parent.parent
        return (
            _named_structure(source, declaration.child_by_field_name("type"))
            if declaration is not None
            else None
        )
    if parent.type == "compound_literal_expression":
        return _structure_of(source, parent)
    if parent.type == "initializer_pair":
        designators = [one for one in parent.children if one.type.endswith("designator")]
        last = designators[-1] if designators else None
        if last is None or last.type == "subscript_designator":
            return _list_structure(source, parent.parent) if parent.parent is not None else None
        outer = _initialized(source, last)
        return _member_structure(source, outer, source.text(last.named_children[0])) if outer else None
    # Elements of an array of structures; the members of a structure have no names then.
    return _list_structure(source, parent) if parent.type == "initializer_list" else None
