"""Parses files and runs tree-sitter queries over them, within limits. Nothing else runs a query.

A query counts depth in 16 bits and never ends on a tree that is deeper. It carries every match that has begun
along, so depth costs its square. In an error node it looks for the next named sibling again at every token.
"""

import ctypes
import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

from tree_sitter import Language, Node, Parser, Query, QueryCursor

from codeplane.languages.spec import part_of, specs

MAX_DEPTH: Final = 20_000
MAX_BROKEN: Final = 20_000  # tokens in one error node
LARGEST: Final = 2 << 20  # bytes of a file that a pattern is run over
_WINDOW: Final = 1 << 20  # bytes of a tree that a query runs over at once
_VISITS: Final = 2_000  # nodes that are looked at to find an error node that is too wide

_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


@cache
def grammar_of(language: str) -> Language:
    """The tree-sitter grammar of a language, loaded from its wheel once."""
    spec = specs()[language]
    pointer = getattr(importlib.import_module(spec.grammar), spec.function)()
    # Older wheels give the address itself.
    return Language(_capsule(pointer, b"tree_sitter.Language", None) if isinstance(pointer, int) else pointer)


@cache
def parser_of(language: str) -> Parser:
    """The parser of a language. It needs no query: those of the facts take long to compile."""
    return Parser(grammar_of(language))


def readable(language: str, data: bytes) -> bytes:
    """The bytes of a file as the grammar can read them."""
    hooks = part_of(language, "hooks")
    text: bytes = hooks.readable_source(data) if hooks and hasattr(hooks, "readable_source") else data
    return text


def parse(language: str, data: bytes) -> Node:
    """The root of the syntax tree of a file, however deep or broken it is."""
    return parser_of(language).parse(readable(language, data)).root_node


def parse_within_limits(language: str, data: bytes) -> Node | None:
    """The root of the syntax tree of a file; None where no query could be run over it in good time."""
    if len(data) > LARGEST:
        return None
    root = parse(language, data)
    return None if is_too_deep(root, len(data)) or is_too_broken(root) else root


def matches(language: str, patterns: str, data: bytes) -> Iterator[tuple[int, dict[str, list[Node]]]]:
    """The matches of patterns in a file: the number of the pattern, and its captures. None in a file that is
    beyond the limits."""
    root = parse_within_limits(language, data)
    if root is not None:
        yield from _cursor_of(_compiled(language, patterns), MAX_DEPTH).matches(root)


def captures(query: Query, root: Node, depth: int = MAX_DEPTH) -> dict[str, list[Node]]:
    """The captures of a compiled query in a tree; patterns begin at no node deeper than `depth`."""
    return _cursor_of(query, depth).captures(root)


def query_matches(query: Query, root: Node) -> Iterator[tuple[int, dict[str, list[Node]]]]:
    """The matches of a compiled query in a tree. With quantifiers it may never end, and needs a process."""
    yield from _cursor_of(query, MAX_DEPTH).matches(root)


def windowed_captures(query: Query, root: Node, depth: int = MAX_DEPTH) -> Iterator[dict[str, list[Node]]]:
    """The captures of a compiled query, some bytes of the tree at a time: the caller can stop in between.

    A node that is in several windows comes several times.
    """
    start = root.start_byte
    while start <= root.end_byte:
        cursor = _cursor_of(query, depth)
        cursor.set_byte_range(start, start + _WINDOW)
        yield cursor.captures(root)
        start += _WINDOW


def compiled(language: str, patterns: str) -> Query:
    """A query of a language."""
    return Query(grammar_of(language), patterns)


_compiled = cache(compiled)


def _cursor_of(query: Query, depth: int) -> QueryCursor:
    cursor = QueryCursor(query)
    cursor.set_max_start_depth(depth)
    return cursor


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """Nodes from left to right, outer ones first: captures come in an order that depends on addresses."""
    return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))


def is_too_deep(root: Node, size: int) -> bool:
    """Whether the largest part of the file goes deeper than a query does. Each level takes a byte or more.

    The library's own steps to a byte overflow the stack in such trees; lists of children do not.
    """
    node = root
    for depth in range(MAX_DEPTH if size >= MAX_DEPTH else 0):
        # Below a node there are no more levels than nodes.
        if depth + node.descendant_count <= MAX_DEPTH:
            return False
        node = max(node.children, key=_node_length)
    return size >= MAX_DEPTH


def _node_length(node: Node) -> int:
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
        is_inside = not (node.is_error or node.is_missing)
        node = next((child for child in node.children if child.has_error), None) if is_inside else None
    return inner.start_byte


def errors_in(root: Node) -> int:
    """How many error nodes a tree has."""
    count, waiting = 0, [root] if root.has_error else []
    while waiting:
        node = waiting.pop()
        count += node.is_error
        waiting += [child for child in node.children if child.has_error]
    return count
