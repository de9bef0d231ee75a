"""A git glob as a regular expression over text in which each character is one byte."""

import re
from collections.abc import Callable
from string import ascii_lowercase, ascii_uppercase
from typing import NamedTuple

GLOB_CHARACTERS = re.compile(r"[*?\[\\]")

_ANY = frozenset(chr(n) for n in range(1, 256)) - {"/"}
_DIRECTORIES = "(?:[^/]*/)*?"

_CLASSES: dict[str, Callable[[str], bool]] = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": lambda c: c in " \t",
    "cntrl": lambda c: c < " " or c == "\x7f",
    "digit": str.isdigit,
    "graph": lambda c: " " < c < "\x7f",
    "lower": str.islower,
    "print": lambda c: " " <= c < "\x7f",
    "punct": lambda c: " " < c < "\x7f" and not c.isalnum(),
    "space": lambda c: c in " \t\n\r",
    "upper": str.isupper,
    "xdigit": lambda c: c in "0123456789abcdefABCDEF",
}
_ASCII = [chr(n) for n in range(1, 128)]
_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def small(text: str) -> str:
    """The text with its ASCII letters in small: git knows no others."""
    return text.translate(_SMALL)


class _Token(NamedTuple):
    """`c` one of some characters, `/` a slash, `*` within a segment, `**/` any directories, `**` the rest."""

    kind: str
    characters: frozenset[str] = frozenset()


class _Malformed(ValueError):
    """Git never matches such a pattern."""


def translate(glob: str, *, is_name: bool, fold: bool = False) -> str | None:
    """The expression to be matched as a whole; None for a pattern that git never matches.

    With `fold`, it is to be matched against text in small letters.

    Every `*` but the last of its segment, and every `**/` but the last, takes its earliest match for good:
    if there is a match that way finds one, and no pattern makes the search explode.
    """
    try:
        tokens = _tokenize_glob(glob if is_name else glob.removeprefix("/"), is_name=is_name, fold=fold)
    except _Malformed:
        return None
    pieces: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == "**/":
            pieces.append([])
        else:
            pieces[-1].append(token)
    first, *inner = [_piece_regex(piece) for piece in pieces]
    if not inner:
        return first
    return first + "".join(f"(?>{_DIRECTORIES}{p})" for p in inner[:-1]) + _DIRECTORIES + inner[-1]


def _piece_regex(tokens: list[_Token]) -> str:
    segments: list[list[_Token]] = [[]]
    for token in tokens:
        if token.kind == "/":
            segments.append([])
        else:
            segments[-1].append(token)
    return "/".join(_segment_regex(segment) for segment in segments)


def _segment_regex(tokens: list[_Token]) -> str:
    runs: list[str] = [""]
    for token in tokens:
        if token.kind == "*":
            runs.append("")
        else:
            runs[-1] += r"[\s\S]*" if token.kind == "**" else _one_of(token.characters)
    head, *after = runs
    if not after:
        return head
    return head + "".join(f"(?>[^/]*?{run})" for run in after[:-1]) + "[^/]*" + after[-1]


def _one_of(characters: frozenset[str]) -> str:
    if characters == _ANY:
        return "[^/]"
    if len(characters) == 1:
        return re.escape(next(iter(characters)))
    return "[" + "".join(f"\\x{ord(c):02x}" for c in sorted(characters)) + "]" if characters else "(?!)"


def _tokenize_glob(glob: str, *, is_name: bool, fold: bool) -> list[_Token]:
    special = GLOB_CHARACTERS.search(glob)
    # Git cuts the literal head off before it matches, so stars right after it stand at a beginning.
    begins = special.start() if special else 0
    tokens, at = [], 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            token, at = _parse_stars(glob, at, at == begins and not is_name, is_name=is_name)
        elif char == "[":
            characters, at = _parse_bracket(glob, at, fold=fold)
            token = _Token("c", characters)
        elif char == "?":
            token, at = _Token("c", _ANY), at + 1
        else:
            at += char == "\\"
            char = small(char) if fold and char != "\\" else _char_at(glob, at)
            token = _Token("/") if char == "/" else _Token("c", frozenset(char))
            at += 1
        tokens.append(token)
    return tokens


def _parse_stars(glob: str, at: int, begins: bool, *, is_name: bool) -> tuple[_Token, int]:
    end = at
    while end < len(glob) and glob[end] == "*":
        end += 1
    opens = begins or at == 0 or glob[at - 1] == "/"
    if is_name or end - at == 1 or not opens or glob[end : end + 1] not in ("", "/"):
        return _Token("*"), end
    return (_Token("**"), end) if end == len(glob) else (_Token("**/"), end + 1)


def _char_at(glob: str, at: int) -> str:
    if at >= len(glob):
        raise _Malformed
    return glob[at]


def _parse_bracket(glob: str, at: int, *, fold: bool) -> tuple[frozenset[str], int]:
    """The characters that `[…]` at `at` stands for, and the place after it.

    Git folds ranges and `[:upper:]` alone: a capital letter by itself in brackets then matches nothing, as
    one behind a backslash does.
    """
    at += 1
    is_negated = _char_at(glob, at) in "!^"
    at += is_negated
    chars: set[str] = set()
    before, first = "", True
    while first or _char_at(glob, at) != "]":
        first = False
        char = _char_at(glob, at)
        if char == "-" and before and _char_at(glob, at + 1) != "]":
            at += 1 + (glob[at + 1] == "\\")
            span = {chr(n) for n in range(ord(before), ord(_char_at(glob, at)) + 1)}
            chars |= span | set(map(small, span)) if fold else span
            before = ""
        elif (
            char == "["
            and _char_at(glob, at + 1) == ":"
            and (posix_class := _parse_posix_class(glob, at + 2))
        ):
            characters, at = posix_class
            chars |= characters | set(map(small, characters)) if fold else characters
            before = ""
        else:
            at += char == "\\"
            before = _char_at(glob, at)
            chars.add(before)
        at += 1
    return (_ANY - chars if is_negated else _ANY & chars), at + 1


def _parse_posix_class(glob: str, start: int) -> tuple[set[str], int] | None:
    """A class such as `[:digit:]` whose name begins at `start`, and the place of its last bracket."""
    end = glob.find("]", start)
    if end == -1:
        raise _Malformed
    if end == start or glob[end - 1] != ":":
        return None
    name = glob[start : end - 1]
    if name not in _CLASSES:
        raise _Malformed
    return {c for c in _ASCII if _CLASSES[name](c)}, end
