"""The attributes of an item, a field, a parameter, a statement."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.rust.operations._guards import COMMENTS

# What has its attributes among its own children; elsewhere they are siblings before it.
_HOLDERS: Final = ("match_arm", "field_initializer", "shorthand_field_initializer")
_TAKING: Final = frozenset(
    "function_item function_signature_item struct_item enum_item union_item enum_variant field_declaration"
    " trait_item impl_item const_item static_item type_item associated_type mod_item macro_definition"
    " foreign_mod_item use_declaration extern_crate_declaration let_declaration expression_statement"
    " parameter self_parameter type_parameter const_parameter lifetime_parameter macro_invocation".split()
)
_LISTED: Final = ("parameter", "self_parameter", "type_parameter", "const_parameter", "lifetime_parameter")


def attributed_node(node: Node) -> Node:
    """What takes the attributes of a target: the parameter or the `let` of a name, or the node itself."""
    current: Node | None = node
    while current is not None:
        if current.type in _TAKING or current.type in _HOLDERS:
            parent = current.parent
            is_statement = current.type == "macro_invocation" and parent is not None
            if is_statement and parent is not None and parent.type == "expression_statement":
                return parent
            return current
        if current.type.endswith(("_expression", "block", "_list", "_literal")):
            break
        current = current.parent
    raise OperationRefused(
        "Only items, fields, variants, parameters, statements and match arms take attributes.", node
    )


def attributes_of(node: Node) -> list[Node]:
    """The attributes of a node, in order."""
    return [one for one in _leading_nodes(node) if one.type == "attribute_item"]


def _leading_nodes(node: Node) -> list[Node]:
    if node.type in _HOLDERS:
        return [child for child in node.children if child.type == "attribute_item"]
    nodes: list[Node] = []
    sibling = node.prev_sibling
    while sibling is not None and (sibling.type == "attribute_item" or sibling.type in COMMENTS):
        nodes.append(sibling)
        sibling = sibling.prev_sibling
    return nodes[::-1]


def item_start(node: Node) -> Node:
    """The first node of an item behind its attributes."""
    if node.type in _HOLDERS:
        return next(child for child in node.children if child.type != "attribute_item")
    return node


def is_listed(node: Node) -> bool:
    """Whether a node stands in a list in which attributes stay in the line of what they are on."""
    return node.type in _LISTED


def attribute_path(source: Source, item: Node) -> str:
    """The path of an attribute: `derive`, `tokio::main`; that inside of `unsafe(…)`."""
    attribute = next(child for child in item.named_children if child.type == "attribute")
    path = "".join(source.text(attribute.named_children[0]).split())
    tree = attribute.child_by_field_name("arguments")
    if path == "unsafe" and tree is not None and tree.named_children:
        return source.text(tree.named_children[0])
    return path


def arguments_of(item: Node) -> Node | None:
    """The token tree behind the path of an attribute."""
    attribute = next(child for child in item.named_children if child.type == "attribute")
    return attribute.child_by_field_name("arguments")


def conditional_derives(source: Source, item: Node) -> Iterator[str]:
    """What `cfg_attr` derives under its condition."""
    tree = arguments_of(item)
    if attribute_path(source, item) != "cfg_attr" or tree is None:
        return
    children = tree.children
    for at, child in enumerate(children[:-1]):
        if source.text(child) == "derive" and children[at + 1].type == "token_tree":
            text = source.text(children[at + 1])[1:-1]
            yield from ("".join(part.split()) for part in text.split(","))
