"""How many lines come and go: the same as when every line is compared."""

import re
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
