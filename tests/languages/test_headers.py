"""Taking headers apart, whatever they look like."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplane.languages import specs
from codeplane.languages.facts import Definition, Span
from codeplane.languages.headers import Passing, header_of

STYLED = sorted(name for name, spec in specs().items() if spec.header is not None)
PIECES = st.sampled_from(
    [
        *"f()[]<>{},=:*&?'\"\\ a",
        "**",
        "...",
        "b: int",
        "int c",
        "$d",
        "self",
        "=>",
        "->",
        "@x",
        "#[y]",
        "\ud800",
    ]
)


def definition(signature: str) -> Definition:
    return Definition("f", "function", -1, 0, 1, Span(1, 0, 1, 9), 1, 0, signature)


@given(st.sampled_from(STYLED), st.lists(PIECES, max_size=20), st.lists(st.sampled_from("abcd"), max_size=3))
def test_no_text_is_too_odd(language: str, pieces: list[str], bound: list[str]) -> None:
    header = header_of(language, definition("".join(pieces)), bound)
    assert header is None or header.parameters is None or all(len(one) == 4 for one in header.parameters)


NAMES = st.lists(st.from_regex(r"[a-z]{3,8}", fullmatch=True), unique=True, max_size=6)


@given(
    NAMES, st.lists(st.sampled_from([None, "1", "(1, 2)", "'a, b'", "{'x': [1]}", "f(x, y=2)"]), min_size=6)
)
def test_what_is_listed_is_what_is_written(names: list[str], defaults: list[str | None]) -> None:
    told = list(zip(names, defaults, strict=False))
    text = ", ".join(name if value is None else f"{name}={value}" for name, value in told)
    header = header_of("python", definition(f"def f({text}) -> int"), names)
    assert header is not None and header.parameters is not None and header.after == "-> int"
    assert [(one.name, one.default) for one in header.parameters] == told
    assert all(one.passing is Passing.EITHER for one in header.parameters)


@pytest.mark.parametrize("signature", ["def f(a, b", "def f(a))", "def f('a)", "def g(a)", ""])
def test_what_does_not_fit_together_is_not_taken_apart(signature: str) -> None:
    assert header_of("python", definition(signature)) is None


def test_names_that_the_file_does_not_bind_are_doubted() -> None:
    assert header_of("python", definition("def f(a, b)"), ["a"]) is None
