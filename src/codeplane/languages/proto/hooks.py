"""Reads protocol buffers statement by statement."""

from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from codeplane.languages.extraction.imports import Imported, Mention
from codeplane.languages.extraction.scan import Captures, Token, blanks, tokens

_HOLDERS: Final = {b"message": "message", b"enum": "enum", b"service": "service"}
_LABELS: Final = (b"repeated", b"optional", b"required", b"group")
_NO_FIELDS: Final = (b"option", b"reserved", b"extensions", b"syntax", b"edition", b"package", b"import")
_BUILT_IN: Final = frozenset(
    b"double float int32 int64 uint32 uint64 sint32 sint64 fixed32 fixed64 sfixed32 sfixed64 bool string"
    b" bytes map".split()
)
_DEEPEST: Final = 500


def readable_source(data: bytes) -> bytes:
    """Blanks: the parser has nothing to read."""
    return blanks(data, _Reader(data).wrong)


def adjust_captures(found: dict[str, list[Node]], data: bytes, root: Node) -> None:
    """What the reader finds."""
    del root
    found.update(_Reader(data).made.nodes)


def read_imports(kind: str, node: Node, data: bytes) -> tuple[list[Imported], list[Mention]]:
    """A file that is imported: itself, and the names of its package."""
    text = data[node.start_byte : node.end_byte]
    module = text[text.index(text[-1:]) :].strip(b"\"'")
    is_public = b"public" in text.split(b'"')[0].split(b"'")[0]
    names = Imported("proto_names", module, b"*", b"", node.start_byte, None, reexport=is_public)
    return [Imported(f"{kind}_import", module, b"", b"", node.start_byte, None), names], []


@dataclass
class _Block:
    kind: str  # message, enum, service, oneof, extend, rpc; "" for what is not read
    start: int
    body: int
    name: Token | None = None


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.made = Captures()
        self.wrong = -1
        self._blocks: list[_Block] = []
        self._statement: list[Token] = []
        self._depth = 0  # braces of values
        self._package = b""
        for one in tokens(data):
            self._read_token(one)
        if self._blocks or self._depth:
            self.wrong = self._blocks[0].start if self._blocks else 0

    @property
    def _kind_of_block(self) -> str:
        return self._blocks[-1].kind if self._blocks else "file"

    def _read_token(self, one: Token) -> None:
        if one.text == b"{":
            self._open_block(one)
        elif one.text == b"}":
            self._close_block(one)
        elif one.text == b";" and not self._depth:
            self._end_statement(one)
        else:
            self._statement.append(one)

    def _open_block(self, one: Token) -> None:
        statement = self._statement
        first = statement[0].text if statement else b""
        name = statement[1] if len(statement) > 1 and statement[1].is_name else None
        words = [token.text for token in statement[:2]]
        if b"group" in words and words[-1] == b"group" and len(statement) > 2 and not self._depth:
            self._blocks.append(_Block("message", statement[0].start, one.start, statement[2]))
            self._statement = []
            return
        if self._depth or any(token.text == b"=" for token in statement) or len(self._blocks) > _DEEPEST:
            self._depth += 1
            return
        kind = _HOLDERS.get(first, "")
        if first in (b"extend", b"oneof", b"rpc"):
            kind = first.decode()
        if kind == "rpc":
            self._types_of_rpc(statement)
        elif kind == "extend":
            self._read_type(statement[1:])
        start = statement[0].start if statement else one.start
        self._blocks.append(_Block(kind, start, one.start, name))
        self._statement = []

    def _close_block(self, one: Token) -> None:
        if self._depth:
            self._depth -= 1
            return
        self._statement = []
        if not self._blocks:
            self.wrong = one.start
            return
        block = self._blocks.pop()
        if block.kind == "rpc" and block.name is not None:
            self.made.define("rpc", block.name, block.start, one.end)
            self.made.add("body", block.body, one.end)
        elif block.kind in _HOLDERS.values() and block.name is not None:
            self.made.define(block.kind, block.name, block.start, one.end)
            self.made.add("identifier", block.name.start, block.name.end)
            self.made.scope(block.body, one.end)

    def _end_statement(self, one: Token) -> None:
        statement, self._statement = self._statement, []
        if not statement:
            return
        first, kind = statement[0].text, self._kind_of_block
        start = statement[0].start
        if first == b"import" and kind == "file":
            self.made.add("import.proto", start, statement[-1].end)
        elif first == b"package" and kind == "file" and len(statement) > 1:
            self.made.add("package", statement[1].start, statement[-1].end)
            self._package = b"".join(one.text for one in statement[1:])
        elif first == b"rpc" and kind == "service":
            self._types_of_rpc(statement)
            if len(statement) > 1:
                self.made.define("rpc", statement[1], start, one.end)
        elif first == b"option" and len(statement) > 1 and statement[1].is_name is False:
            return
        elif kind == "enum" and first not in (b"option", b"reserved"):
            self.made.define("enum_member", statement[0], start, one.end)
        elif kind in ("message", "oneof", "extend") and first not in _NO_FIELDS:
            self._read_field(statement, one.end)

    def _read_field(self, statement: list[Token], end: int) -> None:
        start = statement[0].start
        equals = next((at for at, one in enumerate(statement) if one.text == b"="), len(statement))
        rest = statement[:equals]
        if rest and rest[0].text in _LABELS:
            rest = rest[1:]
        if len(rest) < 2 or not rest[-1].is_name:
            return
        self.made.define("field", rest[-1], start, end)
        if rest[0].text == b"map" and rest[1].text == b"<":
            comma = next((at for at, one in enumerate(rest) if one.text == b","), len(rest))
            rest = [one for one in rest[comma + 1 :] if one.text != b">"]
        self._read_type(rest[:-1])

    def _types_of_rpc(self, statement: list[Token]) -> None:
        """What stands in parentheses."""
        path: list[Token] = []
        for one in statement[2:]:
            if one.text == b"(":
                path = []
            elif one.text == b")":
                self._read_type(path)
            elif one.text != b"stream":
                path.append(one)

    def _read_type(self, path: list[Token]) -> None:
        names = [one for one in path if one.is_name]
        if b".".join(one.text for one in names[:-1]) == self._package:
            names = names[-1:]
        if names and names[-1].text not in _BUILT_IN:
            self.made.type(names)
