"""Parses a file again after a small change, from the tree before it."""

from collections.abc import Callable

from tree_sitter import Tree

from codeplane.languages.query import parser_of


def reparse(language: str, before: bytes, tree: Tree, after: bytes) -> Tree:
    """The tree of a file after a change, equal to that of the whole file.

    How a parser gets over a syntax error depends on where it began, so files with errors are parsed whole.
    """
    parser = parser_of(language)
    if tree.root_node.has_error:
        return parser.parse(after)
    start, tail = common_ends(before, after)
    old_end, new_end = len(before) - tail, len(after) - tail
    # The tree before is still in use: its nodes are places in the bytes before.
    copy = tree.copy()
    copy.edit(start, old_end, new_end, _place(before, start), _place(before, old_end), _place(after, new_end))
    result = parser.parse(after, copy)
    return parser.parse(after) if result.root_node.has_error else result


def common_ends(before: bytes, after: bytes) -> tuple[int, int]:
    """How many bytes two texts have in common at their beginning, and after that at their end."""
    shortest = min(len(before), len(after))
    start = _longest(shortest, lambda size: before[:size] == after[:size])
    tail = _longest(shortest - start, lambda size: before[len(before) - size :] == after[len(after) - size :])
    return start, tail


def _longest(most: int, is_equal: Callable[[int], bool]) -> int:
    """The largest size up to `most` that is equal, by bisection."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if is_equal(middle) else (low, middle - 1)
    return low


def _place(data: bytes, offset: int) -> tuple[int, int]:
    # A pair: the constructor of `tree_sitter.Point` crashes the interpreter for numbers that are computed.
    return data.count(b"\n", 0, offset), offset - (data.rfind(b"\n", 0, offset) + 1)
