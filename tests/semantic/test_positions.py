"""Columns in any unit and lines of any kind come out as the bytes of the same token."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.semantic.positions import Range, byte_ranges, possible_readings
from codeplane.semantic.scip import PositionEncoding

Row = tuple[int, int, int, int, int, int]
UTF8, UTF16, UTF32 = PositionEncoding.UTF8, PositionEncoding.UTF16, PositionEncoding.UTF32
WORD = re.compile(r"[^\W\d]\w*")


def units(text: str, encoding: PositionEncoding) -> int:
    """How long a text is as an indexer counts it."""
    if encoding == UTF32:
        return len(text)
    return len(text.encode()) if encoding == UTF8 else len(text.encode("utf-16-le")) // 2


def rows_of(text: str, breaks: str, encoding: PositionEncoding) -> list[Row]:
    """The words of a text, by line and column."""
    rows = []
    for number, line in enumerate(re.split(breaks, text)):
        for word in WORD.finditer(line):
            start = units(line[: word.start()], encoding)
            rows.append((number, start, number, start + units(word[0], encoding), 0, 0))
    return rows


def tokens_of(text: str) -> list[Range]:
    return [(len(text[: m.start()].encode()), len(text[: m.end()].encode())) for m in WORD.finditer(text)]


def convert(text: str, encoding: int, rows: list[Row]) -> list[Range]:
    tokens = set(tokens_of(text))
    return byte_ranges(text.encode(), encoding, rows, lambda ranges: sum(one in tokens for one in ranges))


@given(st.text(st.sampled_from("ab é€🚀\n\t\x0c\x85"), max_size=40), st.sampled_from((UTF8, UTF16, UTF32)))
def test_every_encoding_leads_to_the_same_bytes(text: str, encoding: PositionEncoding) -> None:
    assert convert(text, encoding, rows_of(text, "\n", encoding)) == tokens_of(text)


@pytest.mark.parametrize("encoding", [UTF8, UTF16, UTF32])
def test_an_encoding_that_is_not_said_is_found_by_the_tokens(encoding: PositionEncoding) -> None:
    text = "x = 1\ns = '🚀é'; name = other\n"
    assert convert(text, 0, rows_of(text, "\n", encoding)) == tokens_of(text)


@pytest.mark.parametrize("breaks", ["\n", "\r\n?|\n", "\r\n?|\n|\u2028|\u2029"])
def test_what_ends_a_line_is_found_by_the_tokens(breaks: str) -> None:
    text = "first = 1\r\nsecond = 2\rthird = 3\ns = '\u2028 \u2029'; fourth = 4\x0c fifth\x85sixth\n"
    for encoding in (UTF8, UTF16):
        assert convert(text, encoding, rows_of(text, breaks, encoding)) == tokens_of(text)


@pytest.mark.parametrize("encoding", [UTF8, UTF16])
def test_a_byte_order_mark_may_be_counted_or_not(encoding: PositionEncoding) -> None:
    text = "\ufeffname = other\nnext_name = 1\n"
    counted = rows_of(text, "\n", encoding)
    without = rows_of(text[1:], "\n", encoding)
    assert counted != without
    assert convert(text, encoding, counted) == convert(text, encoding, without) == tokens_of(text)


def test_positions_that_a_file_does_not_have_are_told() -> None:
    assert convert("é = 1\n", UTF16, [(0, 9, 0, 10, 0, 0), (5, 0, 5, 1, 0, 0)]) == [(-1, -1), (-1, -1)]
    assert convert("a\n", UTF8, [(0, 0, 0, 1, 0, 0), (9, 0, 9, 1, 0, 0)]) == [(0, 1), (-1, -1)]
    assert convert("'🚀'a\n", UTF16, [(0, 2, 0, 3, 0, 0)]) == [(-1, 5)]  # inside of a surrogate pair


def test_bytes_that_are_no_utf8_count_as_one_column_each() -> None:
    content = b"s = '\xff\xfe'; name\n"
    ranges = byte_ranges(content, UTF16, [(0, 10, 0, 14, 0, 0)], lambda _: 0)
    assert content[slice(*ranges[0])] == b"name"


@pytest.mark.parametrize(
    ("content", "encoding", "count"),
    [
        (b"plain\r\ntext\n", 0, 1),
        ("é\n".encode(), 2, 1),
        ("é\n".encode(), 0, 3),
        ("é\n".encode(), 77, 3),
        (b"a\rb\n", 1, 2),
        ("\ufeffa\rb\u2028\n".encode(), 1, 6),
    ],
)
def test_only_files_that_leave_room_for_it_have_several_readings(
    content: bytes, encoding: int, count: int
) -> None:
    assert len(list(possible_readings(content, encoding))) == count
