"""The assertions of an element, evaluated on the file after its transforms."""

from collections.abc import Iterator, Sequence
from typing import Final

import re2

from codeplane.core.errors import CodePlaneError
from codeplane.delta.model import Assertion
from codeplane.delta.targets import Finders, Places, matched_node
from codeplane.languages.operations import Match, Source

_LONGEST_SHOWN: Final = 80
_LONGEST_PATTERN: Final = 10_000


def failed_assertions(source: Source, assertions: Sequence[Assertion], finders: Finders) -> Iterator[str]:
    """What does not hold, a sentence each."""
    places = Places([])
    for number, assertion in enumerate(assertions):
        if assertion.query is not None:
            try:
                places = finders.find(source, assertion.query)
            except CodePlaneError as error:
                yield f"assertion {number + 1}: {error.message}"
                continue
        if problem := _problem_of(source, assertion, places.matches):
            yield f"assertion {number + 1} ({assertion.expect}): {problem}"


def _problem_of(source: Source, assertion: Assertion, matches: Sequence[Match]) -> str | None:
    count, value = len(matches), assertion.value
    match assertion.expect:
        case "exists":
            return None if matches else "nothing matches."
        case "not_exists":
            return (
                f"{count} places match, the first at line {_line(source, matches[0])}." if matches else None
            )
        case "count_eq":
            return None if count == value else f"{count} places match instead of {value}."
        case "count_gte":
            return None if count >= int(value or 0) else f"{count} places match instead of {value} or more."
        case "node_text_contains":
            return _containing_problem(source, str(value), matches)
        case _:
            return _capture_problem(source, assertion, matches)


def _containing_problem(source: Source, text: str, matches: Sequence[Match]) -> str | None:
    if not matches:
        return "nothing matches."
    without = [match for match in matches if text not in source.text(matched_node(match))]
    return f"the node at line {_line(source, without[0])} does not hold {_shown(text)}." if without else None


def _capture_problem(source: Source, assertion: Assertion, matches: Sequence[Match]) -> str | None:
    """Capture text is the raw slice of the source: nothing is trimmed or normalised."""
    name, value = assertion.capture or "", str(assertion.value)
    texts = [source.text(node) for match in matches for node in match.captures.get(name, ())]
    if not texts:
        names = sorted({capture for match in matches for capture in match.captures})
        return f"nothing is captured as @{name}; captures: {', '.join(names) or 'none'}."
    if assertion.expect == "capture_equals":
        other = next((text for text in texts if text != value), None)
        return f"@{name} is {_shown(other)} instead of {_shown(value)}." if other is not None else None
    try:
        pattern = re2.compile(value[:_LONGEST_PATTERN])
    except re2.error as error:
        return f"{_shown(value)} is no regular expression of RE2: {error}"
    other = next((text for text in texts if not pattern.search(text)), None)
    return f"@{name} is {_shown(other)}, which {_shown(value)} does not match." if other is not None else None


def _line(source: Source, match: Match) -> int:
    return source.line_of(match.node.start_byte)


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")
