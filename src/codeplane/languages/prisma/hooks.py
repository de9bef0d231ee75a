"""Reads a schema of Prisma block by block; inside of one, a line is a field."""

from typing import Final

from tree_sitter import Node

from codeplane.languages.extraction.scan import Captures, Token, blanks, tokens

_KINDS: Final = {
    b"model": "class",
    b"view": "class",
    b"type": "type",
    b"enum": "enum",
    b"datasource": "block",
    b"generator": "block",
}
_BUILT_IN: Final = frozenset(
    b"String Boolean Int BigInt Float Decimal DateTime Json Bytes Unsupported".split()
)


def readable_source(data: bytes) -> bytes:
    """Blanks: the parser has nothing to read."""
    return blanks(data, _read_schema(data)[1])


def adjust_captures(found: dict[str, list[Node]], data: bytes, root: Node) -> None:
    """What the reader finds."""
    del root
    found.update(_read_schema(data)[0].nodes)


def _read_schema(data: bytes) -> tuple[Captures, int]:
    """What is found, and where something is wrong."""
    captures = Captures()
    header: list[Token] = []
    block: list[Token] = []  # keyword, name and brace
    fields: list[list[Token]] = []
    line, depth = -1, 0
    for one in tokens(data):
        if one.text in (b"(", b"[", b"{") and block:
            depth += 1
        elif one.text in (b")", b"]", b"}") and depth:
            depth -= 1
        elif one.text == b"}" and block:
            _define_block(captures, block, fields, one.end)
            header, block, fields = [], [], []
            continue
        if block:
            at = data.rfind(b"\n", 0, one.start)
            if (at != line and not depth) or not fields:
                fields.append([])
            line = at
            fields[-1].append(one)
        elif one.text == b"{":
            block, header = [*header[-2:], one], []
            line, depth = -1, 0
        else:
            header.append(one)
    return captures, block[0].start if block else -1


def _define_block(made: Captures, block: list[Token], fields: list[list[Token]], end: int) -> None:
    kind = _KINDS.get(block[0].text, "") if len(block) == 3 else ""
    if not kind or not block[1].is_name:
        return
    made.define(kind, block[1], block[0].start, end)
    made.scope(block[2].start, end)
    if kind == "block":
        return
    made.add("identifier", block[1].start, block[1].end)
    for field in (one for one in fields if one and one[0].is_name):
        if kind == "enum":
            made.define("enum_member", field[0], field[0].start, field[-1].end)
        elif len(field) > 1:
            made.define("field", field[0], field[0].start, field[-1].end)
            if field[1].is_name and field[1].text not in _BUILT_IN:
                made.type(field[1:2])
