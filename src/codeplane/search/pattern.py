"""A pattern from outside: what it matches, and the words that a file needs to have for it to match."""

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from codeplane.core.errors import InvalidArgument

_LONGEST: Final = 1_000
_MEMORY: Final = 8 << 20
_FEWEST: Final = 3
_LONGEST_WORD: Final = 60
_REPEATS: Final = re.compile(r"[*?]|\{0?,|\{0\}")
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
_WORD: Final = re.compile(r"[A-Za-z0-9_]+")


class Letters(NamedTuple):
    """Letters of one word that every match has, and whether the word begins and ends with them."""

    text: str
    begins: bool
    ends: bool


class Matched(NamedTuple):
    """The number of a line, where it starts and ends in the data, and where the match starts."""

    number: int
    start: int
    end: int
    at: int


class Pattern:
    """A compiled pattern. Lines are matched one by one; time is linear in the text."""

    def __init__(self, text: str, *, is_literal: bool) -> None:
        if not text or len(text) > _LONGEST:
            raise InvalidArgument(f"A pattern has 1 to {_LONGEST} characters.")
        has_break = "\n" in text if is_literal else _has_line_break(text)
        if has_break:
            raise InvalidArgument(
                "Lines are matched one by one: a pattern with a line break matches none.",
                hints=["Send the part of it that stands in one line."],
            )
        self._regexp = _compile(text, is_literal=is_literal)
        self.needs = list(_of_run(text)) if is_literal else needed(text)

    def lines(self, data: bytes) -> Iterator[Matched]:
        """The lines with a match; the first match of a line counts."""
        number, position, at = 1, 0, 0
        while at <= len(data):
            match = self._regexp.search(data, at)
            if match is None:
                return
            start = data.rfind(b"\n", 0, match.start()) + 1
            if start >= len(data) and data:
                return  # after the last line break there is no line
            end = data.find(b"\n", match.start())
            end = len(data) if end < 0 else end
            number += data.count(b"\n", position, start)
            position = start
            yield Matched(number, start, end, match.start())
            at = end + 1


def _compile(text: str, *, is_literal: bool) -> Any:
    import re2  # large, and many servers never search

    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.never_nl = True
    options.never_capture = True
    try:
        return re2.compile(f"(?m){re2.escape(text) if is_literal else text}", options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0] if error.args else ""
        reason = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise InvalidArgument(
            f"The pattern cannot be used: {reason.replace('(?m)', '', 1)[:200]}",
            hints=["The syntax is RE2's: no look-around and no back-references."],
        ) from error


def _has_line_break(pattern: str) -> bool:
    """Whether a regular expression names a line break; in a set, other characters are meant with it."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\n" or pattern.startswith("\\n", at):
            return True
        if pattern[at] == "[":
            at += _set_length(pattern, at)
        else:
            at += 2 if pattern[at] == "\\" else 1
    return False


def needed(pattern: str) -> list[Letters]:
    """What a file needs to have for a regular expression to match; nothing where that cannot be told.

    Only what stands outside of groups, sets and choices is told, so nothing is ever told that is not needed.
    """
    if "|" in pattern or "\\Q" in pattern:
        return []
    runs: list[Letters] = []
    run, at = "", 0
    while at < len(pattern):
        char, step = _next(pattern, at)
        after = pattern[at + step : at + step + 3]
        if char and not _REPEATS.match(after):
            run += char
        if not char or _REPEATS.match(after) or after[:1] in ("+", "{"):
            runs += _of_run(run)
            run = ""
        at += step
    runs += _of_run(run)
    return sorted(runs, key=lambda one: -len(one.text))


def _next(pattern: str, at: int) -> tuple[str, int]:
    """The literal character there, or "", and how much of the pattern it takes."""
    char = pattern[at]
    if char == "\\":
        letter = pattern[at + 1 : at + 2]
        if letter and not letter.isalnum() and letter.isascii():
            return letter, 2
        return "", len(pattern) - at if letter in tuple("xpP0123456789C") else 2
    if char == "[":
        return "", _set_length(pattern, at)
    if char == "(":
        return "", _group_length(pattern, at)
    if char == "{":
        end = pattern.find("}", at)
        return "", (end - at + 1) if end > 0 else len(pattern) - at
    return ("" if char in _SPECIAL else char), 1


def _set_length(pattern: str, at: int) -> int:
    """Up to the bracket that closes a set; to the end where that is hard to tell."""
    inner = at + 1 + (pattern[at + 1 : at + 2] == "^")
    inner += pattern[inner : inner + 1] == "]"
    while inner < len(pattern):
        if pattern[inner] == "\\":
            inner += 2
        elif pattern.startswith("[:", inner):
            inner = max(pattern.find(":]", inner) + 2, inner + 2)
        elif pattern[inner] == "]":
            return inner + 1 - at
        else:
            inner += 1
    return len(pattern) - at


def _group_length(pattern: str, at: int) -> int:
    """Up to the parenthesis that closes a group."""
    depth, inner = 0, at
    while inner < len(pattern):
        if pattern[inner] == "\\":
            inner += 2
            continue
        if pattern[inner] == "[":
            inner += _set_length(pattern, inner)
            continue
        depth += {"(": 1, ")": -1}.get(pattern[inner], 0)
        inner += 1
        if not depth:
            return inner - at
    return len(pattern) - at


def _of_run(run: str) -> Iterator[Letters]:
    """The letters of words in a run of literal text. Other letters than those of ASCII may go on a word."""
    for match in _WORD.finditer(run):
        before, after = run[: match.start()][-1:], run[match.end() :][:1]
        is_sure = (not before or before.isascii()) and (not after or after.isascii())
        if is_sure and _FEWEST <= len(match[0]) <= _LONGEST_WORD:
            yield Letters(match[0], bool(before), bool(after))
