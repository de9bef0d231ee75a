"""Checks that code is still what it was after it has been put into other code."""

from typing import Final

from tree_sitter import Node

from codeplane.languages.operations.generic._template import Filling
from codeplane.languages.operations.source import Source
from codeplane.languages.query import errors_in

_LOOSE: Final = frozenset(
    (
        "arrow_function",
        "assignment_expression",
        "augmented_assignment_expression",
        "lambda",
        "yield_expression",
    )
)
_OPERATIONS: Final = frozenset(
    ("await_expression", "binary_expression", "boolean_operator", "not_operator", "unary_expression")
)


def has_new_errors(before: Source, after: Source) -> bool:
    """Whether a file parses worse than it did."""
    return after.root.has_error and errors_in(after.root) > errors_in(before.root)


def lacks_something(after: Source, start: int, end: int) -> bool:
    """Whether something is missing in a text that parses: a body without statements."""
    waiting = [_smallest(after.root, start, end)]
    while waiting:
        node = waiting.pop()
        if start <= node.start_byte <= end and node.start_byte == node.end_byte and node.is_named:
            return True
        waiting += [child for child in node.children if child.start_byte <= end and start <= child.end_byte]
    return False


def regrouped_pieces(after: Source, start: int, filling: Filling) -> frozenset[int]:
    """The numbers of the holes whose node is none any more in the file that the text was put into."""
    return frozenset(
        number
        for number, piece in enumerate(filling.pieces)
        if piece.node is not None
        and (
            not _is_node(after.root, start + piece.start, start + piece.end, piece.node.kind_id)
            or _is_misplaced(_smallest(after.root, start + piece.start, start + piece.end))
        )
    )


def is_regrouped(after: Source, start: int, end: int) -> bool:
    """Whether code around a text takes a part of it: `x + 1` in the place of `f(x)` in `f(x) * 2`."""
    node = _smallest(after.root, start, end)
    is_whole = (node.start_byte, node.end_byte) == (start, end)
    return (is_whole and _is_misplaced(node)) or any(
        child.start_byte < end and start < child.end_byte
        and not (start <= child.start_byte and child.end_byte <= end)
        for child in node.children
    )  # fmt: skip


def _is_misplaced(node: Node) -> bool:
    """Whether a node is an operand that grammars read and languages refuse without parentheses.

    JavaScript has no `2 * x => x`, no `a || b ?? c` and no `-x ** 2`, Python no `a or lambda: 1`.
    """
    parent = node.parent
    if parent is None or parent.type not in _OPERATIONS:
        return False
    own, outer = _operator_of(node), _operator_of(parent)
    is_mixed = "??" in (own, outer) and bool({own, outer} & {"||", "&&"})
    is_power = outer == "**" and node.type == "unary_expression" and node.start_byte == parent.start_byte
    return node.type in _LOOSE or is_mixed or is_power


def _operator_of(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def _is_node(root: Node, start: int, end: int, kind: int) -> bool:
    """Whether a span is one node, of a kind where the text is long enough to be read in several ways."""
    node: Node | None = _smallest(root, start, end)
    while node is not None and (node.start_byte, node.end_byte) == (start, end):
        if node.kind_id == kind or not node.child_count:
            return True
        node = next((child for child in node.children if _spans(child, start, end)), None)
    return False


def _smallest(root: Node, start: int, end: int) -> Node:
    """The outermost node that is exactly a span, or else the innermost one around it."""
    node = root
    while (node.start_byte, node.end_byte) != (start, end):
        inner = next((child for child in node.children if _spans(child, start, end)), None)
        if inner is None:
            break
        node = inner
    return node


def _spans(node: Node, start: int, end: int) -> bool:
    return node.start_byte <= start and end <= node.end_byte
