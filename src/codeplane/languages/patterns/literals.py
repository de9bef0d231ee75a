"""What literal strings mean, so that `'a'` and `"a"` are the same to a pattern."""

import ast
import re
from typing import Final

from tree_sitter import Node

_STRING: Final = re.compile(
    rb"""(?P<prefix>[A-Za-z]{0,3})(?P<quote>\"\"\"|'''|"|'|`)(?P<body>.*)(?P=quote)""", re.DOTALL
)
_PLAIN: Final = frozenset(
    ("string_start", "string_end", "string_content", "string_fragment", "escape_sequence")
)
_INERT_PREFIXES: Final = frozenset((b"", b"u"))
_ESCAPE: Final = re.compile(rb"\\(?:([nrt0\\'\"])|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))")
_LETTERS: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0"}


def string_value(node: Node, text: bytes, *, has_equal_quotes: bool) -> tuple[str, bytes] | None:
    """What a string literal means: its prefix and its content; None where that is not for sure.

    `has_equal_quotes` says whether escapes mean the same in single and double quotes. They do not in
    Ruby, PHP and shells.
    """
    match = _STRING.fullmatch(text)
    if match is None or any(child.type not in _PLAIN and child.is_named for child in node.children):
        return None
    prefix, quote, body = match["prefix"].lower(), match["quote"], match["body"]
    if quote == b"`" or (not has_equal_quotes and any(sign in body for sign in b"\\$#{")):
        return None
    if b"\\" not in body:
        # `u"a"` and `r"a"` are `"a"` in Python; `u"a"` is made of other characters in C.
        inert = b"ru" if node.type == "string" else b""
        return "".join(sorted(chr(letter) for letter in prefix if letter not in inert)), body
    if prefix not in _INERT_PREFIXES:
        return _python_value(text)
    return _unescape(body)


def _python_value(text: bytes) -> tuple[str, bytes] | None:
    """A literal with a prefix and escapes, where it is one of Python's."""
    try:
        value = ast.literal_eval(text.decode())
    except (ValueError, SyntaxError, MemoryError):
        return None
    if isinstance(value, bytes):
        return "b", value
    return ("", value.encode("utf-8", "surrogatepass")) if isinstance(value, str) else None


def _unescape(body: bytes) -> tuple[str, bytes] | None:
    parts, position = [], 0
    while (at := body.find(b"\\", position)) >= 0:
        match = _ESCAPE.match(body, at)
        if match is None:
            return None
        parts += [body[position:at], _letter_of(match)]
        position = match.end()
    return "", b"".join((*parts, body[position:]))


def _letter_of(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return _LETTERS.get(match[1], match[1])
    return chr(int(match[2] or match[3], 16)).encode("utf-8", "surrogatepass")
