"""Where lines are found that were sent from memory: exactly, or but for white space."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

_NUMBERED: Final = re.compile(r"\s*(\d+)(?:: ?| ?\| ?|\t)(.*)\Z", re.DOTALL)

_SHOWN: Final = re.compile(r"\d+: ")


class Alike(StrEnum):
    """How lines agree with what was sent, best first."""

    EXACT = "exact"
    TRAILING = "trailing white space"
    INDENTED = "indentation"


@dataclass(frozen=True)
class Found:
    """Lines of a file that agree with the lines sent."""

    first: int
    last: int
    alike: Alike
    adapt: Callable[[str], str | None]  # a new line as the file indents it; None where that is not certain


def unnumbered(lines: Sequence[str]) -> list[str] | None:
    """The lines without the numbers that they were shown with; None when they have none."""
    hits = [_NUMBERED.match(line) for line in lines]
    numbers = [int(one[1]) for one in hits if one]
    if (
        not numbers
        or len(numbers) != len(lines)
        or numbers != list(range(numbers[0], numbers[0] + len(lines)))
    ):
        return None
    return [one[2] for one in hits if one]


def is_numbered_in_part(lines: Sequence[str]) -> bool:
    """Whether a line begins as one that was shown with its number: white space and all."""
    return any(_SHOWN.match(line) for line in lines)


def matches(lines: Sequence[str], sent: Sequence[str], alike: Alike) -> Iterator[Found]:
    """Every place where the lines sent are, at one level of likeness."""
    if not sent:
        return
    key = _KEYS[alike]
    keys = [key(line) for line in sent]
    have = [key(line) for line in lines]
    first = keys[0]
    for at in range(len(have) - len(keys) + 1):
        if have[at] == first and have[at : at + len(keys)] == keys:
            match = _match_lines(lines, sent, at, alike)
            if match is not None:
                yield match


def match_at(lines: Sequence[str], sent: Sequence[str], first: int) -> Found | None:
    """The best likeness at the place that begins with this line."""
    there = lines[first - 1 : first - 1 + len(sent)]
    if first < 1 or len(there) != len(sent):
        return None
    for alike, key in _KEYS.items():
        if [key(line) for line in there] == [key(line) for line in sent]:
            match = _match_lines(lines, sent, first - 1, alike)
            if match is not None:
                return match
    return None


def _match_lines(lines: Sequence[str], sent: Sequence[str], at: int, alike: Alike) -> Found | None:
    adapt: Callable[[str], str | None] | None = _same_line
    if alike is Alike.INDENTED:
        adapt = _indent_rule(list(zip(sent, lines[at : at + len(sent)], strict=True)))
    return None if adapt is None else Found(at + 1, at + len(sent), alike, adapt)


_KEYS: Final[dict[Alike, Callable[[str], str]]] = {
    Alike.EXACT: lambda line: line,
    Alike.TRAILING: str.rstrip,
    Alike.INDENTED: str.strip,
}


def _same_line(line: str) -> str:
    return line


def _indent_rule(pairs: list[tuple[str, str]]) -> Callable[[str], str | None] | None:
    """How the indentation that was sent becomes the file's; None where no one rule explains all lines."""
    indents = [(indent_of(theirs), indent_of(there)) for theirs, there in pairs if theirs.strip()]
    if not indents:
        return None
    return _shift_rule(indents) or _scale_rule(indents)


def _shift_rule(indents: list[tuple[str, str]]) -> Callable[[str], str | None] | None:
    """Every line is deeper, or less deep, by the same."""
    theirs, there = indents[0]
    if there.endswith(theirs):
        more = there[: len(there) - len(theirs)]
        if all(more + one == other for one, other in indents):
            return lambda line: more + line if line.strip() else line
    if theirs.endswith(there):
        less = theirs[: len(theirs) - len(there)]
        if all(one == less + other for one, other in indents):
            return lambda line: line.removeprefix(less) if line.startswith(less) else _blank_rule(line)
    return None


def _scale_rule(indents: list[tuple[str, str]]) -> Callable[[str], str | None] | None:
    """Tabs for spaces, spaces for tabs, or another width: one kind of each and one ratio."""
    kinds = (
        {char for theirs, _ in indents for char in theirs},
        {char for _, there in indents for char in there},
    )
    ratios = {(len(there), len(theirs)) for theirs, there in indents if theirs or there}
    if any(len(kind) != 1 for kind in kinds) or any(not low for _, low in ratios):
        return None
    up, down = min(ratios)
    if not up or any(one * down != other * up for one, other in ratios):
        return None
    [char], [sent_char] = kinds[1], kinds[0]

    def convert(line: str) -> str | None:
        indent = indent_of(line)
        if set(indent) - {sent_char} or len(indent) * up % down:
            return _blank_rule(line)
        return char * (len(indent) * up // down) + line[len(indent) :]

    return convert


def _blank_rule(line: str) -> str | None:
    return None if line.strip() else line


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]
