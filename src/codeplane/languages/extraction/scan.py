"""Reading small languages without a grammar: tokens in, captures out.

The parser is given blanks, so its tree is empty; at what is wrong it is given something to stumble over, so
that the file counts as read in part.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

from tree_sitter import Node

_TOKEN: Final = re.compile(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*+\"|'(?:\\.|[^'\\\n])*+'|[A-Za-z_]\w*+|\d[\w.]*+|\S",
    re.DOTALL,
)
_NAME: Final = re.compile(rb"[A-Za-z_]\w*")


class Token(NamedTuple):
    """A piece of a text by its bytes."""

    text: bytes
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        return _NAME.fullmatch(self.text) is not None


class ByteSpan(NamedTuple):
    """What is read of a node."""

    start_byte: int
    end_byte: int


def tokens(data: bytes) -> Iterator[Token]:
    """The tokens of a text, comments left out."""
    for match in _TOKEN.finditer(data):
        if not match[0].startswith((b"//", b"/*")):
            yield Token(match[0], *match.span())


def blanks(data: bytes, wrong: int) -> bytes:
    """The source blanked out, with a brace that no grammar can read at a wrong place; -1 where none is."""
    text = bytearray(re.sub(rb"[^\r\n]", b" ", data))
    if 0 <= wrong < len(text):
        text[wrong] = ord("}")
    return bytes(text)


class Captures:
    """What a reader finds, as a query would give it."""

    def __init__(self) -> None:
        self.nodes: dict[str, list[Node]] = {}

    def add(self, capture: str, start: int, end: int) -> None:
        self.nodes.setdefault(capture, []).append(cast("Node", ByteSpan(start, end)))

    def define(self, kind: str, name: Token, start: int, end: int) -> None:
        """A definition with its name."""
        self.add(f"definition.{kind}", start, end)
        self.add("name", name.start, name.end)

    def scope(self, start: int, end: int) -> None:
        """The body of the definition around it."""
        self.add("body", start, end)
        self.add("scope.class", start, end)

    def type(self, path: list[Token]) -> None:
        """A type that is named, with what stands before it."""
        last = path[-1]
        self.add("identifier", last.start, last.end)
        self.add("reference.type", last.start, last.end)
        if len(path) > 1:
            self.add("identifier", path[0].start, path[0].end)
            self.add("member", path[0].start, last.end)
