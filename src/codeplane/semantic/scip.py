"""The wire format of SCIP, the file that batch indexers write, read one document at a time.

An index is a protocol buffer: fields of a number, a wire type and a value. Fields that nothing here needs are
skipped, so an index of a newer version is read too. Everything has a limit, and whatever is no index is a
`ScipError` that names the byte.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from typing import BinaryIO, Final, NamedTuple

from codeplane.core.errors import ScipError

DEFINITION: Final = 1
"""The role of an occurrence that defines its symbol."""
IMPORT: Final = 2
"""The role of an occurrence that imports its symbol."""

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_METADATA, _DOCUMENT = 1, 2
_LARGEST: Final = (1 << 31) - 1  # of an int32
_LONGEST_VARINT: Final = 10
_CHUNK: Final = 1 << 20


class Limits(NamedTuple):
    """How much of an index is read."""

    file: int = 2 << 30  # bytes
    document: int = 64 << 20  # bytes
    symbol: int = 1 << 16  # bytes
    documents: int = 1_000_000
    occurrences: int = 1_000_000  # of one document
    total: int = 100_000_000  # occurrences of all documents


class PositionEncoding(IntEnum):
    """What the columns of a document count."""

    UNSPECIFIED = 0
    UTF8 = 1
    UTF16 = 2
    UTF32 = 3


class Metadata(NamedTuple):
    """Who wrote an index, and of what."""

    tool: str = ""
    version: str = ""
    project_root: str = ""


class Relationship(NamedTuple):
    """What one symbol is to another."""

    symbol: str
    other: str
    is_reference: bool = False
    is_implementation: bool = False
    is_type_definition: bool = False
    is_definition: bool = False


class Occurrence(NamedTuple):
    """One occurrence of a symbol: lines and columns are 0-based, the end is behind the last character."""

    start_line: int
    start: int
    end_line: int
    end: int
    symbol: int  # index into `Document.symbols`
    roles: int


@dataclass
class Document:
    """What an index says about one file."""

    path: str = ""
    language: str = ""
    encoding: int = PositionEncoding.UNSPECIFIED
    text: bytes | None = None  # the content, where the index has it
    symbols: list[str] = field(default_factory=list)  # the distinct ones of the occurrences
    # The fields of `Occurrence` in their order, as plain tuples: there are millions.
    occurrences: list[tuple[int, int, int, int, int, int]] = field(default_factory=list)
    relationships: list[Relationship] = field(default_factory=list)


def read_index(stream: BinaryIO, limits: Limits | None = None) -> Iterator[Metadata | Document]:
    """The metadata of an index, then its documents one by one."""
    limits = limits or Limits()
    source = _Source(stream, limits.file)
    documents = total = 0
    is_open = False
    while (tag := source.next_tag()) is not None:
        start = source.at
        number, wire = tag >> 3, tag & 7
        if not is_open and (number, wire) != (_METADATA, _BYTES):
            raise _scip_error(0, "it does not begin with the metadata of an index")
        if is_open and number == _METADATA:
            raise _scip_error(start, "metadata for a second time")
        if wire == _BYTES and number == _METADATA:
            is_open = True
            data, base = source.read_payload(limits.document)
            yield _read_metadata(_Bytes(data, base))
        elif wire == _BYTES and number == _DOCUMENT:
            documents += 1
            if documents > limits.documents:
                raise _scip_error(start, f"more than {limits.documents} documents", too_large=True)
            data, base = source.read_payload(limits.document)
            document = _DocumentReader(_Bytes(data, base), limits).read_document()
            total += len(document.occurrences)
            if total > limits.total:
                raise _scip_error(start, f"more than {limits.total} occurrences", too_large=True)
            yield document
        else:
            source.skip_field(wire)
    if not is_open:
        raise _scip_error(0, "it is empty")


class _Source:
    """The outermost message, from a stream."""

    def __init__(self, stream: BinaryIO, most: int) -> None:
        self._stream, self._most = stream, most
        self.at = 0

    def _take_bytes(self, count: int) -> bytes:
        start = self.at
        if start + count > self._most:
            raise _scip_error(start, f"larger than {self._most} bytes", too_large=True)
        pieces = []
        while count > 0 and (piece := self._stream.read(min(count, _CHUNK))):
            pieces.append(piece)
            count -= len(piece)
            self.at += len(piece)
        if count:
            raise _scip_error(self.at, "cut short")
        return b"".join(pieces)

    def next_tag(self) -> int | None:
        """The next tag; None at the end."""
        start = self.at
        first = self._stream.read(1)
        if not first:
            return None
        self.at += 1
        if self.at > self._most:
            raise _scip_error(start, f"larger than {self._most} bytes", too_large=True)
        tag = self._read_varint(first[0])
        if not tag >> 3 or tag >> 32:
            raise _scip_error(start, "no field has that number")
        return tag

    def _read_varint(self, first: int | None = None) -> int:
        start, value = self.at, 0
        for shift in range(0, 7 * _LONGEST_VARINT, 7):
            byte = self._take_bytes(1)[0] if first is None or shift else first
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise _scip_error(start, "a number of more than 64 bits")

    def read_payload(self, most: int) -> tuple[bytes, int]:
        """A message inside, and the byte that it begins with."""
        size = self._read_varint()
        if size > most:
            raise _scip_error(self.at, f"a message of {size} bytes, more than {most}", too_large=True)
        return self._take_bytes(size), self.at - size

    def skip_field(self, wire: int) -> None:
        match wire:
            case 0:
                self._read_varint()
            case 1 | 5:
                self._take_bytes(8 if wire == _FIXED64 else 4)
            case 2:
                size = self._read_varint()
                while size > 0:
                    size -= len(self._take_bytes(min(size, _CHUNK)))
            case _:
                raise _scip_error(self.at, f"wire type {wire} is not in use")


class _Field(NamedTuple):
    number: int
    wire: int
    value: int  # a number, or the byte that the value begins with
    end: int  # the byte behind it


class _Bytes:
    """One message in memory, and where it stands in the file."""

    def __init__(self, data: bytes, base: int) -> None:
        self.data, self.base = data, base

    def varint_at(self, at: int, end: int) -> tuple[int, int]:
        """The number at a byte, and the byte behind it."""
        value = shift = 0
        start = at
        while at < end:
            byte = self.data[at]
            at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value, at
            shift += 7
            if shift == 7 * _LONGEST_VARINT:
                raise _scip_error(self.base + start, "a number of more than 64 bits")
        raise _scip_error(self.base + at, "cut short")

    def field_at(self, at: int, end: int) -> _Field:
        """The field that begins at a byte."""
        start = at
        tag, at = self.varint_at(at, end)
        number, wire = tag >> 3, tag & 7
        if not number or tag >> 32:
            raise _scip_error(self.base + start, "no field has that number")
        if wire == _VARINT:
            return _Field(number, wire, *self.varint_at(at, end))
        size = 8 if wire == _FIXED64 else 4
        if wire == _BYTES:
            size, at = self.varint_at(at, end)
        elif wire not in (_FIXED64, _FIXED32):
            raise _scip_error(self.base + start, f"wire type {wire} is not in use")
        if size > end - at:
            raise _scip_error(self.base + at, "cut short")
        return _Field(number, wire, at, at + size)

    def each_field(self, at: int, end: int) -> Iterator[_Field]:
        while at < end:
            one = self.field_at(at, end)
            at = one.end
            yield one

    def text_at(self, start: int, end: int, most: int) -> str:
        if end - start > most:
            raise _scip_error(
                self.base + start, f"a text of {end - start} bytes, more than {most}", too_large=True
            )
        try:
            return self.data[start:end].decode()
        except UnicodeDecodeError as error:
            raise _scip_error(self.base + start + error.start, "a text that is not UTF-8") from error


def _read_metadata(data: _Bytes) -> Metadata:
    values = {"tool": "", "version": "", "project_root": ""}
    most = len(data.data)
    for number, wire, start, end in data.each_field(0, most):
        if (number, wire) == (2, _BYTES):
            for inner, kind, first, last in data.each_field(start, end):
                if kind == _BYTES and inner in (1, 2):
                    values["tool" if inner == 1 else "version"] = data.text_at(first, last, most)
        elif (number, wire) == (3, _BYTES):
            values["project_root"] = data.text_at(start, end, most)
    return Metadata(**values)


_NUMBER = rb"([\0-\x7f]|[\x80-\xff][\0-\x7f])"
# An occurrence as writers of protocol buffers lay it out: its size; the range, whose three numbers are of
# one or two bytes; the size of the symbol. Nearly all are like that, and are read several times as fast so.
_USUAL = re.compile(rb"\x12%s\x0a([\3-\6])%s%s%s\x12%s" % ((_NUMBER,) * 5), re.DOTALL)
_ROLES_TAG = 3 << 3 | _VARINT
_USUAL_SYMBOL = re.compile(rb"\x1a%s" % _NUMBER, re.DOTALL)
# The fields of a symbol but for its relationships: texts, messages, and its kind.
_USUAL_FIELD = re.compile(rb"[\x0a\x1a\x32\x3a\x42]%s|\x28[\0-\x7f]" % _NUMBER, re.DOTALL)


class _Numbers(dict[bytes, int]):
    """Numbers of one or two bytes, which there are 16,512 of, as they are written."""

    def __missing__(self, raw: bytes) -> int:
        value = raw[0] if len(raw) == 1 else raw[0] & 127 | raw[1] << 7
        self[raw] = value
        return value


_NUMBERS: Final = _Numbers()


class _DocumentReader:
    """One document as it is read."""

    def __init__(self, data: _Bytes, limits: Limits) -> None:
        self._data, self._limits = data, limits
        self._document = Document()
        self._numbers: dict[bytes, int] = {}  # of the symbols

    def read_document(self) -> Document:
        at, end = 0, len(self._data.data)
        while at < end:
            behind = self._skip_symbols(self._read_usual(at))
            if behind == at:
                one = self._data.field_at(at, end)
                self._read_field(one)
                behind = one.end
            at = behind
        return self._document

    def _read_usual(self, at: int) -> int:
        """Reads occurrences as long as they are laid out in the usual way; the byte behind the last."""
        data, usual, value, numbers = self._data.data, _USUAL.match, _NUMBERS.__getitem__, self._numbers
        end, occurrences = len(data), self._document.occurrences
        append, room = occurrences.append, self._limits.occurrences - len(occurrences)
        while match := usual(data, at):
            size, span, line, start, stop, length = map(value, match.groups())
            first, behind = match.end(), match.end(1) + size
            last = first + length
            if match.end(5) - match.end(2) != span or behind > end:
                return at
            if last == behind:
                roles = 0
            # The fields behind the roles have higher numbers and tell nothing that is needed here.
            elif last + 2 <= behind and data[last] == _ROLES_TAG and (roles := data[last + 1]) < 128:
                if last + 2 < behind and data[last + 2] < _ROLES_TAG + 8:
                    return at
            else:
                return at
            symbol = data[first:last]
            number = numbers.get(symbol)
            if number is None:
                number = self._symbol_number(first, last)
            if room <= 0:
                raise self._too_many(at)
            room -= 1
            append((line, start, line, stop, number, roles))
            at = behind
        return at

    def _skip_symbols(self, at: int) -> int:
        """Skips symbols that say nothing of others, laid out in the usual way; the byte behind the last."""
        data, usual = self._data.data, _USUAL_FIELD.match
        while match := _USUAL_SYMBOL.match(data, at):
            inner, behind = match.end(), match.end() + _NUMBERS[match[1]]
            while inner < behind and (one := usual(data, inner)):
                inner = one.end() + (_NUMBERS[one[1]] if one[1] else 0)
            if inner != behind or behind > len(data):
                return at
            at = behind
        return at

    def _symbol_number(self, start: int, end: int) -> int:
        """The number of a symbol among those of the document."""
        raw = self._data.data[start:end]
        number = self._numbers.get(raw)
        if number is None:
            number = self._numbers[raw] = len(self._document.symbols)
            self._document.symbols.append(self._data.text_at(start, end, self._limits.symbol))
        return number

    def _too_many(self, at: int) -> ScipError:
        most = self._limits.occurrences
        return _scip_error(
            self._data.base + at, f"more than {most} occurrences in a document", too_large=True
        )

    def _read_field(self, one: _Field) -> None:
        document, data = self._document, self._data
        match one.number, one.wire:
            case 1, 2:
                document.path = data.text_at(one.value, one.end, self._limits.symbol)
            case 2, 2:
                self._read_occurrence(one.value, one.end)
            case 3, 2:
                self._read_symbol(one.value, one.end)
            case 4, 2:
                document.language = data.text_at(one.value, one.end, self._limits.symbol)
            case 5, 2:
                document.text = data.data[one.value : one.end]
            case 6, 0:
                document.encoding = one.value

    def _read_occurrence(self, start: int, end: int) -> None:
        data = self._data
        span: list[int] = []
        typed: tuple[int, ...] = ()
        symbol: tuple[int, int] | None = None
        roles = 0
        for number, wire, value, behind in data.each_field(start, end):
            match number, wire:
                case 1, 2:
                    while value < behind:
                        item, value = data.varint_at(value, behind)
                        span.append(item)
                case 1, 0:
                    span.append(value)
                case 2, 2:
                    symbol = (value, behind)
                case 3, 0:
                    roles = value
                case 8 | 9, 2:
                    typed = self._typed_range(number, value, behind)
        if symbol is None or symbol[0] == symbol[1]:
            return  # only says how to colour a place
        place = span or typed
        if len(place) not in (3, 4) or max(place) > _LARGEST:
            raise _scip_error(data.base + start, "an occurrence without a range")
        if len(self._document.occurrences) >= self._limits.occurrences:
            raise self._too_many(start)
        line, first, *rest = place
        last_line, last = rest if len(rest) == 2 else (line, rest[0])
        row = (line, first, last_line, last, self._symbol_number(*symbol), roles & _LARGEST)
        self._document.occurrences.append(row)

    def _typed_range(self, number: int, start: int, end: int) -> tuple[int, ...]:
        """The range of an occurrence that has a message for it; zeros are left out of messages."""
        values = [0] * (3 if number == 8 else 4)
        for inner, wire, value, _ in self._data.each_field(start, end):
            if wire == _VARINT and inner <= len(values):
                values[inner - 1] = value
        return tuple(values)

    def _read_symbol(self, start: int, end: int) -> None:
        """Keeps what a symbol is to others; its documentation is not needed."""
        data, most = self._data, self._limits.symbol
        name: tuple[int, int] | None = None
        others: list[tuple[int, int]] = []
        for number, wire, value, behind in data.each_field(start, end):
            if wire == _BYTES and number == 1:
                name = (value, behind)
            elif wire == _BYTES and number == 4:
                others.append((value, behind))
        if name is None or not others:
            return
        symbol = data.text_at(*name, most)
        for first, last in others:
            other, flags = "", [False] * 4
            for number, wire, value, behind in data.each_field(first, last):
                if (number, wire) == (1, _BYTES):
                    other = data.text_at(value, behind, most)
                elif wire == _VARINT and 2 <= number <= 5:
                    flags[number - 2] = bool(value)
            if len(self._document.relationships) >= self._limits.occurrences:
                raise self._too_many(first)
            self._document.relationships.append(Relationship(symbol, other, *flags))


def _scip_error(byte: int, reason: str, *, too_large: bool = False) -> ScipError:
    what = "is too large" if too_large else "cannot be read"
    return ScipError(f"The SCIP index {what}: {reason}, at byte {byte}.", byte=byte, reason=reason)
