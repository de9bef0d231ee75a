from hypothesis import given
from hypothesis import strategies as st

from codeplane.core.suggest import nearest, snake


def test_spellings_of_one_name_are_one_name() -> None:
    assert {snake(word) for word in ("filePath", "file-path", "File Path", "file_path")} == {"file_path"}


def test_the_nearest_name_comes_first() -> None:
    assert nearest("serch", ["describe", "search", "read_source"]) == ["search"]
    assert nearest("zzz", ["describe", "search"]) == []


@given(st.text(), st.lists(st.text(), max_size=8), st.integers(1, 5))
def test_suggestions_are_always_choices(word: str, choices: list[str], most: int) -> None:
    found = nearest(word, choices, most=most)
    assert set(found) <= set(choices) and len(found) <= most
