"""Sites as bytes, small enough to be kept for every content, and read back many times as fast as from source.

Values are rows of a table: those without items first, then those with items, each after its items. What
several sites have in common, such as the arguments of a call that is an argument itself, is one row.
"""

import json
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate, chain, pairwise, repeat
from typing import Final

from codeplane.core.documents import decode_json
from codeplane.languages.sites.model import Site, SiteKind, Value, ValueKind

_LEVEL: Final = 6  # of compression
_HEAD: Final = struct.Struct("<5I")  # leaves, values with items, their items, sites, bytes of the texts
_METHOD: Final = 16  # above the values of `ValueKind`
_CONDITIONAL: Final = 16  # above the values of `SiteKind`
_RETURNED: Final = 32
_VALUE_KINDS: Final = tuple(ValueKind)
_SITE_KINDS: Final = tuple(SiteKind)

_Row = tuple[int, ...]  # kind and flag, text, start, keyword, and the numbers of the items


def pack_sites(sites: Sequence[Site]) -> bytes:
    """Sites as bytes."""
    table = _Table()
    values = [table.number(site.value) for site in sites]
    rows = list(table.rows)
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]) > 4)
    places = {number: place for place, number in enumerate(order)}
    ordered = [rows[number] for number in order]
    items = [[place - places[item] for item in row[4:]] for place, row in enumerate(ordered) if len(row) > 4]
    texts = table.texts
    columns = [
        [row[0] for row in ordered],
        [row[1] for row in ordered],
        _steps(row[2] for row in ordered),
        [row[3] for row in ordered],
        [len(some) for some in items],
        list(chain.from_iterable(items)),
        [site.kind | site.is_conditional * _CONDITIONAL | site.is_returned * _RETURNED for site in sites],
        _steps(site.start for site in sites),
        [site.end - site.start for site in sites],
        _steps(places[value] for value in values),
        [texts.setdefault(site.name, len(texts)) for site in sites],
        [site.loop for site in sites],
        [site.outer for site in sites],
    ]
    names = json.dumps(list(texts), ensure_ascii=False, separators=(",", ":")).encode()
    leaves = len(ordered) - len(items)
    head = _HEAD.pack(leaves, len(items), len(columns[5]), len(sites), len(names))
    return zlib.compress(b"".join((head, names, *map(_bytes_of, columns))), _LEVEL)


def unpack_sites(packed: bytes) -> list[Site]:
    """The sites that were packed."""
    data = zlib.decompress(packed)
    leaves, composites, items, count, length = _HEAD.unpack_from(data)
    texts: list[str] = decode_json(data[_HEAD.size : _HEAD.size + length])
    columns = _columns(data, _HEAD.size + length, leaves + composites, composites, items, count)
    values = _values(columns, texts, leaves)
    flags, steps, lengths, numbers, names, loops, outers = columns[6:]
    starts = list(accumulate(steps))
    rows = zip(
        [_SITE_KINDS[flag & 15] for flag in flags],
        starts,
        map(int.__add__, starts, lengths),
        map(values.__getitem__, accumulate(numbers)),
        map(texts.__getitem__, names),
        [flag & _CONDITIONAL != 0 for flag in flags],
        [flag & _RETURNED != 0 for flag in flags],
        loops,
        outers,
        strict=True,
    )
    return list(map(partial(tuple.__new__, Site), rows))


class _Table:
    """The distinct values of a file, each after its items, and the distinct texts."""

    def __init__(self) -> None:
        self.rows: dict[_Row, int] = {}
        self.texts: dict[str, int] = {"": 0}
        self._numbers: dict[int, int] = {}  # by identity: the reader shares what is in several sites

    def number(self, value: Value) -> int:
        """The number of the row of a value."""
        known = self._numbers.get(id(value))
        if known is not None:
            return known
        texts = self.texts
        row = (
            value.kind | value.is_method * _METHOD,
            texts.setdefault(value.text, len(texts)),
            value.start,
            texts.setdefault(value.keyword, len(texts)),
            *map(self.number, value.items),
        )
        number = self._numbers[id(value)] = self.rows.setdefault(row, len(self.rows))
        return number


def _values(columns: Sequence[Sequence[int]], texts: Sequence[str], leaves: int) -> list[Value]:
    heads, names, steps, keywords, counts, items = columns[:6]
    make = partial(tuple.__new__, Value)
    rows = zip(
        [_VALUE_KINDS[head & 15] for head in heads],
        map(texts.__getitem__, names),
        accumulate(steps),
        repeat(()),
        map(texts.__getitem__, keywords),
        [head >= _METHOD for head in heads],
        strict=False,
    )
    values: list[Value] = []
    at = 0
    for number, row in enumerate(rows):
        if number < leaves:
            values.append(make(row))
            continue
        end = at + counts[number - leaves]
        kind, text, start, _, keyword, is_method = row
        inner = tuple([values[number - item] for item in items[at:end]])
        values.append(make((kind, text, start, inner, keyword, is_method)))
        at = end
    return values


def _columns(data: bytes, at: int, values: int, composites: int, items: int, sites: int) -> list[list[int]]:
    columns: list[list[int]] = []
    for length in (*[values] * 4, composites, items, *[sites] * 7):
        column = array("i", data[at : at + 4 * length])
        if sys.byteorder == "big":
            column.byteswap()
        columns.append(column.tolist())
        at += 4 * length
    return columns


def _bytes_of(numbers: Iterable[int]) -> bytes:
    column = array("i", numbers)
    if sys.byteorder == "big":
        column.byteswap()
    return column.tobytes()


def _steps(numbers: Iterable[int]) -> list[int]:
    """The differences between neighbours, which are small."""
    return [after - before for before, after in pairwise(chain((0,), numbers))]
