"""A whole file, in parts of a bearable size, and its outline."""

from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument
from codeplane.core.paths import Digest, RepoPath
from codeplane.core.text import lines_of
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.read_spans import read_text_file
from codeplane.search.read_targets import Finder
from codeplane.working_tree import StatePaths

MOST_CHARACTERS: Final = 80_000
_SMALL: Final = 12_000
_MOST_OUTLINED: Final = 60


class Whole(NamedTuple):
    path: RepoPath
    digest: Digest
    lines: int
    characters: int
    text: str  # from the first line that was asked for, as much as may be sent at once
    next_line: int | None
    outline: list[str]
    data: bytes

    @property
    def is_small(self) -> bool:
        """Whether asking first would cost more than reading it."""
        return self.characters <= _SMALL


def whole_file(snapshot: Snapshot, paths: StatePaths, text: str, first: int) -> Whole:
    """A file from a line on."""
    path = Finder(snapshot, paths).file(text)
    fact, data = read_text_file(snapshot, path)
    lines = lines_of(data)
    if first > max(1, len(lines)):
        raise InvalidArgument(f"{shown(path)} has lines 1 to {len(lines)}.")
    count, size = 0, 0
    for line in lines[first - 1 :]:
        size += len(line) + 1
        if size > MOST_CHARACTERS:
            break
        count += 1
    shown_lines = lines[first - 1 : first - 1 + count] or [
        line[:MOST_CHARACTERS] for line in lines[first - 1 :][:1]
    ]
    end = first + max(count, len(shown_lines))
    return Whole(
        path, Digest(fact.digest), len(lines), sum(map(len, lines)) + len(lines), "\n".join(shown_lines),
        end if end <= len(lines) else None, _render_outline(snapshot, path), data,
    )  # fmt: skip


def _render_outline(snapshot: Snapshot, path: RepoPath) -> list[str]:
    """The outer definitions and, while there is room, those inside, in order."""
    facts = snapshot.facts(path)
    items = facts.definitions if facts is not None else []
    definitions = [item for item in items if item.parent < 0]
    if len(definitions) * 2 < _MOST_OUTLINED:
        definitions = [item for item in items if item.parent < 0 or items[item.parent].parent < 0]
    return [
        f"{item.span.start_line}-{item.span.end_line} {item.kind} {shown(item.name)}"
        for item in definitions[:_MOST_OUTLINED]
    ]
