"""The words of a text: identifiers whole and in parts, so that `user` finds `getUserName` and `user_id`."""

import re
from functools import lru_cache

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_LONGEST = 64


def words_of(data: bytes) -> str:
    """Every distinct word of `data` and its parts, in one line; empty for binary data."""
    if b"\0" in data:
        return ""
    distinct = dict.fromkeys(_WORD.findall(data.decode("utf-8", "replace")))
    return " ".join([_with_parts(word) for word in distinct if len(word) <= _LONGEST])


@lru_cache(maxsize=100_000)
def _with_parts(word: str) -> str:
    if word.islower() and "_" not in word:
        return word
    parts = _PART.findall(word)
    return " ".join([word, *parts]) if len(parts) > 1 or "_" in word else word
