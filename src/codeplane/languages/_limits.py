"""Trees that a query cannot read in good time, or not as a whole.

A query counts depth in 16 bits and never ends on a tree that is deeper. It carries every match that has begun
along, so depth costs its square. In an error node it looks for the next named sibling again at every token.
"""

from collections.abc import Iterable

from tree_sitter import Node, Query, QueryCursor

MAX_DEPTH = 20_000
MAX_BROKEN = 20_000  # tokens in one error node
_VISITS = 2_000  # nodes that are looked at to find an error node that is too wide


def captures(query: Query, root: Node, depth: int = MAX_DEPTH) -> dict[str, list[Node]]:
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(depth)
    return cursor.captures(root)


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """Nodes from left to right, outer ones first: captures come in an order that depends on addresses."""
    return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))


def cut(found: dict[str, list[Node]], most: int) -> bool:
    """Leaves out what comes after the first `most` definitions; whether there was any such thing."""
    nodes = [node for capture in found if capture.startswith("definition.") for node in found[capture]]
    if len(nodes) <= most:
        return False
    end = sorted(node.start_byte for node in nodes)[most]
    for capture in found:
        found[capture] = [node for node in found[capture] if node.start_byte < end]
    return True


def is_too_deep(root: Node, size: int) -> bool:
    """Whether the largest part of the file goes deeper than a query does. Each level takes a byte or more.

    The library's own steps to a byte overflow the stack in such trees; lists of children do not.
    """
    node = root
    for depth in range(MAX_DEPTH if size >= MAX_DEPTH else 0):
        # Below a node there are no more levels than nodes.
        if depth + node.descendant_count <= MAX_DEPTH:
            return False
        node = max(node.children, key=_length)
    return size >= MAX_DEPTH


def _length(node: Node) -> int:
    return node.end_byte - node.start_byte


def is_too_broken(root: Node) -> bool:
    """Whether an error node holds more tokens than a query can be run over."""
    waiting = [root] if root.has_error else []
    for _ in range(_VISITS):
        if not waiting:
            return False
        node = waiting.pop()
        children = node.children
        if len(children) > MAX_BROKEN and sum(not child.is_named for child in children) > MAX_BROKEN:
            return True
        waiting += [child for child in children if child.has_error]
    return False


def first_error(root: Node) -> int:
    """Where the first error of a tree that has one begins. Only what holds an error is walked through.

    What is missing may have no node: then it is missing in the innermost one that has an error.
    """
    node: Node | None = root
    while node is not None:
        inner = node
        broken = not (node.is_error or node.is_missing)
        node = next((child for child in node.children if child.has_error), None) if broken else None
    return inner.start_byte


def errors_in(root: Node) -> int:
    """How many error nodes a tree has."""
    found, waiting = 0, [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        found += node.is_error
        waiting += [child for child in node.children if child.has_error]
    return found
