"""Code as what it says: comments and white space that mean nothing left out."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from codeplane.languages._spec import specs
from codeplane.languages._style import Writing, comments_and_literals, without_comments

_PIECE: Final = re.compile(
    rb"(?P<space>[^\S\n]+|\\\r?\n)|(?P<line>\n)|(?P<open>[(\[{])|(?P<close>[)\]}])"
    rb"|(?P<text>[\w\x80-\xff]+|[,;]|[-+*/<>=!&|^%~?:.@$#]+|.)",
    re.DOTALL,
)
_LINE: Final = b"\n"


def say_the_same(language: str, one: bytes, other: bytes) -> bool:
    """Whether two pieces of code differ in comments and in white space that means nothing, for certain."""
    writing = specs()[language].writing
    if writing is None:
        return False
    # Most that differ do so in their letters, and that costs little to see.
    letters = [
        b"".join(without_comments(writing, text).replace(b"\\\n", b"").split()) for text in (one, other)
    ]
    if letters[0] != letters[1]:
        return False
    told = tokens(language, one)
    return told is not None and told == tokens(language, other)


def tokens(language: str, data: bytes) -> list[bytes] | None:
    """The tokens of a piece of code; None where comments cannot be told from the rest for certain."""
    writing = specs()[language].writing
    if writing is None or (writing.refused and _begins(writing.refused).search(data)):
        return None
    plain: list[bytes] = []
    literals: list[bytes] = []
    at = 0
    for start, end, is_comment in comments_and_literals(writing, data):
        if not is_comment and _may_hold_code(writing, data[start:end]):
            return None
        plain.append(data[at:start])
        # A literal is a word that no code has, numbered by its place among them.
        plain.append(b" " if is_comment else b" \0 ")
        if not is_comment:
            literals.append(data[start:end])
        at = end
    plain.append(data[at:])
    code = b"".join(plain)
    if code.count(b"\0") != len(literals):
        return None
    told = list(_told(writing, code))
    following = iter(literals)
    return [next(following) if one == b"\0" else one for one in told]


def _may_hold_code(writing: Writing, literal: bytes) -> bool:
    """Whether a literal ends where the code in it begins a literal of its own."""
    is_mixed = writing.mixed and _begins(writing.mixed).match(literal)
    return bool(is_mixed) and literal.count(b"{") != literal.count(b"}")


@cache
def _begins(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _told(writing: Writing, code: bytes) -> Iterator[bytes]:
    depth: list[bytes] = []  # the brackets around; in parentheses lines do not end
    levels = [0]
    begins, is_first = False, True
    for match in _PIECE.finditer(code):
        kind, piece = match.lastgroup, match.group()
        if kind == "line":
            is_inside = depth and (writing.layout == "indent" or depth[-1] != b"{")
            begins = writing.layout != "free" and not is_inside
        elif kind == "space":
            continue
        else:
            if begins and not is_first:
                yield _LINE
                if writing.layout == "indent":
                    yield _level(levels, code, match.start())
            begins = is_first = False
            if kind == "open":
                depth.append(piece)
            elif kind == "close" and depth:
                depth.pop()
            yield piece


def _level(levels: list[int], code: bytes, at: int) -> bytes:
    """How deep a line stands among those before it."""
    line = code[code.rfind(b"\n", 0, at) + 1 : at].expandtabs()
    width = len(line) - len(line.lstrip())
    while levels[-1] > width:
        levels.pop()
    if levels[-1] < width:
        levels.append(width)
    return b"%d" % len(levels)
