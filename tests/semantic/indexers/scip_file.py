"""A reader of SCIP files that shares no code with CodePlane's: whole files, no limits."""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def _numbers(data: bytes) -> list[int]:
    numbers, at = [], 0
    while at < len(data):
        number, at = _varint(data, at)
        numbers.append(number)
    return numbers


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        value, at = _varint(data, at)
        if key & 7 == 2:
            yield key >> 3, data[at : at + value]
            at += value
        else:
            assert key & 7 == 0
            yield key >> 3, value


def _message(data: bytes | int) -> dict[int, list[bytes | int]]:
    assert isinstance(data, bytes)
    fields = defaultdict(list)
    for number, value in _fields(data):
        fields[number].append(value)
    return fields


def _text(fields: dict[int, list[bytes | int]], number: int) -> str:
    [value] = fields.get(number, [b""])
    assert isinstance(value, bytes)
    return value.decode()


class ScipFile:
    """What a SCIP file says, by paths, lines and columns as they are written there."""

    def __init__(self, path: Path) -> None:
        self.symbols: dict[str, dict[tuple[int, int, int], list[tuple[str, bool]]]] = {}
        self.relations: dict[str, set[str]] = defaultdict(set)
        self.encodings: dict[str, int] = {}
        index = _message(path.read_bytes())
        assert len(index[1]) == 1
        for one in index[2]:
            self._read_document(_message(one))

    def _read_document(self, document: dict[int, list[bytes | int]]) -> None:
        path = _text(document, 1)
        assert path not in self.symbols, path
        self.encodings[path] = int(document.get(6, [0])[0])
        places = self.symbols[path] = defaultdict(list)
        for one in document.get(2, []):
            occurrence = _message(one)
            [packed] = occurrence[1]
            assert isinstance(packed, bytes)
            line, column, end = _numbers(packed)[:3]
            roles = int(occurrence.get(3, [0])[0])
            places[line, column, end].append((_text(occurrence, 2), bool(roles & 1)))
        for one in document.get(3, []):
            symbol = _message(one)
            name = _text(symbol, 1)
            for relation in symbol.get(4, []):
                key = f"{path} {name}" if name.startswith("local ") else name
                self.relations[key].add(_text(_message(relation), 1))

    def definitions(self) -> dict[str, list[str]]:
        """The places where each symbol that has a name is defined."""
        places = defaultdict(list)
        for path, occurrences in self.symbols.items():
            for (line, _, _), symbols in occurrences.items():
                for symbol, is_definition in symbols:
                    if is_definition and not symbol.startswith("local "):
                        places[symbol].append(f"{path}:{line + 1}")
        return places
