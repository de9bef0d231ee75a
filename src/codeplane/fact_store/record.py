"""The facts of one content as bytes, and what is the same of them on every machine."""

import hashlib
import json
import struct
import zlib
from typing import Any, Final

from codeplane.core.documents import decode_json
from codeplane.core.errors import ArtifactInvalid
from codeplane.parsing.check import check_packed
from codeplane.parsing.pack import Packed, sql_text, unpack_occurrences
from codeplane.parsing.words import without_nulls, words_of

_LENGTHS: Final = struct.Struct("<6I")
_LEAST: Final = 65_536
_PER_BYTE: Final = 64


def largest_record(size: int) -> int:
    """How long the facts of a file of that many bytes may be: far more than those of any real file."""
    return _LEAST + _PER_BYTE * size


def make_record(facts: Packed, words: str) -> bytes:
    """The bytes of facts, with the words of the file that they are about."""
    head = [
        *map(_plain_value, facts[:6]),
        *[[[*map(_plain_value, row)] for row in rows] for rows in facts[8:13]],
    ]
    parts = (
        json.dumps(head, separators=(",", ":")).encode(),
        facts.scopes,
        facts.binds,
        facts.names,
        facts.occurrences if facts.names else b"",
        " ".join(sorted(set(words.split()))).encode("utf-8", "surrogateescape"),
    )
    return _LENGTHS.pack(*map(len, parts)) + b"".join(parts)


def fingerprint(facts: Packed) -> bytes:
    """Equal for equal facts: words have no order, and another compressor may give other bytes."""
    columns = zlib.decompress(facts.occurrences) if facts.names else b""
    return hashlib.sha256(make_record(facts._replace(occurrences=columns), facts.words)).digest()


def words_for(language: str, data: bytes, facts: Packed) -> str:
    """The words that a worker finds in a file, given its facts."""
    if not language:
        return words_of(data)
    names = unpack_occurrences(facts.names, facts.occurrences).texts if facts.names else []
    return words_of(without_nulls(data), names)


def read_record(record: bytes) -> Packed:
    """Reads the bytes of facts; `ArtifactInvalid` for what is none. What the facts say is not checked."""
    try:
        parts = _split_parts(record)
        head = decode_json(parts[0])
        if not isinstance(head, list) or len(head) != 11:
            raise ValueError("an unusual head")
        definitions, imports, exports, dynamics, members = (list(map(_read_row, rows)) for rows in head[6:])
        columns: list[Any] = [
            *head[:6],
            parts[1],
            parts[2],
            [(sql_text(name), *rest) for name, *rest in definitions],
            imports,
            exports,
            dynamics,
            [(sql_text(name),) for (name,) in members],
            parts[3],
            parts[4],
            parts[5].decode("utf-8", "surrogateescape"),
        ]
        return Packed(*columns)
    except (ValueError, TypeError, AttributeError, struct.error) as error:
        raise ArtifactInvalid(f"Facts of an artifact can't be read: {error}.") from error


def check_record(facts: Packed, size: int) -> None:
    """Refuses facts that no file of that many bytes can have."""
    try:
        check_packed(facts, size)
    except ValueError as error:
        raise ArtifactInvalid(f"An artifact has {error}.") from error


def _split_parts(record: bytes) -> list[bytes]:
    lengths = _LENGTHS.unpack_from(record)
    if sum(lengths) + _LENGTHS.size != len(record):
        raise ValueError("the lengths of its parts are others")
    parts, at = [], _LENGTHS.size
    for length in lengths:
        parts.append(record[at : at + length])
        at += length
    return parts


def _read_row(row: Any) -> tuple[Any, ...]:
    if not isinstance(row, list):
        raise ValueError("a row is none")
    return tuple(row)


def _plain_value(value: object) -> object:
    """A column as JSON has it: flags are numbers, and names that are not UTF-8 keep their bytes."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return int(value) if isinstance(value, bool) else value
