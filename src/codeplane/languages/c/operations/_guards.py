"""What no operation on a C file may go on with."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.languages.operations import OperationRefused, Source

_CONFLICT: Final = re.compile(rb"^(?:<{7} |>{7} |={7}\r?$)", re.MULTILINE)
_LINE: Final = re.compile(rb"^[ \t]*#[ \t]*line[ \t]+\d+", re.MULTILINE)
_TRIGRAPH: Final = re.compile(rb"\?\?(?:/\r?\n|=[ \t]*(?:if|define|include))")

_KEYWORDS: Final = frozenset(
    "alignas alignof auto bool break case char const constexpr continue default do double else enum extern"
    " false float for goto if inline int long nullptr register restrict return short signed sizeof static"
    " static_assert struct switch thread_local true typedef typeof typeof_unqual union unsigned void volatile"
    " while asm".split()
)


def keyword_error(argument: str, name: str) -> str | None:
    """Why a name can't be one, where it is a word of the language."""
    return f"`{argument}`: `{name}` is a word of C itself." if name in _KEYWORDS else None


def refuse_unsafe(source: Source) -> None:
    """Refuses generated files, files with conflict markers, and lines continued by a trigraph."""
    if _CONFLICT.search(source.data):
        raise OperationRefused("The file holds the conflict markers of a merge; resolve it first.")
    if match := _LINE.search(source.data):
        line = source.line_of(match.start())
        raise OperationRefused(
            f"The file is generated: `#line` at line {line} names its source; change that instead."
        )
    if match := _TRIGRAPH.search(source.data):
        line = source.line_of(match.start())
        raise OperationRefused(
            f"Line {line} has a trigraph that changes where lines end or directives begin."
        )


def lines_of(source: Source, offsets: Sequence[int]) -> str:
    """The lines of some bytes as a text: `line 3`, `lines 3, 5 and 9`."""
    lines = sorted(set(map(source.line_of, offsets)))
    numbers = [str(line) for line in lines[:5]]
    if len(lines) == 1:
        return f"line {numbers[0]}"
    if len(lines) > len(numbers):
        return f"lines {', '.join(numbers)} and {len(lines) - len(numbers)} more"
    return f"lines {', '.join(numbers[:-1])} and {numbers[-1]}"
