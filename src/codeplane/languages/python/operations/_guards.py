"""What no operation on a Python file may go on with."""

import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from codeplane.languages.operations import OperationRefused, Source

_COOKIE: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF_8: Final = frozenset((b"utf-8", b"utf8", b"utf-8-sig", b"utf_8", b"u8", b"ascii", b"us-ascii"))
_CONFLICT: Final = re.compile(rb"^(?:<{7} |>{7} |={7}$)", re.MULTILINE)
_OLD_PRINT: Final = re.compile(rb"^[ \t]*(?:print|exec)[ \t]+[\w\"'%(]", re.MULTILINE)
_OLD_KINDS: Final = frozenset(("print_statement", "exec_statement"))


def refuse_unsafe(source: Source, text: str = "") -> None:
    """Refuses Python 2, files with conflict markers, and letters that its encoding has not."""
    if _CONFLICT.search(source.data):
        raise OperationRefused("The file holds the conflict markers of a merge; resolve it first.")
    if not text.isascii() and (encoding := _declared_encoding(source.data)) is not None:
        raise OperationRefused(
            f"The file declares the encoding {encoding}, and the text has letters beyond ASCII."
        )
    for match in _OLD_PRINT.finditer(source.data):
        node = source.root.descendant_for_byte_range(match.end() - 1, match.end() - 1)
        while node is not None:
            if node.type in _OLD_KINDS:
                line = source.line_of(node.start_byte)
                raise OperationRefused(f"The file is Python 2: line {line} has a statement of it.", node)
            node = node.parent


def _declared_encoding(data: bytes) -> str | None:
    """The encoding of a cookie in the first two lines; None where that is UTF-8."""
    for row in data.split(b"\n", 2)[:2]:
        match = _COOKIE.match(row)
        if match and match[1].lower() not in _UTF_8:
            return match[1].decode("ascii", "replace")
    return None


def refuse_errors_among(source: Source, nodes: Sequence[Node]) -> None:
    """Refuses a file that has a syntax error in one of its first statements, or right behind them."""
    following = source.root.children[len(nodes) : len(nodes) + 1]
    node = next((child for child in (*nodes, *following) if child.has_error), None)
    if node is not None:
        line = source.line_of(node.start_byte)
        raise OperationRefused(
            f"The file holds a syntax error at line {line}, or syntax that the grammar does not know.", node
        )
