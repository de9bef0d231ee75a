"""A file that has changed since an operation: which lines, and the reverse of the operation beside them."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final, NamedTuple

_MOST_LINES: Final = 20_000
_MOST_RANGES: Final = 4


class _Hunk(NamedTuple):
    """Lines of the base that others take the place of."""

    start: int
    end: int
    new: list[bytes]


class Later(NamedTuple):
    """The lines of a file that have changed since an operation, and the file without it."""

    lines: str  # `7` or `3-5, 9`; "" where they are not known
    merge: bytes | None  # None where the reverse would change the same lines


def later_changes(left: bytes, now: bytes, before: bytes) -> Later:
    """Compares what an operation left with the file now, and with what it was before the operation."""
    base, current, old = (data.splitlines(keepends=True) for data in (left, now, before))
    if max(map(len, (base, current, old))) > _MOST_LINES or b"\0" in left + now + before:
        return Later("", None)
    theirs = [code for code in _codes(base, current) if code[0] != "equal"]
    ranges = [f"{first + 1}-{last}" if last > first + 1 else f"{first + 1}" for *_, first, last in theirs]
    more = ", …" if len(ranges) > _MOST_RANGES else ""
    since = [_Hunk(start, end, current[first:last]) for _, start, end, first, last in theirs]
    back = [
        _Hunk(start, end, old[first:last])
        for tag, start, end, first, last in _codes(base, old)
        if tag != "equal"
    ]
    return Later(", ".join(ranges[:_MOST_RANGES]) + more, _merged(base, since, back))


def _codes(one: list[bytes], other: list[bytes]) -> Sequence[tuple[str, int, int, int, int]]:
    return SequenceMatcher(None, one, other, autojunk=False).get_opcodes()


def _merged(base: list[bytes], since: list[_Hunk], back: list[_Hunk]) -> bytes | None:
    """Both changes of the base, where they do not even stand side by side."""
    if any(one.start <= other.end and other.start <= one.end for one in since for other in back):
        return None
    parts: list[bytes] = []
    at = 0
    for hunk in sorted([*since, *back]):
        parts += [*base[at : hunk.start], *hunk.new]
        at = hunk.end
    return b"".join([*parts, *base[at:]])
