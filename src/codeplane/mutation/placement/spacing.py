"""Empty lines around a definition that comes or goes: as many as its neighbours have."""

from collections.abc import Sequence
from typing import Final

from codeplane.languages import language_of, specs
from codeplane.mutation.placement.matching import indent_of

_MOST: Final = 2
_CLOSERS: Final = ("}", ")", "]", "end")


class Surroundings:
    """What stands above and below the lines of a definition. Lines are counted from 1."""

    def __init__(self, path: str, lines: Sequence[str], first: int, last: int) -> None:
        self._path = path
        self._indent = indent_of(lines[first - 1])
        self._is_long = last > first
        self.above = _count_empty(lines[: first - 1][::-1])
        self.below = _count_empty(lines[last:])
        before = lines[first - 2 - self.above] if first - 2 - self.above >= 0 else None
        after = lines[last + self.below] if last + self.below < len(lines) else None
        self._is_first = before is None or len(indent_of(before)) < len(self._indent)
        self._is_last = (
            after is None or len(indent_of(after)) < len(self._indent) or after.strip().startswith(_CLOSERS)
        )
        if not self._is_first and before is not None:
            self._is_first = before.rstrip().endswith(("{", "(", "["))

    def before(self, new: Sequence[str]) -> list[str]:
        """Lines that are inserted above the definition."""
        apart = self._usual_distance(new)
        missing = 0 if self._is_first else apart - self.above
        return [*_blank_lines(missing), *new, *_blank_lines(apart)]

    def after(self, new: Sequence[str]) -> list[str]:
        """Lines that are inserted below the definition."""
        apart = self._usual_distance(new)
        missing = 0 if self._is_last else apart - self.below
        return [*_blank_lines(apart), *new, *_blank_lines(missing)]

    def gone(self) -> tuple[int, int]:
        """How many empty lines above and below go with the definition."""
        if self._is_last:
            return self.above, 0
        if self._is_first:
            return 0, self.below
        return (self.above, 0) if self.above <= self.below else (0, self.below)

    def _usual_distance(self, new: Sequence[str]) -> int:
        counts = [
            count
            for count, is_edge in ((self.above, self._is_first), (self.below, self._is_last))
            if not is_edge
        ]
        if not self._is_block(new):
            return min(counts, default=0)
        language = language_of(self._path, b"")
        writing = specs()[language].writing if language is not None else None
        if writing is not None and writing.layout == "indent":
            return 1 if self._indent else _MOST  # as PEP 8 has it
        return min(_MOST, max(counts, default=0)) or 1

    def _is_block(self, new: Sequence[str]) -> bool:
        """Whether either of two neighbours is more than a line."""
        return self._is_long or sum(bool(line.strip()) for line in new) > 1


def trimmed(lines: list[str]) -> list[str]:
    """Lines without the empty ones at their beginning and end."""
    first = _count_empty(lines)
    return lines[first : len(lines) - _count_empty(lines[::-1])] if first < len(lines) else []


def _count_empty(lines: Sequence[str]) -> int:
    return next((at for at, line in enumerate(lines) if line.strip()), len(lines))


def _blank_lines(count: int) -> list[str]:
    return [""] * max(0, count)
