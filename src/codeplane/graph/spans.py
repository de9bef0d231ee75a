"""Source text with line numbers, within bounds."""

from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import RepoPath
from codeplane.core.text import numbered_within
from codeplane.graph.excerpts import Excerpts
from codeplane.jail import shown
from codeplane.names import Snapshot

_LONGEST: Final = 40_000


class SourceSpan(NamedTuple):
    first: int
    last: int
    total: int  # lines of the file
    text: str  # `number: line`, one below the other
    is_cut: bool


def source_span(snapshot: Snapshot, path: RepoPath, first: int, last: int, most: int) -> SourceSpan:
    """The lines from first to last of a file, at most so many."""
    lines = Excerpts(snapshot).lines(path)
    total = len(lines)
    if first > max(total, 1) or last < first:
        raise InvalidArgument(
            f"{shown(path)} has {total} lines; {first} to {last} is out of range.",
            hints=[f"start_line must be 1 to {total}, end_line not before it."],
        )
    last = min(last, total)
    text, count = numbered_within(lines[first - 1 : min(last, first + most - 1)], first, _LONGEST)
    end = first + count - 1
    return SourceSpan(first, end, total, text, end < last)
