"""How headers, comments and literals are written in a language, as data."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal


@dataclass(frozen=True)
class HeaderStyle:
    """What a header says to those who call what it stands over."""

    # `name`: `name: type = default`. `type`: `type name = default`. `go`: `a, b type`. `sigil`: the name is
    # known by its first letter, the type stands before it.
    order: Literal["name", "type", "go", "sigil"] = "name"
    # Callers may pass an argument by the name of the parameter; `labels`: they have to, and the label is the
    # first of two names.
    named: bool = False
    labels: bool = False
    typed: bool = False  # a call has to fit the declared types
    inferred: bool = False  # a result that is not declared has a type all the same
    # Who sees what says nothing about it; "" where that depends.
    unsaid: Literal["", "private", "internal", "public"] = ""
    lenient: bool = False  # a call may pass fewer or more arguments than there are parameters
    angles: bool = False  # `<` and `>` are brackets behind a name
    marks: bool = False  # `/` and `*` alone say what is passed by position and what by name only
    named_only: bool = False  # `name:` is passed by name only
    quotes: str = "\"'`"
    rest: tuple[str, ...] = ()  # marks before or behind a name, or behind a type, of what takes all the rest
    named_rest: str = ""  # the mark of what takes all that is passed by name
    words: frozenset[str] = frozenset()  # stand before a parameter and say nothing to callers
    receivers: frozenset[str] = frozenset()  # first parameters that no call passes
    # Patterns of what is only another spelling, and the one that it is compared by.
    spellings: tuple[tuple[str, str], ...] = ()
    # A class has parameters behind its name, not bases.
    classes: bool = False


@dataclass(frozen=True)
class Writing:
    """What is a comment, what is a literal, and whether lines count. Patterns of bytes."""

    comments: tuple[str, ...]
    literals: tuple[str, ...]
    # `free`: white space means nothing. `lines`: where a line ends counts outside of parentheses. `indent`:
    # where it begins counts too.
    layout: Literal["free", "lines", "indent"] = "lines"
    # How a literal begins that holds code, in braces.
    mixed: str = ""
    refused: str = ""  # what a text must not have for the rest to hold
    prefix: int = 0  # letters before a literal that belong to it, at most


# Each begins with a character that says what it is, where that can be: a search then passes over all others
# at once. Nothing is tried twice.
_DOUBLE: Final = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"'
_SINGLE: Final = r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'"
_CHARACTER: Final = r"'(?:\\[^\n]{1,10}?|[^'\\\n])'"
_BLOCK: Final = r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"""'
_SINGLE_BLOCK: Final = r"'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''"
# What ends a regular expression is no comment: that has white space or a mark before it.
_SLASHES: Final = (r"/(?<![^\s;,{}()]/)/[^\n]*", r"/\*[^*]*+(?:\*(?!/)[^*]*+)*+\*/")
_REGEX: Final = r"(?:(?<=[(=,:\[!&|?{};])|(?<=return))\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/"

PYTHON: Final = Writing(
    (r"#[^\n]*",),
    (_BLOCK, _SINGLE_BLOCK, _DOUBLE, _SINGLE),
    "indent",
    prefix=3,
    mixed=r"[A-Za-z]*[fFtT][A-Za-z]*['\"]",
)
SCRIPT: Final = Writing(
    _SLASHES, (_REGEX, _DOUBLE, _SINGLE, r"`(?:\\.|[^`\\])*`"), mixed=r"`", refused="</|/>"
)
CURLY: Final = Writing(_SLASHES, (_BLOCK, _DOUBLE, _CHARACTER), "free")
GO: Final = Writing(_SLASHES, (_DOUBLE, _CHARACTER, r"`[^`]*`"))
RUST: Final = Writing(
    _SLASHES, (r'b?r(?P<mark>#*)".*?"(?P=mark)', r'b?"(?:\\.|[^"\\])*"', _CHARACTER), "free"
)
PREPROCESSED: Final = Writing(_SLASHES, (r'R"(?P<mark>[^\s()\\]*)\(.*?\)(?P=mark)"', _DOUBLE, _CHARACTER))
SHARP: Final = Writing(
    _SLASHES, (_BLOCK, r'\$?@\$?"(?:""|[^"])*"', _DOUBLE, _CHARACTER), mixed=r'[@$]*\$[@$]*"'
)
KOTLIN: Final = Writing(_SLASHES, (_BLOCK, _DOUBLE, _CHARACTER), mixed='"')


# The last line before a block.
_HEADER: Final = re.compile(
    rb"(?:(?:async\s+)?(?:def|class|if|elif|else|for|while|with|try|except|finally)\b|[)\]])[^#]*:", re.DOTALL
)
_UNFINISHED: Final = frozenset(b"and or not in is if else for lambda yield await from".split())
_LAST_WORD: Final = re.compile(rb"\w+\Z")
_COMMENTS: Final = (b"#", b"//", b"/*")  # beginnings of comments, and of no literal


def comments_and_literals(writing: Writing, data: bytes) -> Iterator[tuple[int, int, bool]]:
    """Where the comments and literals of a text begin and end, in order, and whether each is a comment."""
    last = 0
    for match in _comment_or_literal(writing).finditer(data):
        start, end = match.span()
        is_comment = data.startswith(_COMMENTS, start)
        if not is_comment:
            least = max(last, start - writing.prefix)
            while start > least and data[start - 1 : start].isalpha():
                start -= 1
        yield start, end, is_comment
        last = end


def is_remark(data: bytes, start: int, end: int) -> bool:
    """Whether a literal is a statement of its own, where lines make these: nothing gets its value.

    Two things that follow each other are two statements, unless the first is not finished or both are texts.
    """
    begin, after = data.rfind(b"\n", 0, start) + 1, data.find(b"\n", end)
    rest = data[end : after if after >= 0 else len(data)].strip()
    if rest and not rest.startswith(b"#"):
        return False
    if own := data[begin:start].strip():
        return _HEADER.fullmatch(own) is not None
    line = b""
    while begin and (not line or line.startswith(b"#")):
        last, begin = begin, data.rfind(b"\n", 0, begin - 1) + 1
        line = data[begin:last].strip()
    return not line or line.startswith(b"#") or bool(_HEADER.fullmatch(line)) or _is_finished(line)


def _is_finished(line: bytes) -> bool:
    """Whether nothing but a mark or an end can follow the last thing in a line of code."""
    word = _LAST_WORD.search(line)
    ends = line.endswith((b")", b"]", b"}")) or (word is not None and word[0] not in _UNFINISHED)
    return ends and b"#" not in line


@cache
def _comment_or_literal(writing: Writing) -> re.Pattern[bytes]:
    return re.compile("|".join((*writing.literals, *writing.comments)).encode(), re.DOTALL)


@cache
def _comment_pattern(writing: Writing) -> re.Pattern[bytes]:
    """Finds comments, and what looks like one inside of a literal."""
    return re.compile("|".join(writing.comments).encode(), re.DOTALL)


def without_comments(writing: Writing | None, data: bytes) -> bytes:
    """A piece of code without its comments."""
    if writing is None or not _comment_pattern(writing).search(data):
        return data
    return _comment_or_literal(writing).sub(
        lambda found: b" " if found[0].startswith(_COMMENTS) else found[0], data
    )
