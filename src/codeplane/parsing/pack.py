"""Facts of one blob as rows and packed columns: small to send between processes and to keep."""

import json
import struct
import sys
import zlib
from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeVar, overload

from codeplane.languages.facts import (
    Bind,
    Facts,
    Occurrences,
    Reason,
    Scope,
    ScopeKind,
    Span,
)
from codeplane.parsing.foreign import foreign_facts

T = TypeVar("T")

_SCOPE_FIELDS = 6
_BIND_FIELDS = 6
_CERTAIN = 8  # above the values of `Reason`
_REASONS = tuple(Reason)
_SCOPE_KINDS = tuple(ScopeKind)
_GAP = "\0"  # in no text: what holds it is not read
_QUICK = 1  # the level of compression
_HEAD = struct.Struct("<II6s")  # occurrences, lines, the type of each column
_BIND_HEAD = struct.Struct("<II")  # binds, bytes of their numbers


class Packed(NamedTuple):
    """What a worker sends back for one blob."""

    lines: int
    state: str
    reason: str
    interface: str
    package: str
    generated: bool
    scopes: bytes
    binds: bytes
    definitions: list[tuple[object, ...]]
    imports: list[tuple[object, ...]]
    exports: list[tuple[object, ...]]
    dynamics: list[tuple[object, ...]]
    written: list[tuple[object, ...]]
    names: bytes
    occurrences: bytes
    words: str


def pack(facts: Facts, words: str, *, generated: bool = False) -> Packed:
    return Packed(
        facts.lines,
        facts.state,
        facts.reason,
        foreign_facts(facts).digest(),
        _clean_text(facts.package),
        generated,
        pack_numbers([n for s in facts.scopes for n in (s.parent + 1, s.kind, *s.span)]),
        _pack_binds(facts),
        [
            (
                sql_text(d.name),
                *d[1:5],
                *d.span,
                d.name_line,
                d.name_column,
                _clean_text(d.signature),
                _clean_text("\n".join(d.bases)),
                _clean_text(d.annotation),
                d.flags,
                _clean_text(d.owner),
                d.text,
            )
            for d in facts.definitions
        ],
        [(i.scope, i.kind, *map(_clean_text, i[2:5]), *i[5:]) for i in facts.imports],
        [(*map(_clean_text, e[:3]), e.certain) for e in facts.exports],
        [(d.pattern, d.line, d.column, json.dumps(d.literals), d.computed) for d in facts.dynamics],
        [(sql_text(name),) for name in facts.written],
        _pack_texts(facts.occurrences.texts),
        _pack_occurrences(facts),
        words,
    )


def pack_numbers(numbers: Sequence[int]) -> bytes:
    """Numbers as wide as the largest needs; the first byte says how wide."""
    code = _type_code(max(numbers, default=0))
    return code.encode() + _little_endian(array(code, numbers))


def unpack_numbers(packed: bytes) -> "array[int]":
    return _unpack_numbers(packed[:1].decode(), packed[1:])


def unpack_occurrences(names: bytes, data: bytes) -> Occurrences:
    return read_occurrences(names, zlib.decompress(data))


def read_occurrences(names: bytes, data: bytes) -> Occurrences:
    """The occurrences of a blob, from columns that are not compressed any more."""
    count, lines, codes = _HEAD.unpack_from(data)
    columns: list[array[int]] = []
    at = _HEAD.size
    for code in codes.decode():
        length = array(code).itemsize * (lines if len(columns) == 5 else count)
        columns.append(_unpack_numbers(code, data[at : at + length]))
        at += length
    numbers, starts, scopes, targets, receivers, starts_of_lines = columns
    roles = data[at : at + count]
    texts = _unpack_texts(names)
    return Occurrences(texts, numbers, starts, roles, scopes, targets, receivers, starts_of_lines)


def count_occurrences(data: bytes) -> int:
    """How many occurrences are packed; only the beginning is unpacked."""
    count, _, _ = _HEAD.unpack(zlib.decompressobj().decompress(data, _HEAD.size))
    return int(count)


