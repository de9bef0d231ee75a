"""Whether a name that is to be imported means something else in its module."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source
from codeplane.languages.rust.operations._declarations import Declaration
from codeplane.languages.rust.operations._guards import lines_of
from codeplane.languages.rust.operations._import_requests import bound_leaves, is_same_path
from codeplane.languages.rust.operations._use_trees import Leaf

_ITEMS: Final = frozenset(
    "function_item function_signature_item struct_item enum_item union_item trait_item type_item const_item"
    " static_item mod_item".split()
)
_STANDARD: Final = ("std", "core", "alloc")
# Names that every module has without an import.
_PRELUDE: Final = frozenset(
    "Option Some None Result Ok Err Vec Box String ToString ToOwned Clone Copy Send Sync Sized Drop Fn FnMut"
    " FnOnce AsRef AsMut Into From Default Iterator Extend IntoIterator DoubleEndedIterator ExactSizeIterator"
    " Eq PartialEq Ord PartialOrd drop TryFrom TryInto FromIterator".split()
)


def refuse_conflict(
    source: Source, body: Node, declarations: Sequence[Declaration], leaf: Leaf, *, is_conditional: bool
) -> None:
    """Refuses an import whose name the module binds to something else, or takes from the prelude."""
    local = leaf.local_name
    if not local:
        return
    for one in declarations:
        if is_conditional and one.is_conditional:
            continue
        for other in bound_leaves(one):
            if other.local_name == local and not is_same_path(leaf, other):
                _raise_conflict(source, one.node, local)
    for child in body.named_children:
        name = child.child_by_field_name("name") if child.type in _ITEMS else None
        if name is None or source.text(name) != local:
            continue
        # A module `zip` and its function `zip` may have one name.
        if not (child.type == "mod_item" and local in leaf.path[:-1]):
            _raise_conflict(source, child, local)
    # The prelude's own names come from the standard library; `std::io::Result` is another.
    is_own = leaf.path[0] in _STANDARD and leaf.path[-1] == local != "Result"
    if local in _PRELUDE and not is_own:
        _refuse_shadowed_prelude(source, body, local)


def _raise_conflict(source: Source, node: Node, local: str) -> None:
    line = source.line_of(node.start_byte)
    raise OperationRefused(
        f"`{local}` is bound to something else at line {line}; import it under another name with `as`.", node
    )


def _refuse_shadowed_prelude(source: Source, body: Node, local: str) -> None:
    uses = [node.start_byte for node in bare_names(source, body, local)]
    if uses:
        raise OperationRefused(
            f"`{local}` is the one of the prelude at {lines_of(source, uses)}; import it under another name"
            " with `as`."
        )


def bare_names(source: Source, body: Node, name: str) -> Iterator[Node]:
    """Where a name stands that is no field and no later part of a path, `use` declarations aside."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        if node.type in ("use_declaration", "extern_crate_declaration"):
            continue
        waiting += reversed(node.children)
        if node.type in ("identifier", "type_identifier") and source.text(node).removeprefix(
            "r#"
        ) == name.removeprefix("r#"):
            parent = node.parent
            is_tail = (
                parent is not None
                and parent.type in ("scoped_identifier", "scoped_type_identifier")
                and parent.child_by_field_name("name") == node
                and parent.child_count > 1
            )
            is_other = is_tail or _is_lifetime(node) or _is_defined(node)
            if not is_other and not _is_behind_path(source, node):
                yield node


def _is_behind_path(source: Source, node: Node) -> bool:
    """Whether `::` or `.` stands before a name in the tokens of a macro."""
    parent = node.parent
    if parent is None or parent.type != "token_tree":
        return False
    before = source.data[: node.start_byte].rstrip()
    return before.endswith((b"::", b".")) and not before.endswith(b"..")


def _is_defined(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type in _ITEMS and parent.child_by_field_name("name") == node


def _is_lifetime(node: Node) -> bool:
    return node.parent is not None and node.parent.type in ("lifetime", "label")
