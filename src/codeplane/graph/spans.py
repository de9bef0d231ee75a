"""Source text with line numbers, within bounds."""

from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import RepoPath
from codeplane.graph.excerpts import Excerpts
from codeplane.index import Snapshot
from codeplane.jail import shown

_LONGEST: Final = 40_000


class SourceSpan(NamedTuple):
    first: int
    last: int
    total: int  # lines of the file
    text: str  # `number | line`, one below the other
    is_cut: bool


def source_span(snapshot: Snapshot, path: RepoPath, first: int, last: int, most: int) -> SourceSpan:
    """The lines from first to last of a file, at most so many."""
    lines = Excerpts(snapshot).lines(path)
    total = len(lines)
    if first > max(total, 1) or last < first:
        raise InvalidArgument(
            f"{shown(path)} has {total} lines; there is nothing from {first} to {last}.",
            hints=[f"start_line from 1 to {total}, end_line not before it."],
        )
    last = min(last, total)
    end = min(last, first + most - 1)
    width = len(str(end))
    shown_lines: list[str] = []
    size = 0
    for number in range(first, end + 1):
        line = f"{number:>{width}} | {lines[number - 1]}"
        size += len(line) + 1
        if size > _LONGEST and shown_lines:
            break
        shown_lines.append(line if len(line) <= _LONGEST else line[:_LONGEST] + "…")
    end = first + len(shown_lines) - 1
    is_cut = end < last or size > _LONGEST
    return SourceSpan(first, end, total, "\n".join(shown_lines), is_cut)
