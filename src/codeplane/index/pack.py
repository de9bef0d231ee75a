"""Facts of one blob as rows and packed arrays: small to send between processes and to keep."""

import hashlib
import json
import sys
import zlib
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from codeplane.languages.facts import Bind, Facts, Occurrence, Reason, Role, Scope, ScopeKind, Span

_SMALL, _LARGE = b"H", b"I"
_FIELDS = 6
_SCOPE_FIELDS = 6


class Packed(NamedTuple):
    """What a worker sends back for one blob. Names are texts; the writer gives them their ids."""

    lines: int
    state: str
    reason: str
    interface: str
    package: str
    scopes: bytes
    binds: bytes
    definitions: list[tuple[object, ...]]
    imports: list[tuple[object, ...]]
    exports: list[tuple[object, ...]]
    dynamics: list[tuple[object, ...]]
    occurrences: dict[str, bytes]
    words: str


def pack(facts: Facts, words: str) -> Packed:
    return Packed(
        facts.lines,
        facts.state,
        facts.reason,
        _interface(facts),
        _text(facts.package),
        pack_numbers([n for s in facts.scopes for n in (s.parent + 1, s.kind, *s.span)]),
        zlib.compress(json.dumps([facts.binds, facts.receivers], separators=(",", ":")).encode(), 1),
        [
            (
                *d[:5],
                *d.span,
                d.name_line,
                d.name_column,
                d.signature,
                "\n".join(d.bases),
                d.annotation,
                d.flags,
                _text(d.owner),
            )
            for d in facts.definitions
        ],
        [(i.scope, i.kind, *map(_text, i[2:5]), *i[5:]) for i in facts.imports],
        [(*map(_text, e[:3]), e.certain) for e in facts.exports],
        [(d.pattern, d.line, d.column, json.dumps(d.literals), d.computed) for d in facts.dynamics],
        {name: pack_numbers(flat) for name, flat in facts.occurrences.items()},
        words,
    )


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Numbers as two bytes each where all fit, else four; the first byte says which."""
    try:
        return _SMALL + _little(array("H", numbers))
    except OverflowError:
        return _LARGE + _little(array("I", numbers))


def unpack_numbers(packed: bytes) -> "array[int]":
    numbers = array("H" if packed[:1] == _SMALL else "I")
    numbers.frombytes(packed[1:])
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def unpack_occurrences(packed: bytes) -> Iterator[Occurrence]:
    flat = unpack_numbers(packed)
    for at in range(0, len(flat), _FIELDS):
        line, column, role, scope, target, receiver = flat[at : at + _FIELDS]
        yield Occurrence(line, column, Role(role), scope, target, receiver)


def unpack_scopes(packed: bytes) -> list[Scope]:
    flat = unpack_numbers(packed)
    return [
        Scope(flat[at] - 1, ScopeKind(flat[at + 1]), Span(*flat[at + 2 : at + _SCOPE_FIELDS]))
        for at in range(0, len(flat), _SCOPE_FIELDS)
    ]


def unpack_binds(packed: bytes) -> tuple[list[Bind], list[str]]:
    """The binds of a blob and its receiver texts."""
    binds, receivers = json.loads(zlib.decompress(packed))
    return [Bind(s, n, Reason(r), *rest) for s, n, r, *rest in binds], receivers


def _text(text: str) -> str:
    """Text that is shown and compared, not cut out of the file: what is not UTF-8 becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _interface(facts: Facts) -> str:
    """Changes when what other files can see of this one changes, and not when only bodies do."""
    seen = [
        [
            [d.name, d.kind, d.parent, d.signature, d.bases, d.annotation, d.flags, d.owner]
            for d in facts.definitions
        ],
        [[i.kind, i.module, i.name, i.alias, i.reexport] for i in facts.imports],
        [list(e) for e in facts.exports],
        facts.package,
    ]
    return hashlib.sha256(json.dumps(seen).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _little(numbers: "array[int]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
