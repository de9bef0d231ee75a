"""The words of a text: identifiers whole and in parts, so that `user` finds `getUserName` and `user_id`."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_BREAK = re.compile(rb"[^\w\x80-\xff]")
_LONGEST = 64
_PIECE = 1 << 20


def words_of(data: bytes, names: Iterable[str] = ()) -> str:
    """Every distinct word of `data` and its parts, in one line; empty for binary data.

    All words of the names are in it, however long: the word index is how the blobs of a name are found.
    """
    if b"\0" in data:
        return ""
    distinct: dict[str, None] = {}
    for piece in _pieces(data):
        distinct.update(dict.fromkeys(_WORD.findall(piece.decode("utf-8", "replace"))))
    words = [_with_parts(word) for word in distinct if len(word) <= _LONGEST]
    for name in names:
        if name not in distinct or len(name) > _LONGEST:
            words += _WORD.findall(name)
    return " ".join(words)


def question(text: str) -> str:
    """What to ask the word index for the blobs that hold all words of a text; empty when it has none."""
    return " AND ".join([f'"{word}"' for word in _WORD.findall(text)])


def _pieces(data: bytes) -> Iterator[bytes]:
    """The data in parts that end between words: all words of a large file at once would fill the memory."""
    start = 0
    while start < len(data):
        found = _BREAK.search(data, start + _PIECE)
        end = found.start() if found else len(data)
        yield data[start:end]
        start = end


@lru_cache(maxsize=100_000)
def _with_parts(word: str) -> str:
    if word.islower() and "_" not in word:
        return word
    parts = _PART.findall(word)
    return " ".join([word, *parts]) if len(parts) > 1 or "_" in word else word
