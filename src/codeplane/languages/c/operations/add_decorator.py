"""Puts an attribute on a declaration."""

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.c.operations._attributes import (
    Attribute,
    attribute_nodes,
    is_present,
    items_of,
    read_attribute,
)
from codeplane.languages.c.operations._guards import refuse_unsafe
from codeplane.languages.c.operations._signatures import declarator_of, signatures_of
from codeplane.languages.c.operations._tokens import declaration_of, error_count, nodes_in
from codeplane.languages.operations import (
    Argument,
    Arguments,
    Match,
    OperationRefused,
    Outcome,
    Source,
    operation,
)
from codeplane.languages.operations.operation import Change

_TAGGED: Final = ("struct_specifier", "union_specifier", "enum_specifier")
_DECLARATIONS: Final = ("declaration", "field_declaration", "parameter_declaration", "type_definition")
_SPECIFIERS: Final = ("storage_class_specifier", "attribute_specifier", "attribute_declaration")


def _check_attribute(arguments: Arguments) -> Sequence[str]:
    if read_attribute(arguments.text("decorator")) is not None:
        return []
    return ["`decorator`: send `__attribute__((x))`, `[[x]]`, `__declspec(x)` or `_Noreturn`."]


def _check_result(change: Change) -> None:
    if error_count(change.after) > error_count(change.before):
        raise OperationRefused("The grammar can't read such an attribute at this place; add it by hand.")


@operation(
    version=1,
    target="definition",
    arguments=(
        Argument(
            "decorator", "text", "the attribute, as source text: `__attribute__((cold))`", is_required=True
        ),
        Argument(
            "position",
            "choice",
            "before the declaration, or behind its storage class, as by default for `__attribute__`",
            choices=("outermost", "innermost"),
        ),
    ),
    check_arguments=_check_attribute,
    check_result=_check_result,
)
def add_decorator(source: Source, match: Match, arguments: Arguments) -> Outcome:
    """Puts an attribute on a function, a structure, a member, a variable or a type.

    A function gets it at its definition and at all its prototypes of the file.
    """
    refuse_unsafe(source)
    attribute = read_attribute(arguments.text("decorator"))
    assert attribute is not None, "BUG: the arguments were not checked"
    owners = _owners_of(source, match)
    # What one declaration says holds for all of them.
    if any(is_present(source, attribute_nodes(owner), attribute) for owner in owners):
        return Outcome()
    edits, notes = [], []
    for owner in owners:
        nodes = attribute_nodes(owner)
        _refuse_unfit(source, owner, attribute)
        edits.append(_place_attribute(source, owner, nodes, attribute, arguments.optional("position")))
        notes += _similar_notes(source, nodes, attribute)
    return Outcome(edits, list(dict.fromkeys(notes)))


def _owners_of(source: Source, match: Match) -> list[Node]:
    """The declarations that the attribute goes to."""
    node, names = match.node, match.captures.get("name", ())
    if names and declarator_of(names[0]) is not None and node.type in ("function_definition", "declaration"):
        return [one.owner for one in signatures_of(source, match)]
    if node.type in (*_TAGGED, "enumerator", *_DECLARATIONS):
        return [node]
    parent = names[0].parent if names else None
    if parent is not None and parent.type in _TAGGED:
        return [parent]
    declaration = declaration_of(names[0]) if names else None
    if declaration is None or declaration.type not in _DECLARATIONS:
        raise OperationRefused("Only functions, types, members and variables have attributes.", node)
    return [declaration]


def _refuse_unfit(source: Source, owner: Node, attribute: Attribute) -> None:
    declarators = owner.children_by_field_name("declarator")
    if len(declarators) > 1:
        raise OperationRefused(
            f"Line {source.line_of(owner.start_byte)} declares several things, and all of them would get the"
            " attribute; declare it on its own first.",
            owner,
        )
    is_function = owner.type == "function_definition" or (
        bool(declarators) and any(one.type == "function_declarator" for one in nodes_in(declarators[0]))
    )
    if attribute.form == "keyword" and not is_function:
        raise OperationRefused(f"`{attribute.text}` is for functions only.", owner)


