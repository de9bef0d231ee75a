"""The part of two contents that has to be compared: where they differ, with some context.

Comparing costs by the length of both contents, and most changes are small. A part gives the very hunks that
the whole would give; wherever that is not certain, there is none.
"""

import re
from typing import Final, NamedTuple

_CHUNK: Final = 4096
_REACH: Final = 24  # lines around what differs
_WORTH: Final = 1500  # bytes; below this a window saves nothing
_PLACES: Final = re.compile(r"@@ -(\d+)((?:,\d+)?) \+(\d+)")
# What a line starts with that git shows beside `@@`.
_NAMING: Final = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$")


class DiffWindow(NamedTuple):
    """The differing parts of two contents, and how many lines precede them in the whole."""

    old: bytes
    new: bytes
    before: int

    def place_hunk(self, hunk: str) -> str:
        """Renumbers a hunk of the parts as a hunk of the whole."""
        return _PLACES.sub(self._shift_header, hunk, count=1)

    def _shift_header(self, match: re.Match[str]) -> str:
        return f"@@ -{int(match[1]) + self.before}{match[2]} +{int(match[3]) + self.before}"


def diff_window(old: bytes, new: bytes, context: int) -> DiffWindow | None:
    """The part that differs; None unless comparing it surely gives the diff of the whole."""
    if min(len(old), len(new)) < _WORTH:
        return None
    head = _common_head(old, new)
    old_end, new_end = _common_tails(old, new, head)
    if old_end + new_end - 2 * head > len(old) // 2:
        return None
    above, below = _line_above(old, head), _line_below(old, old_end)
    lines = _split_lines(old[above:head]), _split_lines(old[old_end:below])
    room = _REACH - context
    old_lines, new_lines = _split_lines(old[head:old_end]), _split_lines(new[head:new_end])
    if not set(old_lines).isdisjoint(new_lines):
        return None
    for part in (old_lines, new_lines):
        if above and not _is_settled(part[::-1], lines[0][::-1], room):
            return None
        if below < len(old) and not _is_settled(part, lines[1], room):
            return None
    naming = _hunk_heading(old, above)
    old_part, new_part = old[above:below], new[above : new_end + below - old_end]
    before = old.count(b"\n", 0, above) - (1 if naming else 0)
    return DiffWindow(naming + old_part, naming + new_part, before)


def _is_settled(part: list[bytes], around: list[bytes], room: int) -> bool:
    """Whether nothing beyond the lines around can matter for where the part is shown.

    A run of changed lines may be shown further on where the lines it would pass repeat its own, and which
    place is chosen depends on the next line there that is not blank.
    """
    whole, slides = part + around, 0
    while part and slides < len(around) and whole[slides] == whole[slides + len(part)]:
        slides += 1
    return any(line.strip() for line in around[slides + 1 : room])


def _common_head(old: bytes, new: bytes) -> int:
    """How many bytes both have in common at the start, in whole lines."""
    low, most = 0, min(len(old), len(new))
    while low < most and old[low : low + _CHUNK] == new[low : low + _CHUNK]:
        low += _CHUNK
    high = min(low + _CHUNK, most)
    low = min(low, most)
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if old[low:half] == new[low:half] else (low, half - 1)
    return old.rfind(b"\n", 0, low) + 1


def _common_tails(old: bytes, new: bytes, head: int) -> tuple[int, int]:
    """Where the common lines at the end begin in each, not counting the common head."""
    ends = len(old), len(new)
    low, most = 0, min(ends) - head
    while low < most and _is_same(old, new, low, low + _CHUNK):
        low += _CHUNK
    high = min(low + _CHUNK, most)
    low = min(low, most)
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if _is_same(old, new, low, half) else (low, half - 1)
    places = ends[0] - low, ends[1] - low
    begin_lines = (at == head or text[at - 1] == 10 for text, at in zip((old, new), places, strict=True))
    if not all(begin_lines):
        first_break = old.find(b"\n", places[0]) + 1 or ends[0]
        places = first_break, first_break + ends[1] - ends[0]
    return places


def _is_same(old: bytes, new: bytes, near: int, far: int) -> bool:
    """Whether both are the same between two distances from their ends."""
    return old[max(len(old) - far, 0) : len(old) - near] == new[max(len(new) - far, 0) : len(new) - near]


def _line_above(text: bytes, at: int) -> int:
    for _ in range(_REACH):
        if at == 0:
            break
        at = text.rfind(b"\n", 0, at - 1) + 1
    return at


def _line_below(text: bytes, at: int) -> int:
    for _ in range(_REACH):
        at = text.find(b"\n", at) + 1
        if at == 0:
            return len(text)
    return at


def _hunk_heading(text: bytes, at: int) -> bytes:
    """The last line before a position that git would show beside `@@`."""
    while at > 0:
        start = text.rfind(b"\n", 0, at - 1) + 1
        if text[start] in _NAMING:
            return text[start:at]
        at = start
    return b""


def _split_lines(text: bytes) -> list[bytes]:
    parts = text.split(b"\n")
    last = parts.pop()
    return [*(line + b"\n" for line in parts), last] if last else [line + b"\n" for line in parts]
