"""No file and no pattern makes the matcher overflow, hang or take the square of a length."""

import pytest

from codeplane.core.errors import PatternInvalid
from codeplane.languages.operations import Source
from codeplane.languages.patterns import compile_pattern, find_pattern, near_misses

MEGABYTE = 1 << 20

FILES = {
    "nested calls": b"f(" * 25_000 + b"1" + b")" * 25_000,
    "nested brackets": b"(" * 100_000 + b")" * 100_000,
    "open brackets": b"x = " + b"[" * 100_000,
    "ten megabytes": (b"x = '" + b"a" * 1_000 + b"'\nf(a, b)\n") * (10 * MEGABYTE // 1_000),
    "many calls": b"f(a, b)\n" * 20_000,
    "one call of many arguments": b"f(" + b"a, " * 100_000 + b"b)",
    "long chain": b"a" + b".b()" * 20_000,
    "not text": bytes(range(1, 256)) * 1_000,
    "empty": b"",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("pattern", ["f($A, $$$B)", "$F($$$A)"])
def test_hostile_files_are_searched(name: str, pattern: str) -> None:
    source = Source("python", FILES[name])
    matches = find_pattern(source, pattern)
    for match in matches[:3]:
        assert sum(len(nodes) for nodes in match.captures.values()) >= 1


def test_calls_in_calls_are_all_found_however_deep() -> None:
    assert len(find_pattern(Source("python", FILES["nested calls"]), "f($X)")) == 25_000


def test_a_search_that_is_cancelled_ends() -> None:
    class CancelledError(Exception):
        pass

    def cancel() -> None:
        raise CancelledError

    with pytest.raises(CancelledError):
        find_pattern(Source("python", b"f(1)\n" * 1_000), "f($X)", cancel)


def test_too_many_ways_to_match_are_refused() -> None:
    source = Source("python", b"f(" + b", ".join(b"a%d" % number for number in range(200)) + b")")
    with pytest.raises(PatternInvalid, match="too many ways"):
        find_pattern(source, "f($$$A, $X, $$$B, $Y, $$$C, $X, $$$D, $Y)")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 300 + "$X" + ")" * 300,
        "f(" * 4_000 + ")" * 4_000,
        "f(" + ", ".join(f"$A{number}" for number in range(100)) + ")",
        "a" * 20_000,
        "\0",
        "\ud800",
        "$" * 5_000,
        "$$$" * 50,
    ],
)
def test_hostile_patterns_are_refused(text: str) -> None:
    with pytest.raises(PatternInvalid):
        compile_pattern("python", text)


def test_near_misses_of_a_large_file_are_bounded() -> None:
    source = Source("python", b"f(a, b)\n" * 30_000)
    assert len(near_misses(source, compile_pattern("python", "f($A)"))) == 3
