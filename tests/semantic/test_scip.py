"""An index is read as it was written, and what is no index is an error that says where."""

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.errors import ScipError
from codeplane.semantic.scip import Document, Limits, Metadata, Relationship, read_index
from tests.semantic.scip_writer import (
    Paper,
    Relates,
    Says,
    block,
    document,
    index,
    metadata,
    number,
    occurrence,
    relationship,
    typed_occurrence,
    varint,
)

SMALL = Paper(
    "src/a.py",
    [
        Says((0, 4, 7), "toy . p . a/f().", 1),
        Says((300, 4, 200), "local 1"),
        Says((1, 0, 3, 2), "x y z . w/"),
    ],
    [Relates("toy . p . a/A#", "toy . p . a/B#")],
)
spans = st.lists(st.integers(0, (1 << 31) - 1), min_size=3, max_size=4).map(tuple)
symbols = st.text(st.characters(codec="utf-8"), min_size=1, max_size=300)
says = st.builds(Says, spans, symbols, st.integers(0, 127))
relations = st.builds(Relates, symbols, symbols, st.tuples(*[st.booleans()] * 4))
papers = st.builds(
    Paper,
    st.text(st.characters(codec="utf-8"), max_size=30),
    st.lists(says, max_size=8),
    st.lists(relations, max_size=3),
    st.integers(0, 3),
    st.sampled_from(("python", "")),
    st.none() | st.text(st.characters(codec="utf-8"), max_size=30),
)


def read(data: bytes, limits: Limits | None = None) -> list[Metadata | Document]:
    return list(read_index(io.BytesIO(data), limits))


def papers_in(items: list[Metadata | Document]) -> list[Paper]:
    return [_paper(item) for item in items if isinstance(item, Document)]


def _paper(item: Document) -> Paper:
    uttered = [
        Says((a, b, d) if a == c else (a, b, c, d), item.symbols[at], roles)
        for a, b, c, d, at, roles in item.occurrences
    ]
    relates = [Relates(one.symbol, one.other, one[2:]) for one in item.relationships]
    text = None if item.text is None else item.text.decode()
    return Paper(item.path, uttered, relates, item.encoding, item.language, text)


def _short(item: Says) -> Says:
    """Four numbers that say the same line twice are three."""
    span = item.span
    return item._replace(span=(span[0], span[1], span[3]) if len(span) == 4 and span[0] == span[2] else span)


@given(st.lists(papers, max_size=4))
def test_an_index_is_read_as_it_was_written(written: list[Paper]) -> None:
    items = read(index(written))
    assert items[0] == Metadata("toy", "1.0", "file:///r")
    assert papers_in(items) == [one._replace(says=[*map(_short, one.says)]) for one in written]


@given(st.lists(says, max_size=5))
def test_ranges_in_messages_are_read(written: list[Says]) -> None:
    data = metadata() + block(2, block(1, "a.py") + b"".join(map(typed_occurrence, written)))
    assert papers_in(read(data))[0].says == [*map(_short, written)]


def test_fields_may_stand_in_any_order_and_unknown_ones_are_skipped() -> None:
    span = b"".join(number(1, value) for value in (3, 0, 2))  # not packed
    strange = block(2, number(3, 9) + block(90, "?") + block(2, "s") + varint(91 << 3 | 5) + b"1234" + span)
    behind = block(2, block(1, b"\5\6\7") + block(2, "s") + number(3, 1) + block(2, "t"))
    data = number(70, 1) + varint(71 << 3 | 1) + b"12345678" + block(72, b"x" * 3_000_000)
    items = read(metadata() + data + block(2, strange + behind + block(1, "a.py")))
    assert papers_in(items)[0].says == [Says((3, 0, 2), "s", 9), Says((5, 6, 7), "t", 1)]


def test_an_occurrence_without_a_symbol_only_colours_a_place() -> None:
    data = block(2, block(1, b"\0\0\1") + number(5, 2))
    assert papers_in(read(metadata() + block(2, data)))[0].says == []


def test_an_index_that_ends_early_says_where() -> None:
    data = index([SMALL])
    ends = {len(metadata()), len(metadata() + document(SMALL))}
    for cut in range(len(data)):
        if cut in ends:
            continue
        with pytest.raises(ScipError) as caught:
            read(data[:cut])
        assert caught.value.details["byte"] == cut


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is empty"),
        (b"PK\3\4 an archive", "it does not begin with the metadata of an index"),
        (document(SMALL), "it does not begin with the metadata of an index"),
        (metadata() * 2, "metadata for a second time"),
        (metadata() + b"\xff" * 20, "a number of more than 64 bits"),
        (metadata() + b"\0", "no field has that number"),
        (metadata() + b"\x1b", "wire type 3 is not in use"),
        (metadata() + block(2, block(2, b"\x0b")), "wire type 3 is not in use"),
        (metadata() + block(2, block(2, block(1, b"\1\2") + block(2, "s"))), "an occurrence without a range"),
        (metadata() + block(2, block(2, block(2, "s"))), "an occurrence without a range"),
        (metadata() + block(2, occurrence(Says((1 << 31, 0, 1), "s"))), "an occurrence without a range"),
        (
            metadata() + block(2, block(2, block(1, b"\0\0\1") + block(2, b"\xff"))),
            "a text that is not UTF-8",
        ),
    ],
)
def test_what_is_no_index_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(ScipError) as caught:
        read(data)
    assert caught.value.details["reason"] == reason


@pytest.mark.parametrize(
    "limits",
    [
        Limits(file=100),
        Limits(document=100),
        Limits(symbol=10),
        Limits(documents=1),
        Limits(occurrences=2),
        Limits(total=5),
    ],
)
def test_every_size_has_a_limit(limits: Limits) -> None:
    with pytest.raises(ScipError, match="is too large"):
        read(index([SMALL, SMALL]), limits)


def test_relationships_have_a_limit() -> None:
    data = metadata() + block(2, relationship(Relates("a", "b")) * 3)
    with pytest.raises(ScipError, match="is too large"):
        read(data, Limits(occurrences=2))


class _Endless(io.RawIOBase):
    """A stream that gives the same byte as often as it is asked to."""

    def read(self, size: int = -1) -> bytes:
        return b"\x12" * size


def test_a_message_that_claims_to_be_huge_takes_no_memory() -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ScipError, match="is too large"):
            read(metadata() + varint(2 << 3 | 2) + varint(1 << 62) + b"rest")
        with pytest.raises(ScipError):
            list(read_index(_Endless()))  # type: ignore[arg-type]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@given(st.data())
def test_damaged_bytes_are_an_error_or_an_index(data: st.DataObject) -> None:
    raw = bytearray(index([SMALL, SMALL._replace(text="x = 1\n", encoding=2)]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        count = data.draw(st.integers(0, 3))
        raw[at : at + count] = data.draw(st.binary(max_size=4))
        if not raw:
            break
    try:
        items = read(bytes(raw))
    except ScipError as error:
        byte = error.details["byte"]
        assert isinstance(byte, int) and 0 <= byte <= len(raw)
        return
    for item in items:
        if isinstance(item, Document):
            assert all(0 <= number < 1 << 31 for row in item.occurrences for number in row)
            assert all(row[4] < len(item.symbols) for row in item.occurrences)
            assert all(isinstance(one, Relationship) for one in item.relationships)


@given(st.binary(max_size=300))
def test_any_bytes_are_an_error_or_an_index(raw: bytes) -> None:
    try:
        items = read(metadata() + raw)
    except ScipError:
        return
    assert isinstance(items[0], Metadata)
