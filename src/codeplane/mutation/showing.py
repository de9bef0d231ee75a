"""What a change of one file looks like: how many lines, and which."""

from difflib import unified_diff
from typing import Final

from codeplane.mutation.rebase import common_ends

_MOST_COMPARED: Final = 4_000_000
_AROUND: Final = 2


def counts(old: bytes | None, new: bytes | None) -> tuple[int, int]:
    """Lines that came and lines that went."""
    _, before, after = _differing(_lines(old), _lines(new))
    if len(before) * len(after) > _MOST_COMPARED:
        return len(after), len(before)
    told = list(unified_diff(before, after, n=0, lineterm=""))[2:]
    return sum(line.startswith("+") for line in told), sum(line.startswith("-") for line in told)


def preview(path: str, old: bytes | None, new: bytes | None, most: int) -> str:
    """A unified diff of at most so many lines; the rest is counted."""
    before, after = _lines(old), _lines(new)
    low, gone, come = _differing(before, after)
    if len(gone) * len(come) > _MOST_COMPARED:
        return f"{path}: {len(gone)} lines from line {low + 1} on become {len(come)}"
    names = ("/dev/null" if old is None else path), ("/dev/null" if new is None else path)
    told = list(unified_diff(before, after, *names, n=_AROUND, lineterm=""))
    cut = [f"… {len(told) - most} lines more"] if len(told) > most else []
    return "\n".join([*told[:most], *cut])


def _lines(data: bytes | None) -> list[str]:
    """Lines with what tells them apart but cannot be seen: a carriage return, and no line end at the end."""
    if not data:
        return []
    lines = data.decode("utf-8", "replace").split("\n")
    if lines[-1]:
        lines[-1] += " (no line end)"
    else:
        lines.pop()
    return [line.replace("\r", "␍") for line in lines]


def _differing(before: list[str], after: list[str]) -> tuple[int, list[str], list[str]]:
    """Without what is the same at the beginning, whose lines are counted, and at the end."""
    low, high = common_ends(before, after)
    return low, before[low : len(before) - high], after[low : len(after) - high]
