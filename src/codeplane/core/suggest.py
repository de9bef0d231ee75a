"""The nearest right word for a wrong one."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

_SHORTEST = 2  # of so few letters any other word is a slip
_SHORT = 5
_LONGEST_REMEMBERED: Final = 64
_CAMEL_EDGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def nearest(word: str, choices: Iterable[str], *, most: int = 3) -> list[str]:
    """Returns up to `most` choices that look like `word`, best first."""
    by_key = {snake(choice): choice for choice in choices}
    close_matches = get_close_matches(snake(word), by_key, n=most, cutoff=0.62)
    return [by_key[key] for key in close_matches]


def nearest_quoted(message: str, given: object) -> str | None:
    """Returns the value nearest to `given` among those that pydantic's message puts in quotes."""
    words = message.split("'")[1::2]
    if not words or not isinstance(given, str):
        return None
    return next(iter(nearest(given, words, most=1)), None)


def snake(word: str) -> str:
    """Spells `filePath`, `file-path` and `File Path` all as `file_path`."""
    # Every call asks for the same few names of parameters, each several times.
    return _remembered_snake(word) if len(word) <= _LONGEST_REMEMBERED else _spell_snake(word)


def _spell_snake(word: str) -> str:
    return re.sub(r"[\s\-.]+", "_", _CAMEL_EDGE.sub("_", word.strip())).lower()


_remembered_snake = lru_cache(maxsize=2048)(_spell_snake)


def is_misspelled(word: str, right: str) -> bool:
    """Whether a word is another with a slip or two in it, or with its parts in another order."""
    one, two = snake(word), snake(right)
    if sorted(one.split("_")) == sorted(two.split("_")):
        return True
    return len(two) > _SHORTEST and _compute_distance(one, two) <= (1 if len(two) <= _SHORT else 2)


def _compute_distance(one: str, two: str) -> int:
    """How many letters are wrong, missing, too many or swapped."""
    rows = [list(range(len(two) + 1))]
    for i, a in enumerate(one, 1):
        row = [i]
        for j, b in enumerate(two, 1):
            best = min(rows[-1][j] + 1, row[-1] + 1, rows[-1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                best = min(best, rows[-2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
