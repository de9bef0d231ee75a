"""Whether packed facts from elsewhere have the form that a worker gives them, and fit the size of their file.

Nobody can tell from the form that facts are right. But what has it can be unpacked and asked, whatever it
says: every number points to something that is there.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from codeplane.languages.facts import KINDS, Facts, Occurrences, Reason, Role, ScopeKind
from codeplane.parsing.pack import (
    Binds,
    Packed,
    Scopes,
    pack,
    read_occurrences,
    unpack_binds,
    unpack_numbers,
    unpack_scopes,
)

_WIDTHS: Final = "BHI"
_CERTAIN: Final = 8
_FIELDS: Final = 6  # of a scope and of a bind
_LEAST: Final = 4_096  # bytes of columns
_PER_BYTE: Final = 32
_STATES: Final = frozenset(("ok", "partial", "failed", "skipped"))
_NUMBER: Final[frozenset[type]] = frozenset((int,))
_TEXT: Final[frozenset[type]] = frozenset((str,))
_NAME: Final[frozenset[type]] = frozenset((str, bytes))  # bytes where it is not UTF-8
# The columns of rows.
_DEFINITION: Final = (_NAME, _TEXT, *[_NUMBER] * 9, _TEXT, _TEXT, _TEXT, _NUMBER, _TEXT, _NUMBER)
_IMPORT: Final = (_NUMBER, _TEXT, _TEXT, _TEXT, _TEXT, _NUMBER, _NUMBER, _NUMBER, _NUMBER)
_EXPORT: Final = (_TEXT, _TEXT, _TEXT, _NUMBER)
_DYNAMIC: Final = (_TEXT, _NUMBER, _NUMBER, _TEXT, _NUMBER)
_WRITTEN: Final = (_NAME,)


_NOTHING: Final = pack(Facts("skipped"), "")[6:14]  # but for columns of occurrences, which count with names


def check_packed(facts: Packed, size: int) -> None:
    """Raises `ValueError` for facts that no worker makes of a file of that many bytes."""
    try:
        _check_head(facts, size)
        if facts[6:14] == _NOTHING:
            return  # of most files there are words alone
        scopes = unpack_scopes(facts.scopes)
        binds, receivers, _ = unpack_binds(facts.binds)
        _check_scopes(facts.scopes, scopes)
        _check_rows(facts, len(scopes))
        _check_binds(facts.binds, binds, len(scopes), len(facts.definitions))
        if facts.names:
            _check_occurrences(
                read_occurrences(facts.names, _unpack_bounded(facts.occurrences, size)),
                (len(scopes), max(len(binds), len(facts.definitions)), len(receivers)),
                size,
            )
    except (struct.error, zlib.error, IndexError, TypeError, OverflowError, UnicodeError) as error:
        raise ValueError(f"facts of another form: {error}") from error


def _unpack_bounded(data: bytes, size: int) -> bytes:
    """Compressed columns, which take no more than a file of that size can need."""
    unpacker = zlib.decompressobj()
    columns = unpacker.decompress(data, _LEAST + _PER_BYTE * size)
    _check_that(unpacker.eof and not unpacker.unused_data, "columns that are too long or cut off")
    return columns


def _check_that(is_so: bool, what: str) -> None:
    if not is_so:
        raise ValueError(f"facts of another form: {what}")


def _check_head(facts: Packed, size: int) -> None:
    texts = (facts.state, facts.reason, facts.interface, facts.package, facts.words)
    _check_that(all(type(text) is str for text in texts), "a text is none")
    _check_that(facts.state in _STATES, "an unusual state")
    _check_that(type(facts.lines) is int and 0 <= facts.lines <= size + 1, "more lines than bytes")
    _check_that(facts.generated in (0, 1), "a flag is none")


def _check_rows(facts: Packed, scopes: int) -> None:
    for rows, types in (
        (facts.definitions, _DEFINITION),
        (facts.imports, _IMPORT),
        (facts.exports, _EXPORT),
        (facts.dynamics, _DYNAMIC),
        (facts.written, _WRITTEN),
    ):
        if rows:
            _check_that({*map(len, rows)} == {len(types)}, "a row has other columns")
            for column, kinds in zip(zip(*rows, strict=True), types, strict=True):
                _check_column(column, kinds)
    if facts.definitions:
        _check_definitions(facts.definitions, scopes)
    inside: list[Any] = [row[0] for row in facts.imports]
    _check_below(inside, max(scopes, 1), "an import is in no scope")


def _check_definitions(rows: Sequence[tuple[Any, ...]], scopes: int) -> None:
    _, kinds, parents, inside, bodies, *_rest = zip(*rows, strict=True)
    _check_that(KINDS.issuperset(kinds), "an unusual kind of definition")
    _check_below(parents, len(rows), "a definition is in none")
    _check_below(inside, max(scopes, 1), "a definition is in no scope")
    _check_below(bodies, scopes, "a definition opens no scope")
    _check_that(min(inside) >= 0, "a definition is in no scope")
    _check_that(_is_acyclic(parents), "definitions are in each other")


def _is_acyclic(parents: Sequence[int]) -> bool:
    """Whether every chain of parents ends."""
    if all(parent < at for at, parent in enumerate(parents)):
        return True
    is_rooted: set[int] = set()
    for start in range(len(parents)):
        chain: list[int] = []
        at = start
        while at >= 0 and at not in is_rooted:
            chain.append(at)
            if len(chain) > len(parents):
                return False
            at = parents[at]
        is_rooted.update(chain)
    return True


def _check_column(values: Sequence[Any], kinds: frozenset[type]) -> None:
    """One column of a table: all at once costs a tenth of one after the other."""
    _check_that(kinds.issuperset(map(type, values)), "a column has another type")
    if kinds == _NUMBER:
        _check_that(min(values) >= -1 and max(values) < 1 << 63, "a number is too large")
        return
    if bytes in kinds and any(type(value) is bytes for value in values):
        _check_that(not any(b"\0" in value for value in values if type(value) is bytes), "a name holds NUL")
        values = [value for value in values if type(value) is str]
    _check_that("\0" not in "".join(values), "a text holds NUL")


def _check_scopes(packed: bytes, scopes: Scopes) -> None:
    numbers = unpack_numbers(packed)
    _check_that(packed[:1] in (b"B", b"H", b"I"), "numbers of another width")
    _check_that(len(numbers) % _FIELDS == 0, "half a scope")
    _check_below(numbers[1::_FIELDS], len(ScopeKind), "an unusual kind of scope")
    # The number is 1 + that of the scope around it, which comes before.
    parents = numbers[::_FIELDS]
    _check_that(all(parent <= at for at, parent in enumerate(parents)), "a scope is in a later one")
    _check_that(not parents or 0 not in parents[1:], "two scopes of the file")
    assert len(scopes) == len(parents)


def _check_binds(packed: bytes, binds: Binds, scopes: int, definitions: int) -> None:
    _, length = struct.unpack_from("<II", packed)
    numbers_of = packed[8 : 8 + length]
    _check_that(
        numbers_of[:1] in (b"B", b"H", b"I") and len(numbers_of) == length, "numbers of another width"
    )
    numbers = unpack_numbers(numbers_of)
    texts = packed[8 + length :].count(b"\0")
    queries, receivers = numbers.pop(), numbers.pop()
    _check_that(len(numbers) == len(binds) * _FIELDS, "half a bind")
    _check_that(len(binds) <= receivers <= queries <= texts, "texts of binds are missing")
    _check_below(numbers[::_FIELDS], max(scopes, 1), "a bind is in no scope")
    _check_below(numbers[1::_FIELDS], 2 * _CERTAIN, "an unusual reason")
    columns = (numbers[1::_FIELDS], numbers[2::_FIELDS])
    reasons = {code & ~_CERTAIN for code in set(columns[0])}
    _check_that(all(code < len(Reason) for code in reasons), "an unusual reason")
    codes = (Reason.DEF_IN_SCOPE, Reason.DEF_IN_SCOPE | _CERTAIN)
    of_definitions = [to for code, to in zip(*columns, strict=True) if code in codes]
    _check_below(of_definitions, definitions + 1, "a bind is to no definition")
    _check_below(numbers[5::_FIELDS], max(receivers, 1), "a bind has no text")


def _check_occurrences(found: Occurrences, bounds: tuple[int, int, int], size: int) -> None:
    scopes, targets, receivers = bounds
    columns = (found.names, found.starts, found.scopes, found.targets, found.receivers, found.lines)
    _check_that(all(getattr(c, "typecode", "") in _WIDTHS for c in columns), "numbers of another width")
    _check_that(len({len(column) for column in (*columns[:5], found.roles)}) == 1, "columns of other lengths")
    _check_below(found.names, len(found.texts), "an occurrence of no name")
    _check_below(found.scopes, max(scopes, 1), "an occurrence in no scope")
    _check_below(found.targets, targets + 1, "an occurrence of nothing")
    _check_below(found.receivers, receivers + 1, "an occurrence behind nothing")
    _check_below(found.roles, len(Role), "an unusual role")
    _check_order(found.starts, size)
    _check_order(found.lines, size)
    _check_that(not found.starts or (bool(found.lines) and found.lines[0] == 0), "no first line")


def _check_below(column: Iterable[int], bound: int, what: str) -> None:
    _check_that(max(column, default=-1) < bound, what)


def _check_order(column: Sequence[int], size: int) -> None:
    _check_that(not column or column[-1] <= size, "a position beyond the file")
    _check_that(list(column) == sorted(column), "positions in disorder")
