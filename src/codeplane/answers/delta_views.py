"""Before and after of a task: as a unified diff with its matches marked, and side by side."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from codeplane.delta.simulation import ElementOutcome
from codeplane.jail import shown
from codeplane.mutation.diff_preview import preview

_MOST_LINES: Final = 400
_AROUND: Final = 2
_LARGEST: Final = 4_000_000


def unified_view(element: ElementOutcome, most: int = _MOST_LINES) -> str:
    """A unified diff of a file, after a line that says where the transforms matched."""
    diff = preview(shown(element.path), element.before, element.after, most)
    return "\n".join([*_match_lines(element), diff or f"{shown(element.path)}: unchanged"])


def _match_lines(element: ElementOutcome) -> Iterator[str]:
    numbers: dict[str, list[str]] = {}
    for place in element.places:
        lines = f"{place.line}" if place.line == place.end_line else f"{place.line}-{place.end_line}"
        numbers.setdefault(lines, []).append(str(place.transform + 1))
    for lines, transforms in list(numbers.items())[:20]:
        word = "transform" if len(transforms) == 1 else "transforms"
        yield f"match: {shown(element.path)}:{lines} ({word} {', '.join(transforms[:20])})"


def side_by_side_view(element: ElementOutcome, width: int = 160, most: int = _MOST_LINES) -> str:
    """The changed lines of a file in two columns, `|` between those that differ."""
    before, after = (_lines_of(data) for data in (element.before, element.after))
    column = max(20, (width - 17) // 2)
    rows = [_title_row(element, column), *_rows(before, after, column)]
    cut = [f"… {len(rows) - most} more lines"] if len(rows) > most else []
    return "\n".join([*_match_lines(element), *rows[:most], *cut])


def _title_row(element: ElementOutcome, column: int) -> str:
    return f"{'':5} {shown(element.path)[:column]:<{column}}   {'':5} after"


def _rows(before: Sequence[str], after: Sequence[str], column: int) -> Iterator[str]:
    if len(before) * len(after) > _LARGEST:
        yield f"{len(before)} lines become {len(after)}: too many to be compared side by side"
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(_AROUND)):
        if number:
            yield "…"
        for tag, i1, i2, j1, j2 in group:
            for offset in range(max(i2 - i1, j2 - j1)):
                left = i1 + offset if i1 + offset < i2 else None
                right = j1 + offset if j1 + offset < j2 else None
                yield _row(before, left, after, right, " " if tag == "equal" else "|", column)


def _row(
    before: Sequence[str], left: int | None, after: Sequence[str], right: int | None, mark: str, column: int
) -> str:
    old = before[left][:column] if left is not None else ""
    new = after[right][:column] if right is not None else ""
    numbers = [f"{number + 1:>5}" if number is not None else " " * 5 for number in (left, right)]
    return f"{numbers[0]} {old:<{column}} {mark} {numbers[1]} {new}".rstrip()


def _lines_of(data: bytes) -> list[str]:
    return [line.expandtabs(4) for line in data.decode("utf-8", "replace").splitlines()]
