"""Marks in a file are read as conflicts only where they follow each other as git writes them."""

from codeplane.git.repo.outcome import Conflict, Side
from codeplane.git.staging.conflicts import Hunk, describe_conflicts, has_marks, hunks_of

SIDE = Side("0" * 40, 0o100644)
MARKED = b"a\n<<<<<<< HEAD\nx\ny\n=======\nz\n>>>>>>> side\nb\n"


def test_a_hunk_has_its_lines_and_both_sides() -> None:
    assert hunks_of(MARKED) == [Hunk(2, 7, "x\ny", "z")]


def test_the_ancestor_is_told_where_the_file_shows_it() -> None:
    data = b"<<<<<<< HEAD\r\nx\r\n||||||| abc\r\no\r\n=======\r\nz\r\n>>>>>>> side\r\n"
    assert hunks_of(data) == [Hunk(1, 7, "x\r", "z\r", "o\r")]


def test_marks_out_of_order_are_text() -> None:
    assert not has_marks(b"=======\n>>>>>>> side\n<<<<<<< HEAD\n=======\n")
    assert not has_marks(b"Title\n=======\n")


def test_longer_marks_inside_belong_to_a_side() -> None:
    inner = b"<<<<<<<<< A\n1\n=========\n2\n>>>>>>>>> B\n"
    data = b"<<<<<<< HEAD\nx\n||||||| base\n" + inner + b"=======\nz\n>>>>>>> side\n"
    (hunk,) = hunks_of(data)
    assert (hunk.ours, hunk.theirs) == ("x", "z")
    assert hunk.base == "<<<<<<<<< A\n1\n=========\n2\n>>>>>>>>> B"


def test_kinds_are_those_of_the_status() -> None:
    found = describe_conflicts(
        [Conflict("a", SIDE, SIDE, SIDE), Conflict("b", SIDE, None, SIDE), Conflict("c", None, SIDE, None)],
        {"a": MARKED}.get,
    )
    assert [one.kind for one in found] == ["both_modified", "deleted_by_us", "added_by_us"]
    assert [len(one.hunks) for one in found] == [1, 0, 0]


def test_what_is_long_is_cut_and_says_so() -> None:
    side = b"".join(b"%d\n" % number for number in range(100))
    data = (b"<<<<<<< HEAD\n" + side + b"=======\n>>>>>>> side\n") * 30
    (one,) = describe_conflicts([Conflict("a", SIDE, SIDE, SIDE)], lambda _: data)
    assert (len(one.hunks), one.more_hunks) == (20, 10)
    assert one.hunks[0].ours.endswith("\n… 70 more lines")
