"""Source text with line numbers, within bounds."""

from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.suggest import nearest
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


def known_path(snapshot: Snapshot, path: str) -> RepoPath:
    """The path of a file of the snapshot; one that it does not have is an error with the nearest ones."""
    asked = RepoPath(path.strip().removeprefix("./"))
    sources = snapshot.linker.sources
    if not sources.exists(asked):
        same = sources.paths_named(asked.rsplit("/", 1)[-1])
        near = list(same[:3]) or nearest(asked.rsplit("/", 1)[-1], sources.names_in(asked.rpartition("/")[0]))
        raise NotFound(
            f"There is no file {shown(asked)!r} in the index.",
            hints=[f"Did you mean {shown(other)}?" for other in near],
        )
    return asked


def source_span(snapshot: Snapshot, path: RepoPath, first: int, last: int, most: int) -> SourceSpan:
    """The lines from first to last of a file, at most so many."""
    lines = Excerpts(snapshot).lines(path)
    total = len(lines) - (lines[-1] == "")
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
