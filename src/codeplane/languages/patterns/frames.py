"""How the text of a pattern becomes syntax: what holes are written as, and the code that it is parsed in."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.languages.spec import part_of

STEM: Final = "zq_"
# What stands for a hole, by what the place takes: a name, a statement, a parameter with its type, a field,
# an entry of a mapping, a member of a type, a type, an arm, a case.
FORMS: Final = (
    "@",
    "@;",
    "@: @",
    "@ @",
    "@ @;",
    "@: @;",
    "@: @,",
    "@ = @",
    '"@"',
    "Zq@",
    "$@",
    "@ => @",
    "@ => @,",
    "@!();",
    "case @:",
    "fn @() {}",
    "void @() {}",
)


class PatternFrame(NamedTuple):
    """Code around a pattern in which it is parsed."""

    before: str = ""
    after: str = ""


BARE: Final = PatternFrame()


def frames_of(language: str) -> Sequence[PatternFrame]:
    """The code that patterns of a language are tried in, in order."""
    rules = part_of(language, "pattern_frames")
    frames: Sequence[PatternFrame] = rules.FRAMES if rules else (BARE,)
    return frames


def has_equal_quotes(language: str) -> bool:
    """Whether escapes mean the same in single and double quotes."""
    return not getattr(part_of(language, "pattern_frames"), "QUOTES_DIFFER", False)


def stem_for(text: str) -> str:
    """The beginning of the names that stand for holes, one that the text does not contain."""
    stem = STEM
    while stem in text.lower():
        stem = f"zq{len(stem)}{stem}"
    return stem


def form_choices(count: int) -> Iterator[tuple[int, int]]:
    """Which hole is written in which other form, one after the other."""
    for number in range(count):
        for form in range(1, len(FORMS)):
            yield number, form
