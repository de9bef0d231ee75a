"""Symbols come apart as the grammar of SCIP has them."""

import pytest

from codeplane.semantic.symbols import Symbol, is_local, last_name, names_in, split_symbol


@pytest.mark.parametrize(
    ("symbol", "parts", "names"),
    [
        ("ty-scip python click 8.5.0 click/core/", ("click", "click/core/"), ["click", "core"]),
        ("s python-stdlib . . re/compile().", (".", "re/compile()."), ["re", "compile"]),
        ("s npm @a/b 1 src/`a.ts`/A#f(+1).", ("@a/b", "src/`a.ts`/A#f(+1)."), ["src", "a.ts", "A", "f"]),
        ("s m a  b 1 X#`odd ``name```.", ("a  b", "X#`odd ``name```."), ["X", "odd `name`"]),
        ("s . . . f().(x)", (".", "f().(x)"), ["f", "x"]),
        ("s . . . F#[T]", (".", "F#[T]"), ["F", "T"]),
        ("s . . . m!", (".", "m!"), ["m"]),
        ("s  t npm a 1 `<constructor>`().", ("a", "`<constructor>`()."), ["<constructor>"]),
        ("s npm a 1", None, None),
        ("garbage", None, None),
        ("", None, None),
    ],
)
def test_a_symbol_has_a_package_and_names(
    symbol: str, parts: tuple[str, str] | None, names: list[str] | None
) -> None:
    assert split_symbol(symbol) == (Symbol(*parts) if parts else None)
    assert names_in(symbol) == (names or [])
    if names:
        assert last_name(symbol) == names[-1]


def test_a_symbol_of_spaces_takes_no_time() -> None:
    assert split_symbol(" " * 100_001) is None
    assert [len(names_in("s m p v " + "`" * count)) for count in (100_000, 100_001)] == [1, 1]


def test_versions_do_not_tell_symbols_apart() -> None:
    texts = {split.text for v in ("3.7", "3.10") if (split := split_symbol(f"s python std {v} re/"))}
    assert texts == {"std re/"}


def test_a_local_symbol_has_no_name() -> None:
    assert is_local("local 12") and last_name("local x.") == "" and last_name("garbage") == ""
    assert not is_local("localhost . . . a/")
