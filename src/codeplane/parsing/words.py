"""The words of a text: identifiers whole and in parts, so that `user` finds `getUserName` and `user_id`."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_BREAK = re.compile(rb"[^\w\x80-\xff]")
# Everything but the bytes of words becomes a space. Which characters beyond ASCII are parts of words is told
# later, for each run of them once.
_RUNS = bytes(char if char >= 128 or re.match(rb"\w", bytes([char])) else ord(" ") for char in range(256))
_MARKS = (b"\xff\xfe", b"\xfe\xff")
_LONGEST = 64
LONG = "_long_"
"""Stands among the words of a text for those that are too long to be there themselves."""
_PIECE = 1 << 20
_MOST_KNOWN = 200_000


def words_of(data: bytes, names: Iterable[str] = ()) -> str:
    """Every distinct word of `data` and its parts, in one line; empty for binary data.

    All words of the names are in it, however long: the word index is how the blobs of a name are found.
    """
    if b"\0" in data:
        return ""
    if len(_known) > _MOST_KNOWN:
        _known.clear()
    distinct: set[bytes] = set()
    for piece in _split_data(data):
        distinct.update(piece.translate(_RUNS).split())
    words = [b" ".join(map(_known.__getitem__, distinct)).decode()]
    for name in names:
        encoded_name = name.encode("utf-8", "surrogateescape")
        if encoded_name not in distinct or len(encoded_name) > _LONGEST:
            words += _WORD.findall(name)
    return " ".join(words)


def without_nulls(data: bytes) -> bytes:
    """Text of a language that holds NUL bytes, as text all the same: what it has is not known, but its words
    are. UTF-16 is told by its mark."""
    if b"\0" not in data:
        return data
    if data[:2] in _MARKS:
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data.replace(b"\0", b" ")


def question(text: str) -> str:
    """What to ask the word index for the blobs that hold all words of a text; empty when it has none."""
    return " AND ".join([f'"{word}"' for word in _WORD.findall(text)])


def parts_of(word: str) -> frozenset[str]:
    """A word and its parts: what it is found by, in any case."""
    return frozenset(_with_parts(word).split())


def _split_data(data: bytes) -> Iterator[bytes]:
    """The data in parts that end between words: all words of a large file at once would fill the memory."""
    start = 0
    while start < len(data):
        match = _BREAK.search(data, start + _PIECE)
        end = match.start() if match else len(data)
        yield data[start:end]
        start = end


class _Known(dict[bytes, bytes]):
    """A run of bytes without a break → its words with their parts. What is there costs no line of Python."""

    def __missing__(self, run: bytes) -> bytes:
        words = _WORD.findall(run.decode("utf-8", "replace"))
        short = [_with_parts(word) for word in words if len(word) <= _LONGEST]
        data = " ".join(short if len(short) == len(words) else [*short, LONG]).encode()
        if len(run) <= _LONGEST:
            self[run] = data
        return data


_known: Final = _Known()


def _with_parts(word: str) -> str:
    if word.islower() and "_" not in word:
        return word
    parts = _PART.findall(word)
    return " ".join([word, *parts]) if len(parts) > 1 or "_" in word else word
