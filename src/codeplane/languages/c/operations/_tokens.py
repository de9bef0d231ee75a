"""The names in a file: those of the tree, and those in the text of macros, which no grammar reads."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from tree_sitter import Node

from codeplane.languages.c.operations._directives import Directive, Preprocessed
from codeplane.languages.operations import Source

NAMES: Final = ("identifier", "field_identifier", "type_identifier", "statement_identifier")
_DECLARATORS: Final = frozenset(
    "pointer_declarator array_declarator function_declarator parenthesized_declarator init_declarator"
    " attributed_declarator".split()
)
_DECLARATIONS: Final = frozenset(
    "declaration parameter_declaration function_definition field_declaration type_definition"
    " enumerator".split()
)
_MACRO_NAME: Final = re.compile(r"[^\W\d]\w*")


class Macro(NamedTuple):
    """A macro that the file defines."""

    directive: Directive
    name: str
    parameters: frozenset[str]  # empty for one without a list
    is_function: bool
    body: str


def nodes_in(node: Node) -> Iterator[Node]:
    """A node and everything in it, in the order of the file."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting += reversed(current.children)


def names_in(source: Source, node: Node, name: str) -> list[Node]:
    """The tokens of a name in a node."""
    tokens = _name_index(source).get(name, ())
    return [one for one in tokens if node.start_byte <= one.start_byte and one.end_byte <= node.end_byte]


@lru_cache(maxsize=4)
def _name_index(source: Source) -> dict[str, list[Node]]:
    index: dict[str, list[Node]] = {}
    for node in nodes_in(source.root):
        if node.type in NAMES:
            index.setdefault(source.text(node), []).append(node)
    return index


def error_count(source: Source) -> int:
    """How many places of a file the grammar could not read."""
    if not source.root.has_error:
        return 0
    return sum(node.is_error or node.is_missing for node in nodes_in(source.root))


def declaration_of(node: Node) -> Node | None:
    """The declaration that a name is declared by; None for a use of it."""
    child, parent = node, node.parent
    while parent is not None and parent.type in _DECLARATORS:
        own = parent.child_by_field_name("declarator")
        if parent.type not in ("parenthesized_declarator", "attributed_declarator") and own != child:
            return None
        child, parent = parent, parent.parent
    if parent is None or parent.type not in _DECLARATIONS:
        return None
    names = parent.children_by_field_name("name" if parent.type == "enumerator" else "declarator")
    return parent if child in names else None


def in_error(node: Node) -> bool:
    """Whether a node stands in code that the grammar could not read."""
    parent: Node | None = node
    while parent is not None and not parent.is_error:
        parent = parent.parent
    return parent is not None


def macros_in(lines: Preprocessed) -> list[Macro]:
    """The macros that a file defines."""
    macros = []
    for one in lines.directives:
        match = _MACRO_NAME.match(one.argument) if one.name == "define" else None
        if match is None:
            continue
        body = one.argument[match.end() :]
        parameters: frozenset[str] = frozenset()
        is_function = body.startswith("(")
        if is_function:
            head, _, body = body.partition(")")
            parameters = frozenset(_MACRO_NAME.findall(head))
        macros.append(Macro(one, match[0], parameters, is_function, body))
    return macros


def mentions(text: str, name: str) -> bool:
    """Whether code in a text has a name, texts and letters in quotes aside."""
    bare = re.sub(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", " ", text)
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", bare) is not None
