"""Code as what it says: comments and white space that mean nothing left out."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from keyword import kwlist
from typing import Final, NamedTuple

from codeplane.languages.spec import specs
from codeplane.languages.style import Writing, comments_and_literals, without_comments

_PIECE: Final = re.compile(
    rb"(?P<space>[^\S\n]+|\\\r?\n)|(?P<line>\n)|(?P<open>[(\[{])|(?P<close>[)\]}])"
    rb"|(?P<text>[\w\x80-\xff]+|[,;]|[-+*/<>=!&|^%~?:.@$#]+|.)",
    re.DOTALL,
)
_LINE: Final = b"\n"
_LITERAL: Final = re.compile(rb"[A-Za-z]{0,3}[\"']")
# Arguments that only people read: `Annotated[int, Doc("…")]`, `add_argument("-v", help="…")`.
_DOC_CALLS: Final = frozenset((b"Doc",))
_KEYWORDS: Final = frozenset(word.encode() for word in kwlist)
_DOC_KEYWORDS: Final = frozenset((b"help", b"description", b"doc", b"summary", b"epilog"))


class Token(NamedTuple):
    """One token and the lines that it stands on, from 1."""

    text: bytes
    first: int
    last: int


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
    first = tokens(language, one)
    return first is not None and first == tokens(language, other)


def tokens(language: str, data: bytes) -> list[bytes] | None:
    """The tokens of a piece of code; None where comments cannot be told from the rest for certain."""
    pairs = _placed_tokens(language, data)
    return [text for text, _ in pairs] if pairs is not None else None


def code_tokens(language: str, data: bytes) -> list[Token] | None:
    """The tokens that the program runs on: without docstrings and texts passed as documentation.

    None where they cannot be told for certain.
    """
    pairs = _placed_tokens(language, data)
    if pairs is None:
        return None
    ends = [*accumulate(len(line) + 1 for line in data.split(b"\n"))]
    results = []
    for text, start in pairs:
        first = bisect_right(ends, start) + 1
        results.append(Token(text, first, first + (text.count(b"\n") if text != _LINE else 0)))
    writing = specs()[language].writing
    is_indented = writing is not None and writing.layout == "indent"
    return _without_trailing_commas(_without_docstrings(results, has_remarks=is_indented))


def _without_docstrings(found: Sequence[Token], *, has_remarks: bool) -> list[Token]:
    texts = [one.text for one in found]
    results: list[Token] = []
    at = 0
    while at < len(texts):
        if not _LITERAL.match(texts[at]):
            results.append(found[at])
            at += 1
            continue
        end = at + 1
        while end < len(texts) and _LITERAL.match(texts[end]):
            end += 1
        follows = texts[end] if end < len(texts) else _LINE
        if has_remarks and follows == _LINE and (not at or texts[at - 2 : at - 1] == [_LINE]):
            if at:
                del results[-2:]  # the line and its level
            else:
                end += 2
        elif not _is_documentation(texts[max(0, at - 4) : at]):
            results += found[at:end]
        at = end
    return results


def _is_documentation(before: Sequence[bytes]) -> bool:
    """Whether what follows these tokens is an argument that only people read."""
    if len(before) > 1 and before[-2] in _DOC_CALLS and before[-1] == b"(":
        return True
    if before[-1:] == [b"("]:  # a text in parentheses
        before = before[:-1]
    return (
        len(before) > 2 and before[-1] == b"=" and before[-2] in _DOC_KEYWORDS and before[-3] in (b"(", b",")
    )


def _without_trailing_commas(found: Sequence[Token]) -> list[Token]:
    """The tokens without commas before a closing bracket, except that of a tuple with one item."""
    results: list[Token] = []
    commas: list[int] = []  # in each bracket around
    for at, one in enumerate(found):
        if one.text in (b"(", b"[", b"{"):
            before = found[at - 1].text if at else b""
            is_call = one.text == b"(" and before[-1:].isalnum() and before not in _KEYWORDS
            commas.append(1 if is_call or one.text == b"{" else 0)
        elif one.text in (b")", b"]", b"}") and commas:
            is_several = commas.pop() > 1
            if is_several and results[-1].text == b"," and results[-2].text not in (b",", b"[", b"("):
                results.pop()
        elif one.text == b"," and commas:
            commas[-1] += 1
        results.append(one)
    return results


def _placed_tokens(language: str, data: bytes) -> list[tuple[bytes, int]] | None:
    """The tokens of a piece of code, each with where it begins."""
    writing = specs()[language].writing
    if writing is None or (writing.refused and _beginning_of(writing.refused).search(data)):
        return None
    plain: list[bytes] = []
    literals: list[bytes] = []
    offsets: list[int] = []  # where each part of the plain code begins in the data
    at = 0
    for start, end, is_comment in comments_and_literals(writing, data):
        if not is_comment and _may_hold_code(writing, data[start:end]):
            return None
        # A literal is a word that no code has, numbered by its place among them.
        plain += (data[at:start], b" " if is_comment else b" \0 ")
        offsets += (at, start)
        if not is_comment:
            literals.append(data[start:end])
        at = end
    plain.append(data[at:])
    offsets.append(at)
    code = b"".join(plain)
    if code.count(b"\0") != len(literals):
        return None
    starts = [0, *accumulate(map(len, plain))]
    following = iter(literals)
    pairs = []
    for text, place in _code_tokens(writing, code):
        part = bisect_right(starts, place) - 1
        if text == b"\0":
            pairs.append((next(following), offsets[part]))
        else:
            pairs.append((text, offsets[part] + place - starts[part]))
    return pairs


def _may_hold_code(writing: Writing, literal: bytes) -> bool:
    """Whether a literal ends where the code in it begins a literal of its own."""
    is_mixed = writing.mixed and _beginning_of(writing.mixed).match(literal)
    return bool(is_mixed) and literal.count(b"{") != literal.count(b"}")


@cache
def _beginning_of(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode())


def _code_tokens(writing: Writing, code: bytes) -> Iterator[tuple[bytes, int]]:
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
                yield _LINE, match.start()
                if writing.layout == "indent":
                    yield _indent_level(levels, code, match.start()), match.start()
            elif is_first:
                _indent_level(levels, code, match.start())
            begins = is_first = False
            if kind == "open":
                depth.append(piece)
            elif kind == "close" and depth:
                depth.pop()
            yield piece, match.start()


def _indent_level(levels: list[int], code: bytes, at: int) -> bytes:
    """How deep a line stands among those before it."""
    line = code[code.rfind(b"\n", 0, at) + 1 : at].expandtabs()
    width = len(line) - len(line.lstrip())
    while levels[-1] > width:
        levels.pop()
    if levels[-1] < width:
        levels.append(width)
    return b"%d" % len(levels)