def _place_attribute(
    source: Source, owner: Node, nodes: Sequence[Node], attribute: Attribute, position: str | None
) -> TextEdit:
    same = [one for one in nodes if one.type != "type_qualifier" and _is_alike(source, one, attribute)]
    if same and owner.type in _TAGGED and attribute.form == "gnu":
        return source.insert(_list_end(same[-1]), f", {attribute.inner_text}")
    if same and position is None:
        return _beside(source, same[-1], attribute.text)
    is_behind_keyword = owner.type in _TAGGED and _has_habit(source)
    if (
        attribute.form == "gnu"
        and position is None
        and not is_behind_keyword
        and (end := _tail_place(owner)) is not None
    ):
        return source.insert(end, f" {attribute.text}")
    if owner.type in (*_TAGGED, "enumerator"):
        place = owner.children[0] if owner.type in _TAGGED else owner
        return source.insert(place.end_byte, f" {attribute.text}")
    is_inner = position == "innermost" or (position is None and attribute.form in ("gnu", "keyword"))
    if is_inner and attribute.form == "standard":
        raise OperationRefused("`[[…]]` stands before the declaration; leave `position` out.", owner)
    place = owner
    if is_inner:
        place = next((one for one in owner.children if one.type not in _SPECIFIERS), owner)
    return source.insert(place.start_byte, f"{attribute.text} ")


def _has_habit(source: Source) -> bool:
    """Whether other structures of the file have their attributes behind the keyword."""
    structures = [one for one in nodes_in(source.root) if one.type in _TAGGED]
    return any(one.child_count > 1 and one.children[1].type == "attribute_specifier" for one in structures)


def _list_end(attribute: Node) -> int:
    """Where the list of an attribute closes: the grammar takes but one behind `struct`."""
    lists = [child for child in attribute.children if child.type == "argument_list"]
    assert lists, "BUG: an attribute without a list"
    return lists[-1].end_byte - 1


def _is_alike(source: Source, node: Node, attribute: Attribute) -> bool:
    return source.text(node)[:2] == attribute.text[:2]


def _beside(source: Source, node: Node, text: str) -> TextEdit:
    """An attribute behind another, on a line of its own where that has one."""
    if source.is_first_in_line(node.start_byte) and source.is_last_in_line(node.end_byte):
        newline, indent = source.newline_at(node.end_byte), source.indent_at(node.start_byte)
        return source.insert(node.end_byte, f"{newline}{indent}{text}")
    return source.insert(node.end_byte, f" {text}")


def _tail_place(owner: Node) -> int | None:
    """Behind the declarator or the body, where attributes of this kind stand; None where that is no place."""
    if owner.type in _TAGGED:
        body = owner.child_by_field_name("body")
        return body.end_byte if body is not None else None
    declarators = owner.children_by_field_name("declarator")
    if owner.type in ("field_declaration", "parameter_declaration", "type_definition") and declarators:
        clause = next((one for one in owner.children if one.type == "bitfield_clause"), declarators[0])
        return clause.end_byte
    is_prototype = owner.type == "declaration" and declarators and _is_function(declarators[0])
    return declarators[0].end_byte if is_prototype else None


def _is_function(declarator: Node) -> bool:
    while declarator.type == "pointer_declarator":
        inner = declarator.child_by_field_name("declarator")
        assert inner is not None, "BUG: a pointer to nothing"
        declarator = inner
    return declarator.type in ("function_declarator", "attributed_declarator")


def _similar_notes(source: Source, nodes: Sequence[Node], attribute: Attribute) -> list[str]:
    """What is said of attributes of the same name with other arguments."""
    return [
        f"`{item}` is there with other arguments."
        for node in nodes
        for item in sorted(items_of(source.text(node)))
        if item.partition("(")[0] in attribute.names and item not in attribute.items
    ]
