"""Lines that a formatter has written, among lines that stay."""

import pytest

from codeplane.delta.formatted_lines import Lines, keep_lines, touched_lines, with_ends_of


@pytest.mark.parametrize(
    ("data", "formatted", "lines", "expected"),
    [
        ("a  b\nc  d\ne  f\n", "a b\nc d\ne f\n", (2, 2), "a  b\nc d\ne  f\n"),
        ("f(a,b)\ng( )\n", "f(\n  a,\n  b\n);\ng();\n", (1, 1), "f(\n  a,\n  b\n);\ng( )\n"),
        ("f(a,b)\ng( )\n", "f(\n  a,\n  b\n);\ng();\n", (2, 2), "f(a,b)\ng();\n"),
        ("f(a,\n  b)\ng( )\n", "f(a, b);\ng();\n", (2, 2), "f(a, b);\ng( )\n"),
        ("a {\n\n\nb }\n", "a {\n\n  b\n}\n", (4, 4), "a {\n\n  b\n}\n"),
        ("x = 'a'\ny = 'b'\n", 'x = "a"\ny = "b"\n', (2, 2), "x = 'a'\ny = \"b\"\n"),
        ("a  b\nc", "a b\nc\n", (1, 1), "a b\nc"),
        ("a  b\nc  d\n", "A b\nc d\n", (2, 2), "A b\nc d\n"),
    ],
    ids=["one of three", "split", "not split", "joined", "blank lines", "quotes", "no end", "other words"],
)
def test_only_the_lines_that_are_asked_for_change(
    data: str, formatted: str, lines: tuple[int, int], expected: str
) -> None:
    assert keep_lines(data.encode(), formatted.encode(), Lines(*lines)).decode() == expected


def test_touched_lines_are_those_of_the_text_after() -> None:
    assert touched_lines(b"a\nb\nc\nd\n", b"a\nB\nB\nc\n") == [(2, 3)]
    assert touched_lines(b"a\n", b"a\n") == []


def test_line_ends_are_those_of_the_text_before() -> None:
    assert with_ends_of(b"a\r\n", b"b\nc\n") == b"b\r\nc\r\n"
    assert with_ends_of(b"a\n", b"b\r\nc\r\n") == b"b\nc\n"
