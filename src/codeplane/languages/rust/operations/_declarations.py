"""The `use` declarations of a module, in the groups that blank lines make of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from codeplane.core.edits import TextEdit
from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.operations.lists import list_of
from codeplane.languages.rust.operations._guards import COMMENTS, changed_part, compact_text
from codeplane.languages.rust.operations._use_layout import Layout, declaration_text
from codeplane.languages.rust.operations._use_trees import (
    Leaf,
    UseTree,
    has_comments,
    inline_text,
    leaves_in,
    lists_in,
    read_tree,
)

DECLARATIONS: Final = ("use_declaration", "extern_crate_declaration")


@dataclass(frozen=True)
class Declaration:
    """A `use` or `extern crate` with its attributes and the comments directly above it."""

    node: Node
    tree: UseTree
    head: str  # `use`, `pub use`, `extern crate`
    attributes: tuple[str, ...]
    first: Node  # the first of its comments and attributes, or itself

    @property
    def is_extern(self) -> bool:
        """Whether it is an `extern crate`."""
        return self.node.type == "extern_crate_declaration"

    @property
    def is_conditional(self) -> bool:
        """Whether it holds under a condition only."""
        return any(text.startswith("cfg") for text in self.attributes)


def module_body(source: Source, path: str | None) -> Node:
    """The root of the file, or the body of an inline module by its path: `a::tests`."""
    body = source.root
    for name in path.replace(" ", "").split("::") if path else ():
        modules = [
            child
            for child in body.named_children
            if child.type == "mod_item" and source.text(child.child_by_field_name("name") or child) == name
        ]
        bodies = [inner for one in modules if (inner := one.child_by_field_name("body")) is not None]
        if len(bodies) != 1:
            count = f"{len(bodies)} inline modules" if bodies else "no inline module"
            raise OperationRefused(f"The file has {count} `{path}`.")
        body = bodies[0]
    return body


def declarations_in(source: Source, body: Node) -> list[Declaration]:
    """The declarations of a module, without those of modules and functions in it."""
    return [read_declaration(source, child) for child in body.named_children if child.type in DECLARATIONS]


def read_declaration(source: Source, node: Node) -> Declaration:
    """A declaration with what stands before it."""
    words = [
        child for child in node.children if child.type in ("visibility_modifier", "use", "extern", "crate")
    ]
    head = " ".join(source.text(word) for word in words)
    if node.type == "extern_crate_declaration":
        name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
        path = (source.text(name),) if name is not None else ("self",)
        tree = UseTree(path, source.text(alias) if alias is not None else "", None, node)
    else:
        argument = node.child_by_field_name("argument")
        tree = read_tree(source, argument) if argument is not None else UseTree((), "", ())
    leading = _without_heading(list(_leading_nodes(source, node)))
    attributes = [
        compact_text(one.named_children[0]) if one.type == "attribute_item" else source.text(one).strip()
        for one in reversed(leading)
        if one.type == "attribute_item" or _is_outer_doc(source, one)
    ]
    return Declaration(node, tree, head, tuple(attributes), leading[-1] if leading else node)


def _leading_nodes(source: Source, node: Node) -> Iterator[Node]:
    """The attributes of a node and the comments directly above it, the nearest first."""
    below, sibling = node, node.prev_sibling
    while sibling is not None:
        is_attribute = sibling.type == "attribute_item"
        if not is_attribute and sibling.type not in COMMENTS:
            return
        end = sibling.start_byte + len(source.data[sibling.start_byte : sibling.end_byte].rstrip())
        is_near = source.data.count(b"\n", end, below.start_byte) <= 1
        is_own = source.is_first_in_line(sibling.start_byte)
        is_inner = source.data[sibling.start_byte + 2 : sibling.start_byte + 3] == b"!"
        if not is_attribute and not (is_near and is_own and not is_inner):
            return
        yield sibling
        below, sibling = sibling, sibling.prev_sibling


def _without_heading(nodes: list[Node]) -> list[Node]:
    """Leading nodes without the comments that begin the file: they are the file's."""
    last = nodes[-1] if nodes else None
    if last is not None and last.prev_sibling is None and last.parent is not None:
        while last.parent.type == "source_file" and nodes and nodes[-1].type in COMMENTS:
            nodes = nodes[:-1]
    return nodes


