import pytest

from codeplane.core.errors import InvalidArgument
from codeplane.search.pattern import Letters, Pattern, needed


def lines(pattern: str, text: str, *, is_literal: bool = False) -> list[int]:
    return [one.number for one in Pattern(pattern, is_literal=is_literal).lines(text.encode())]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("b+", "a\nbb\nc b b\n", [2, 3]),
        ("^a$", "a\nba\na", [1, 3]),
        (r"a\s+b", "a\nb\na  b\n", [3]),
        ("x*", "a\n\nb", [1, 2, 3]),
        ("x*", "a\n", [1]),
        ("", "a", None),
        ("é", "e\né\n", [2]),
        ("(?i)ABC", "xabc\n", [1]),
        ("a.c", "a\xffc\n", [1]),
        ("[^x]y", "\ny\n", []),
    ],
)
def test_lines_are_matched_one_by_one(pattern: str, text: str, expected: list[int] | None) -> None:
    if expected is None:
        with pytest.raises(InvalidArgument):
            lines(pattern, text)
    else:
        assert lines(pattern, text) == expected


def test_a_literal_means_what_it_says() -> None:
    assert lines("a.b(c)[", "axb\na.b(c)[0]\n", is_literal=True) == [2]


@pytest.mark.parametrize("pattern", ["(", "a{2000}{2000}", r"(?=a)", r"(a)\1", "x" * 1001, "[z-a]", "\ud800"])
def test_a_pattern_that_cannot_be_used_says_why(pattern: str) -> None:
    with pytest.raises(InvalidArgument):
        Pattern(pattern, is_literal=False)


def test_no_pattern_takes_time_out_of_proportion() -> None:
    assert lines("(a+)+$", "a" * 200_000 + "b") == []
    assert lines("(.*)(.*)(.*)x", "a" * 100_000) == []


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("save", [Letters("save", False, False)]),
        (r"\bsave\b", [Letters("save", False, False)]),  # `\b` knows no letters beyond ASCII
        (r"def save\(", [Letters("save", True, True), Letters("def", False, True)]),
        ("get_que[a-z]+_set", [Letters("get_que", False, False), Letters("_set", False, False)]),
        ("colou?r", [Letters("colo", False, False)]),
        ("abcd*", [Letters("abc", False, False)]),
        ("abcd+ef", [Letters("abcd", False, False)]),
        ("abcd{0,2}", [Letters("abc", False, False)]),
        ("abc|def", []),
        ("(abc)def", [Letters("def", False, False)]),
        ("(?:abc)?", []),
        ("(?i)abc", [Letters("abc", False, False)]),
        ("[abc]def", [Letters("def", False, False)]),
        (r"[\]]def", [Letters("def", False, False)]),
        (r"[]a]def", [Letters("def", False, False)]),
        ("[[:alpha:]]def", [Letters("def", False, False)]),
        (r"\Qabc\E", []),
        (r"\x{61}bc def", []),
        (r"abc\d", [Letters("abc", False, False)]),
        ("abcé", []),
        ("ab", []),
        (r"\(abc", [Letters("abc", True, False)]),
        ("abc{", [Letters("abc", False, False)]),
    ],
)
def test_only_what_every_match_has_is_needed(pattern: str, expected: list[Letters]) -> None:
    assert needed(pattern) == expected
