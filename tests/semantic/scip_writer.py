"""Writes SCIP indexes for tests."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Says(NamedTuple):
    """An occurrence to write: the range as three or four numbers, the symbol, the roles."""

    span: Sequence[int]
    symbol: str
    roles: int = 0


class Relates(NamedTuple):
    """A relationship to write, with the flags of `Relationship` in their order."""

    symbol: str
    other: str
    flags: tuple[bool, bool, bool, bool] = (False, True, False, False)


class Paper(NamedTuple):
    """A document to write."""

    path: str
    says: Sequence[Says] = ()
    relates: Sequence[Relates] = ()
    encoding: int = 1
    language: str = "python"
    text: str | None = None


def varint(value: int) -> bytes:
    pieces = bytearray()
    while value > 127:
        pieces.append(value & 127 | 128)
        value >>= 7
    return bytes([*pieces, value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def block(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def metadata(tool: str = "toy", version: str = "1.0", root: str = "file:///r") -> bytes:
    return block(1, block(2, block(1, tool) + block(2, version)) + block(3, root) + number(4, 1))


def occurrence(item: Says) -> bytes:
    span = block(1, b"".join(map(varint, item.span)))
    return block(2, span + block(2, item.symbol) + (number(3, item.roles) if item.roles else b""))


def typed_occurrence(item: Says) -> bytes:
    """An occurrence whose range is a message, zeros left out, behind fields that are of no interest."""
    inner = b"".join(number(at, value) for at, value in enumerate(item.span, 1) if value)
    span = block(8 if len(item.span) == 3 else 9, inner)
    return block(2, block(2, item.symbol) + number(3, item.roles) + number(5, 7) + span)


def relationship(item: Relates) -> bytes:
    flags = b"".join(number(at, 1) for at, flag in enumerate(item.flags, 2) if flag)
    return block(3, block(1, item.symbol) + block(3, "docs") + block(4, block(1, item.other) + flags))


def document(paper: Paper) -> bytes:
    pieces = [block(4, paper.language), block(1, paper.path), *map(occurrence, paper.says)]
    pieces += [*map(relationship, paper.relates), number(6, paper.encoding)]
    if paper.text is not None:
        pieces.append(block(5, paper.text))
    return block(2, b"".join(pieces))


def index(papers: Iterable[Paper], tool: str = "toy") -> bytes:
    return metadata(tool) + b"".join(map(document, papers)) + block(3, block(1, "outside"))
