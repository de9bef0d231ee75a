"""How many lines come and go: the same as when every line is compared."""

import re
import sys
from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st

from codeplane.mutation.diff_preview import counts, preview
from codeplane.mutation.placement.line_mapping import common_ends

PARTS = st.lists(st.sampled_from([b"a", b"b", b"\n", b"\n", b"\r\n", b"\xc3", b"a\nb\n"]), max_size=12)
TEXTS = PARTS.map(b"".join)


def compared(old: bytes, new: bytes) -> tuple[int, int]:
    """By a diff of what is between the lines that both begin and end with."""
    before, after = (re.findall("[^\n]*\n|[^\n]+", data.decode("latin-1")) for data in (old, new))
    low, high = common_ends(before, after)
    told = [*unified_diff(before[low : len(before) - high], after[low : len(after) - high], n=0)][2:]
    return sum(line.startswith("+") for line in told), sum(line.startswith("-") for line in told)


@given(head=TEXTS, old=TEXTS, new=TEXTS, tail=TEXTS)
def test_lines_are_counted_as_if_all_were_compared(head: bytes, old: bytes, new: bytes, tail: bytes) -> None:
    before, after = head + old + tail, head + new + tail
    assert counts(before, after) == compared(before, after)


def test_a_missing_line_end_is_a_change() -> None:
    assert counts(b"a\nb\n", b"a\nb") == (1, 1)
    assert counts(None, b"a\nb") == (2, 0) and counts(b"a\n", None) == (0, 1)


def test_lines_far_apart_in_a_long_file_are_the_only_ones_counted() -> None:
    before = [b"line %d\n" % n for n in range(5_000)]
    after = [b"other\n", *before[1:-1], b"another\n"]
    assert counts(b"".join(before), b"".join(after)) == (2, 2)


def test_a_long_file_with_as_many_lines_as_before_is_shown_line_by_line() -> None:
    before = [b"line %d\n" % n for n in range(5_000)]
    after = [line.replace(b"line 1", b"row 1") for line in before]
    after[0], after[-1] = b"first\n", b"last\n"
    told = preview("a.py", b"".join(before), b"".join(after), 40).splitlines()
    assert told[:8] == [
        "--- a.py", "+++ a.py", "@@ -1,4 +1,4 @@", "-line 0", "-line 1", "+first", "+row 1", " line 2"
    ]  # fmt: skip
    assert told[-1].startswith("… ")


@given(
    common=st.integers(0, 3_000),
    old=st.text("ab", min_size=1, max_size=2_000),
    new=st.text("cd", min_size=1, max_size=2_000),
)
def test_long_lines_are_shown_where_they_differ(common: int, old: str, new: str) -> None:
    before, after = (f"x\n{'=' * common}{text}\n".encode() for text in (old, new))
    lines = preview("p", before, after, 50).splitlines()
    gone, come = (next(line for line in lines[2:] if line.startswith(mark)) for mark in "-+")
    assert max(map(len, lines)) < 500
    assert old[0] in gone and new[0] in come
    assert preview("p", before, after, sys.maxsize).splitlines()[-1] == f"+{'=' * common}{new}"


def test_long_lines_around_a_change_are_shown_in_part() -> None:
    text = preview("p", b"=" * 10_000 + b"\nold\n", b"=" * 10_000 + b"\nnew\n", 50)
    assert "9600 more characters" in text and len(text) < 600