def _is_outer_doc(source: Source, node: Node) -> bool:
    text = source.data[node.start_byte : node.start_byte + 4]
    return text.startswith((b"///", b"/**")) and not text.startswith((b"////", b"/**/", b"/***"))


def imports_of(declarations: Sequence[Declaration]) -> set[tuple[str, Leaf]]:
    """What declarations import, each with how public it is."""
    return {(one.head, leaf) for one in declarations for leaf in leaves_in(one.tree)}


def lists_of(declarations: Sequence[Declaration]) -> list[Sequence[UseTree]]:
    """The lists in the trees of declarations."""
    return [tree.items or () for one in declarations for tree in lists_in(one.tree)]


def groups_of(source: Source, declarations: Sequence[Declaration]) -> list[list[Declaration]]:
    """Declarations in groups: those of a group follow each other without a blank line or another item."""
    groups: list[list[Declaration]] = []
    for one in declarations:
        last = groups[-1][-1] if groups else None
        if last is not None and last.is_extern == one.is_extern and _is_next(source, last, one):
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def _is_next(source: Source, last: Declaration, one: Declaration) -> bool:
    between = source.data[last.node.end_byte : one.first.start_byte]
    sibling = one.first.prev_sibling
    while sibling is not None and sibling.type in COMMENTS:
        sibling = sibling.prev_sibling
    return between.count(b"\n") <= 1 and sibling is not None and sibling.id == last.node.id


def layout_at(source: Source, node: Node) -> Layout:
    """How lines of a declaration that is there begin and end."""
    start = node.start_byte
    return Layout(source.indent_at(start), source.indent_unit, source.newline_at(start))


def tree_edits(source: Source, one: Declaration, new: UseTree) -> tuple[list[TextEdit], list[str]]:
    """The edits that make the tree of a declaration another, and what is to be said of comments.

    One that is as rustfmt writes it is written so again; of another only the items that differ are touched.
    """
    layout = layout_at(source, one.node)
    if not has_comments([one.node]) and source.text(one.node) == declaration_text(one.tree, one.head, layout):
        text = declaration_text(new, one.head, layout)
        return changed_part(source, one.node.start_byte, one.node.end_byte, text), []
    return _item_edits(source, one.tree, new)


def _item_edits(source: Source, old: UseTree, new: UseTree) -> tuple[list[TextEdit], list[str]]:
    if old == new:
        return [], []
    node = old.node
    assert node is not None, "BUG: a tree of no declaration"
    if old.items is None or new.items is None or old.path != new.path:
        return _replaced_edits(source, old, new)
    if len(old.items) == len(new.items):
        edits: list[TextEdit] = []
        notes: list[str] = []
        for before, after in zip(old.items, new.items, strict=True):
            own_edits, own_notes = _item_edits(source, before, after)
            edits, notes = [*edits, *own_edits], [*notes, *own_notes]
        return edits, notes
    inner = node.child_by_field_name("list")
    items = list_of(source, inner if inner is not None else node, trailing=True)
    if len(new.items) > len(old.items):
        at = next((at for at, item in enumerate(old.items) if item != new.items[at]), len(old.items))
        return items.insert(at, inline_text(new.items[at])), []
    outcome = items.remove([at for at, item in enumerate(old.items) if item not in new.items])
    return list(outcome.edits), list(outcome.notes)


def _replaced_edits(source: Source, old: UseTree, new: UseTree) -> tuple[list[TextEdit], list[str]]:
    """The edits where a list begins or ends to be one; comments of a list keep its braces."""
    node = old.node
    assert node is not None, "BUG: a tree of no declaration"
    if old.items is not None and has_comments([node]):
        whole = {inline_text(item) for item in (new.items if new.items is not None else ())}
        last = inline_text(UseTree(new.path[len(old.path) :], new.alias, new.items))
        inner = node.child_by_field_name("list")
        items = list_of(source, inner if inner is not None else node, trailing=True)
        leaving = [
            at for at, item in enumerate(old.items) if inline_text(item) not in whole | {last or "self"}
        ]
        outcome = items.remove(leaving)
        return list(outcome.edits), list(outcome.notes)
    return changed_part(source, node.start_byte, node.end_byte, inline_text(new)), []
