"""An index in the wire format of SCIP."""

from __future__ import annotations

import re
from typing import Iterable, NamedTuple


class Occurrence(NamedTuple):
    """A name in a file, by bytes."""

    offset: int
    length: int
    symbol: str
    roles: int


class Document(NamedTuple):
    """What is known of the names of one file."""

    path: str
    language: str
    source: bytes
    occurrences: list[Occurrence]
    relations: dict[str, set[str]]  # symbol → what it implements


def escaped(name: str) -> str:
    """A name as SCIP writes it in a descriptor."""
    if re.fullmatch(r"[A-Za-z0-9_+$-]+", name):
        return name
    return "`" + name.replace("`", "``").replace("\0", "") + "`"


def varint(value: int) -> bytes:
    """A number in the wire format of protocol buffers."""
    pieces = bytearray()
    while value > 127:
        pieces.append(value & 127 | 128)
        value >>= 7
    return bytes([*pieces, value])


def number_field(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value) if value else b""


def bytes_field(field: int, value: bytes | str) -> bytes:
    data = value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def write_index(path: str, root: str, version: str, documents: Iterable[Document]) -> int:
    """Writes an index; gives the number of its documents."""
    tool = bytes_field(1, "codeplane-clang") + bytes_field(2, version)
    metadata = bytes_field(2, tool) + bytes_field(3, "file://" + root) + number_field(4, 1)
    count = 0
    with open(path, "wb") as stream:
        stream.write(bytes_field(1, metadata))
        for one in documents:
            count += 1
            stream.write(bytes_field(2, encode_document(one)))
    return count


def encode_document(document: Document) -> bytes:
    source, line, start = document.source, 0, 0
    pieces = [bytes_field(1, document.path)]
    for offset, length, symbol, roles in document.occurrences:
        line += source.count(b"\n", start, offset)
        start = offset
        column = offset - source.rfind(b"\n", 0, offset) - 1
        span = varint(line) + varint(column) + varint(column + length)
        pieces.append(bytes_field(2, bytes_field(1, span) + bytes_field(2, symbol) + number_field(3, roles)))
    for symbol, others in sorted(document.relations.items()):
        relations = (bytes_field(4, bytes_field(1, one) + number_field(3, 1)) for one in sorted(others))
        pieces.append(bytes_field(3, bytes_field(1, symbol) + b"".join(relations)))
    pieces += [bytes_field(4, document.language), number_field(6, 1)]
    return b"".join(pieces)
