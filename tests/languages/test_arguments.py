"""Pieces of code that calls and texts are made of."""

import pytest

from codeplane.languages.arguments import quoted


@pytest.mark.parametrize("told", ["{size=}", "{size = }", "{size=!r}", "{size=:>8}", "{size =!s:>8}"])
def test_code_whose_text_is_told_is_found_however_it_is_formatted(told: str) -> None:
    data = f'print(f"{told}")\n'.encode()
    assert [data[start:end].decode() for start, end in quoted("python", data)] == [told]


@pytest.mark.parametrize("told", ["{size}", "{size == 1}", "{size != 1}", "{size:=^8}"])
def test_code_whose_text_is_not_told_is_left_alone(told: str) -> None:
    assert quoted("python", f'print(f"{told}")\n'.encode()) == []
