"""Assertions that an outcome suggests: each holds after the change and did not hold before it."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from codeplane.core.errors import CodePlaneError
from codeplane.delta.assertions import failed_assertions
from codeplane.delta.model import Assertion, Delta, Target
from codeplane.delta.simulation import ElementOutcome
from codeplane.delta.targets import Finders
from codeplane.languages.operations import Source

_MOST: Final = 3
_MOST_TRIED: Final = 20
_LONGEST: Final = 300
_LARGEST: Final = 2_000_000


def suggested_assertions(
    delta: Delta, elements: Sequence[ElementOutcome], finders: Finders
) -> dict[str, list[dict[str, Any]]]:
    """A few assertions for each file that changes, in the form that a delta takes them."""
    languages = {element.path: element.language for element in delta.elements}
    suggestions = {}
    for element in elements:
        language = languages.get(element.path)
        if language is not None and element.before != element.after:
            holding = list(_holding(element, language, finders))[:_MOST]
            if holding:
                suggestions[str(element.path)] = [one.to_json() for one in holding]
    return suggestions


def _holding(element: ElementOutcome, language: str, finders: Finders) -> Iterator[Assertion]:
    before = Source(language, element.before, element.path)
    after = Source(language, element.after, element.path)
    for assertion in list(_candidates(element))[:_MOST_TRIED]:
        try:
            is_new = any(failed_assertions(before, [assertion], finders))
            if is_new and not any(failed_assertions(after, [assertion], finders)):
                yield assertion
        except CodePlaneError:
            continue


def _candidates(element: ElementOutcome) -> Iterator[Assertion]:
    """Lines that came are there, lines that went are not: as patterns of code."""
    # A byte order mark is no part of the first line.
    before, after = (
        element.before.decode("utf-8-sig", "replace"),
        element.after.decode("utf-8-sig", "replace"),
    )
    for text in _lines_only_in(after, before):
        yield Assertion("exists", Target("pattern", _completed(text)))
    for text in _lines_only_in(before, after):
        yield Assertion("not_exists", Target("pattern", _completed(text)))


def _completed(line: str) -> str:
    """A line as a pattern: the header of a block has any body."""
    return f"{line} $$$" if line.endswith(":") else f"{line} $$$ }}" if line.endswith("{") else line


def _lines_only_in(text: str, other: str) -> Sequence[str]:
    lines, others = text.splitlines(), other.splitlines()
    if len(lines) * len(others) > _LARGEST:
        return ()
    matcher = SequenceMatcher(None, others, lines, autojunk=False)
    spans = [(j1, j2) for tag, _, _, j1, j2 in matcher.get_opcodes() if tag in ("insert", "replace")]
    new = [line.strip() for first, end in spans for line in lines[first:end]]
    # A `$` would be a hole of the pattern.
    return [line for line in dict.fromkeys(new) if line and len(line) <= _LONGEST and "$" not in line]