class Unpacked(Sequence[T]):
    """Items of a blob; each is made when it is asked for."""

    _count: int

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> list[T]: ...

    def __getitem__(self, at: int | slice) -> T | list[T]:
        if isinstance(at, slice):
            return [self._made(one) for one in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        return self._made(at)

    @abstractmethod
    def _made(self, at: int) -> T: ...


class Scopes(Unpacked[Scope]):
    """The scopes of a blob."""

    def __init__(self, numbers: "array[int]") -> None:
        self._numbers, self._count = numbers, len(numbers) // _SCOPE_FIELDS

    def parent(self, at: int) -> int:
        return self._numbers[at * _SCOPE_FIELDS] - 1

    @property
    def shape(self) -> tuple["array[int]", "array[int]"]:
        """What is around each and what each is, whatever lines they are in."""
        return self._numbers[::_SCOPE_FIELDS], self._numbers[1::_SCOPE_FIELDS]

    def kind(self, at: int) -> ScopeKind:
        return _SCOPE_KINDS[self._numbers[at * _SCOPE_FIELDS + 1]]

    def _made(self, at: int) -> Scope:
        first = at * _SCOPE_FIELDS
        return Scope(self.parent(at), self.kind(at), Span(*self._numbers[first + 2 : first + _SCOPE_FIELDS]))


def unpack_scopes(packed: bytes) -> Scopes:
    return Scopes(unpack_numbers(packed))


class Binds(Unpacked[Bind]):
    """The binds of a blob."""

    def __init__(self, numbers: "array[int]", texts: list[str], count: int) -> None:
        self._numbers, self._texts, self._count = numbers, texts, count

    def __iter__(self) -> Iterator[Bind]:
        """All of them, at a third of the cost of one after the other."""
        texts, columns = self._texts, [self._numbers[at::_BIND_FIELDS] for at in range(_BIND_FIELDS)]
        for name, scope, reason, target, line, column, type_name in zip(texts, *columns, strict=False):
            yield Bind(
                scope, name, _REASONS[reason & ~_CERTAIN], target - 1, reason >= _CERTAIN, line, column,
                texts[type_name] if type_name else "",
            )  # fmt: skip

    @property
    def names(self) -> list[str]:
        """The name of each."""
        return self._texts[: self._count]

    @property
    def scopes_and_reasons(self) -> tuple["array[int]", "array[int]"]:
        """The scope of each, and why and how certainly it is bound."""
        return self._numbers[::_BIND_FIELDS], self._numbers[1::_BIND_FIELDS]

    @property
    def lines(self) -> "array[int]":
        return self._numbers[3::_BIND_FIELDS]

    def of(self, reason: Reason) -> list[int]:
        """The names that are bound for a reason."""
        return [at for at, code in enumerate(self._numbers[1::_BIND_FIELDS]) if code & ~_CERTAIN == reason]

    def scope(self, at: int) -> int:
        return self._numbers[at * _BIND_FIELDS]

    def target(self, at: int) -> int:
        return self._numbers[at * _BIND_FIELDS + 2] - 1

    def position(self, at: int) -> tuple[int, int]:
        """Line and column."""
        line, column = self._numbers[at * _BIND_FIELDS + 3 : at * _BIND_FIELDS + 5]
        return line, column

    def _made(self, at: int) -> Bind:
        first = at * _BIND_FIELDS
        scope, reason, target, line, column, type_name = self._numbers[first : first + _BIND_FIELDS]
        return Bind(
            scope,
            self._texts[at],
            _REASONS[reason & ~_CERTAIN],
            target - 1,
            reason >= _CERTAIN,
            line,
            column,
            self._texts[type_name] if type_name else "",
        )


def unpack_binds(packed: bytes) -> tuple[Binds, list[str], list[str]]:
    """The binds of a blob, its receiver texts, and those that are asked for their type."""
    count, length = _BIND_HEAD.unpack_from(packed)
    start = _BIND_HEAD.size
    texts = _unpack_texts(packed[start + length :])
    numbers = unpack_numbers(packed[start : start + length])
    queries, receivers = numbers.pop(), numbers.pop()
    return Binds(numbers, texts, count), texts[receivers:queries], texts[queries:]


def _pack_binds(facts: Facts) -> bytes:
    """Six numbers for each bind, and texts: names of binds, what they hold, receivers, questions."""
    count = len(facts.binds)
    distinct = dict.fromkeys([bind.type_name for bind in facts.binds if bind.type_name])
    types = {name: at for at, name in enumerate(distinct, count)} | {"": 0}
    numbers = list(
        chain.from_iterable(
            [
                (scope, reason | certain << 3, target + 1, line, column, types[type_name])
                for scope, _, reason, target, certain, line, column, type_name in facts.binds
            ]
        )
    )
    receivers = count + len(distinct)
    numbers += (receivers, receivers + len(facts.receivers))
    data = pack_numbers(numbers)
    names = [bind.name for bind in facts.binds]
    texts = _pack_texts([*names, *distinct, *facts.receivers, *facts.asked])
    return _BIND_HEAD.pack(count, len(data)) + data + texts


def _pack_occurrences(facts: Facts) -> bytes:
    occurrences = facts.occurrences
    columns = (
        (len(occurrences.texts), occurrences.names),
        (occurrences.starts[-1] if occurrences.starts else 0, occurrences.starts),
        (len(facts.scopes), occurrences.scopes),
        (max(len(facts.binds), len(facts.definitions)), occurrences.targets),
        (len(facts.receivers), occurrences.receivers),
        (occurrences.lines[-1] if occurrences.lines else 0, occurrences.lines),
    )
    codes = [_type_code(most) for most, _ in columns]
    data = b"".join(
        (
            _HEAD.pack(len(occurrences), len(occurrences.lines), "".join(codes).encode()),
            *[_little_endian(array(code, column)) for code, (_, column) in zip(codes, columns, strict=True)],
            bytes(occurrences.roles),
        )
    )
    return zlib.compress(data, _QUICK)


def _pack_texts(texts: Iterable[str]) -> bytes:
    return _GAP.join([*texts, ""]).encode("utf-8", "surrogateescape")


def _unpack_texts(packed: bytes) -> list[str]:
    return packed.decode("utf-8", "surrogateescape").split(_GAP)[:-1]


def _type_code(most: int) -> str:
    return "B" if most < 1 << 8 else "H" if most < 1 << 16 else "I"


def _unpack_numbers(code: str, packed: bytes) -> "array[int]":
    numbers = array(code)
    numbers.frombytes(packed)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def sql_text(text: str) -> str | bytes:
    """A path or name as SQLite keeps it: text, or its bytes where they are not UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")
    return text


def _clean_text(text: str) -> str:
    """Text that is shown and compared, not cut out of the file: what is not UTF-8 becomes `?`."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _little_endian(numbers: "array[int]") -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
