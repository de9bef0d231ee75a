"""An edit goes to the one place that is certainly meant, or nowhere; every other byte stays."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from codeplane.core.errors import CodePlaneError, EditConflict, EditNotPlaced, EditRefused, InvalidArgument
from codeplane.mutation.placement.locate import Placed, SpanEdit, place
from codeplane.mutation.placement.requests import rewritten
from codeplane.mutation.placement.text import Text


def edited(data: bytes, *edits: SpanEdit, base: bytes | None = None, stale: bool = False) -> bytes:
    text = Text(data, "f")
    older = Text(base, "f") if base is not None else None
    placed = [one for edit in edits for one in place(text, edit, older, is_stale=stale or base is not None)]
    return rewritten("f", data, placed)


def placed(data: bytes, edit: SpanEdit, base: bytes | None = None) -> Placed:
    [one] = place(
        Text(data, "f"), edit, Text(base, "f") if base is not None else None, is_stale=base is not None
    )
    return one


@pytest.mark.parametrize(
    ("data", "edit", "after"),
    [
        (b"a\nb\nc\n", SpanEdit("x", first=2, last=2), b"a\nx\nc\n"),
        (b"a\nb\nc\n", SpanEdit("x\ny\n", first=2, last=3), b"a\nx\ny\n"),
        (b"a\nb\nc\n", SpanEdit("", first=2, last=2), b"a\nc\n"),
        (b"a\nb\n", SpanEdit("\n", first=2, last=2), b"a\n\n"),
        (b"a\nb\n", SpanEdit("x", first=2, last=1), b"a\nx\nb\n"),
        (b"a\nb\n", SpanEdit("x", first=3, last=2), b"a\nb\nx\n"),
        (b"a\nb", SpanEdit("x", first=3, last=2), b"a\nb\nx"),
        (b"a\nb", SpanEdit("x", first=2, last=2), b"a\nx"),
        (b"a\nb", SpanEdit("x\ny\n", first=1, last=2), b"x\ny"),
        (b"a\r\nb\r\n", SpanEdit("x\ny", first=2, last=2), b"a\r\nx\r\ny\r\n"),
        (b"a\r\nb\nc\n", SpanEdit("x\ny", first=1, last=1), b"x\r\ny\r\nb\nc\n"),
        (b"a\r\nb\nc\n", SpanEdit("x\ny", first=2, last=2), b"a\r\nx\ny\nc\n"),
        (b"\xef\xbb\xbfa\nb\n", SpanEdit("x", first=1, last=1), b"\xef\xbb\xbfx\nb\n"),
        (b"\xef\xbb\xbfa\nb\n", SpanEdit("x", expected="a"), b"\xef\xbb\xbfx\nb\n"),
        (b"caf\xe9\nb\n", SpanEdit("\xfc", first=2, last=2), b"caf\xe9\n\xfc\n"),
        (b"", SpanEdit("x", first=1, last=0), b"x\n"),
        (b"one two one\n", SpanEdit("2", expected="two"), b"one 2 one\n"),
        (b"one two one\n", SpanEdit("1", expected="one", everywhere=True), b"1 two 1\n"),
        (b"a\r\nb\r\nc\r\n", SpanEdit("x\ny", expected="a\nb"), b"x\r\ny\r\nc\r\n"),
        (b"a\nb\nc\n", SpanEdit("x\r\ny", expected="a\r\nb"), b"x\ny\nc\n"),
    ],
)
def test_bytes_of_an_edit(data: bytes, edit: SpanEdit, after: bytes) -> None:
    assert edited(data, edit) == after


@pytest.mark.parametrize(
    ("data", "edit", "after", "why"),
    [
        # Lines that are wrong by a few.
        (b"a\nb\nc\nd\n", SpanEdit("X", "c", 2, 2), b"a\nb\nX\nd\n", "at other lines"),
        (b"a\nb\nc\nd\n", SpanEdit("X", "c\nd", 1, 9), b"a\nb\nX\n", "at other lines"),
        # White space at the ends of lines.
        (b"a  \nb\n", SpanEdit("X", "a\nb"), b"X\n", "trailing white space"),
        (b"a\nb\n", SpanEdit("X", "a \nb\t"), b"X\n", "trailing white space"),
        # Tabs and spaces, and other widths: the new text is indented as the file is.
        (b"if x:\n\ty\n", SpanEdit("if x:\n    z\n", "if x:\n    y\n"), b"if x:\n\tz\n", "indentation"),
        (
            b"f\n\ta\n\t\tb\n",
            SpanEdit("    a\n        c", "    a\n        b"),
            b"f\n\ta\n\t\tc\n",
            "indentation",
        ),
        (b"f\n    a\n", SpanEdit("f\n\tb\n\t\tc", "f\n\ta"), b"f\n    b\n        c\n", "indentation"),
        (
            b"f\n  a\n    b\n",
            SpanEdit("    c\n        d", "    a\n        b"),
            b"f\n  c\n    d\n",
            "indentation",
        ),
        # A block without its margin.
        (b"k\n    a\n      b\n", SpanEdit("a\n  c", "a\n  b"), b"k\n    a\n      c\n", "indentation"),
        # Lines as they were shown, with their numbers.
        (b"a\nb\nc\n", SpanEdit("2: x\n3: y", "2: b\n3: c"), b"a\nx\ny\n", "line numbers"),
        (b"a\nb\nc\n", SpanEdit("x", "2: b\n3: c"), b"a\nx\n", "line numbers"),
    ],
)
def test_a_slip_is_corrected_and_told(data: bytes, edit: SpanEdit, after: bytes, why: str) -> None:
    one = placed(data, edit)
    assert rewritten("f", data, [one]) == after
    assert one.correction is not None
    assert why in one.correction.why


@pytest.mark.parametrize(
    ("data", "edit", "error"),
    [
        (b"a\nb\na\n", SpanEdit("x", "a"), EditNotPlaced),
        (b"a\nb\na\n", SpanEdit("x", "a", 2, 2), EditNotPlaced),
        (b"a\nb\n", SpanEdit("x", "c"), EditNotPlaced),
        # The exact text is elsewhere, and where the lines point it is but for white space.
        (b"  a\nb\na\n", SpanEdit("x", "a", 1, 1), EditNotPlaced),
        # Nothing says how deep the new line is to be.
        (b"f\n\ta\n", SpanEdit("   a\n  b", "    a"), EditNotPlaced),
        (b"a\nb\n", SpanEdit("x"), InvalidArgument),
        (b"a\nb\n", SpanEdit("x", first=4, last=4), InvalidArgument),
        (b"a\nb\n", SpanEdit("x", first=2, last=3), InvalidArgument),
        (b"caf\xe9\nb\n", SpanEdit("\u20ac", first=2, last=2), EditRefused),
        (b"caf\xe9\nb\n", SpanEdit("\ufffd", first=1, last=1), EditRefused),
        (b"a\n", SpanEdit("\ud800", first=1, last=1), EditRefused),
    ],
)
def test_what_is_not_certain_is_refused(data: bytes, edit: SpanEdit, error: type[CodePlaneError]) -> None:
    with pytest.raises(error):
        edited(data, edit)


@pytest.mark.parametrize("data", [b"\xff\xfea\0\n\0", b"\xfe\xff\0a", b"\0elf"])
def test_a_file_without_lines_is_refused(data: bytes) -> None:
    with pytest.raises(EditRefused):
        Text(data, "f")


class TestAStaleEdit:
    def test_follows_its_lines(self) -> None:
        assert (
            edited(b"new\na\nb\nc\n", SpanEdit("X", first=2, last=2), base=b"a\nb\nc\n") == b"new\na\nX\nc\n"
        )

    def test_at_its_lines_is_a_conflict_that_shows_both_sides(self) -> None:
        with pytest.raises(EditConflict) as raised:
            edited(b"a\nB\nc\n", SpanEdit("X", first=2, last=2), base=b"a\nb\nc\n")
        assert (raised.value.details["read"], raised.value.details["found"]) == ("2: b", "2: B")

    def test_whose_content_is_unknown_is_a_conflict(self) -> None:
        with pytest.raises(EditConflict):
            edited(b"a\nb\nc\n", SpanEdit("X", first=2, last=2), stale=True)

    def test_with_its_text_needs_no_earlier_content(self) -> None:
        assert edited(b"a\nb\nc\n", SpanEdit("X", "b", 7, 7), stale=True) == b"a\nX\nc\n"

    def test_between_two_lines_that_were_parted_is_a_conflict(self) -> None:
        with pytest.raises(EditConflict):
            edited(b"a\nnew\nb\n", SpanEdit("X", first=2, last=1), base=b"a\nb\n")

    def test_of_one_of_two_equal_places_goes_to_the_one_that_was_meant(self) -> None:
        base = b"f\nreturn 1\n\ng\nreturn 1\n"
        now = b"new\n" + base
        assert edited(now, SpanEdit("return 2", "return 1", 5, 5), base=base) == now[:-2] + b"2\n"


LINES = st.lists(
    st.tuples(
        st.sampled_from([b"", b"a", b"bb", b"  c", b"\tc", b"caf\xe9", "é".encode()]),
        st.sampled_from([b"\n", b"\r\n"]),
    ),
    max_size=8,
)


@given(LINES, st.booleans(), st.booleans(), st.data())
def test_no_other_byte_moves(
    lines: list[tuple[bytes, bytes]], bom: bool, ended: bool, data: st.DataObject
) -> None:
    content = (b"\xef\xbb\xbf" if bom else b"") + b"".join(line + end for line, end in lines)
    content = content if ended else content.removesuffix(b"\n").removesuffix(b"\r")
    text = Text(content, "f")
    first = data.draw(st.integers(1, text.count + 1))
    last = data.draw(st.integers(first - 1, text.count) if first <= text.count else st.just(text.count))
    new = data.draw(st.sampled_from(["", "x", "x\ny\n", "\n"]))
    start, end = text.start(first), text.start(last + 1)
    after = edited(content, SpanEdit(new, first=first, last=last))
    assert after.startswith(content[:start])
    assert after.endswith(content[end:])
    assert len(text.lines) == text.count


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=12), st.data())
def test_lines_that_nobody_touched_are_followed_to_lines_that_are_the_same(
    base: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(base)))
    last = data.draw(st.integers(first, len(base)))
    at = data.draw(st.integers(0, len(base)))
    gone = data.draw(st.integers(0, 3))
    assume(at + gone < first or at >= last)
    now = [*base[:at], *data.draw(st.lists(st.sampled_from("abcxyz"), max_size=3)), *base[at + gone :]]
    whole = "".join(f"{line}\n" for line in base).encode()
    present = "".join(f"{line}\n" for line in now).encode()
    assume(whole != present)
    try:
        one = placed(present, SpanEdit("NEW", first=first, last=last), whole)
    except EditConflict:
        return
    assert [now[line - 1] for line in range(one.lines[0], one.lines[1] + 1)] == base[first - 1 : last]
