"""Many spans of source in one answer, grouped by file, within a bound."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from codeplane.core.errors import CodePlaneError, InvalidArgument, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.core.text import lines_of, numbered_within
from codeplane.jail import shown
from codeplane.names import FileFact, Snapshot
from codeplane.search.read_targets import Wanted

MOST_LINES: Final = 400
MOST_CHARACTERS: Final = 40_000


@dataclass
class ReadSpan:
    """Lines as they are shown; `left` names what was asked for beyond them."""

    first: int
    last: int
    text: str
    symbols: tuple[str, ...]
    left: str = ""


@dataclass
class ReadFile:
    fact: FileFact
    lines: int
    is_crlf: bool
    data: bytes
    spans: list[ReadSpan] = field(default_factory=list)
    ref: str = ""  # the revision that it was read at, "" for the working tree

    @property
    def name(self) -> str:
        return shown(f"{self.fact.path}@{self.ref}" if self.ref else self.fact.path)


@dataclass
class Reading:
    """What was read, what had no place any more, and what could not be read."""

    files: list[ReadFile] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    failed: list[tuple[str, CodePlaneError]] = field(default_factory=list)
    characters: int = 0
    is_cut: bool = False

    def add(self, other: "Reading", ref: str | None) -> None:
        """Takes in what was read at a revision; what names a target names the revision as well."""
        for file in other.files:
            file.ref = ref or ""
            for span in file.spans:
                span.left = at_revision(span.left, ref) if span.left else ""
        self.files += other.files
        self.left += [at_revision(target, ref) for target in other.left]
        self.failed += [(at_revision(target, ref), error) for target, error in other.failed]
        self.characters += other.characters
        self.is_cut = self.is_cut or other.is_cut


def at_revision(target: str, ref: str | None) -> str:
    """A target as it is sent to be read at a revision."""
    return f"{target}@{ref}" if ref else target


def read_text_file(snapshot: Snapshot, path: RepoPath) -> tuple[FileFact, bytes]:
    """A file with its content; a binary one is refused."""
    data = snapshot.source(path)
    fact = snapshot.file(path)
    assert fact is not None, "BUG: a file with a source is known"
    if b"\0" in data:
        raise PathRefused(f"{shown(path)} is binary: {len(data)} bytes.", path=shown(path))
    return fact, data


def read(snapshot: Snapshot, requests: Iterable[tuple[str, Wanted]], most: int = MOST_CHARACTERS) -> Reading:
    """Reads spans in the order of their files; lines that are asked for twice are shown once."""
    reading = Reading()
    by_file: dict[RepoPath, list[tuple[str, Wanted]]] = {}
    for query, one in requests:
        by_file.setdefault(one.path, []).append((query, one))
    for path, spans in by_file.items():
        if reading.characters >= most:
            reading.left += [query for query, _ in spans]
            continue
        try:
            _read_file(snapshot, path, spans, reading, most)
        except (InvalidArgument, PathRefused) as error:
            reading.failed.append((spans[0][0], error))
    return reading


def _read_file(
    snapshot: Snapshot, path: RepoPath, spans: list[tuple[str, Wanted]], reading: Reading, most: int
) -> None:
    fact, data = read_text_file(snapshot, path)
    lines = lines_of(data)
    file = ReadFile(fact, len(lines), b"\r\n" in data, data)
    sound = []
    for query, one in spans:
        if one.first > max(1, len(lines)) or 0 < one.last < one.first:
            error = InvalidArgument(f"{shown(query)}: {shown(path)} has lines 1 to {len(lines)}.")
            reading.failed.append((query, error))
        else:
            sound.append(one)
    for first, last, symbols in _merged(sound, len(lines)):
        room = most - reading.characters
        if room <= 0:
            reading.left.append(f"{shown(path)}:{first}-{last}")
            continue
        file.spans.append(_shown(path, lines, (first, last), symbols, room))
        reading.characters += len(file.spans[-1].text)
        reading.is_cut = reading.is_cut or bool(file.spans[-1].left)
    if file.spans:
        reading.files.append(file)


def _merged(spans: Sequence[Wanted], count: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Spans in order of their lines, those that overlap as one."""
    ends = sorted((max(1, one.first), min(one.last or count, count), one.symbol) for one in spans)
    spans_now: list[tuple[int, int, tuple[str, ...]]] = []
    for first, last, symbol in ends:
        names = (symbol,) if symbol else ()
        if spans_now and first <= spans_now[-1][1]:
            before = spans_now.pop()
            spans_now.append((before[0], max(last, before[1]), (*before[2], *names)))
        else:
            spans_now.append((first, last, names))
    yield from spans_now


def _shown(
    path: RepoPath, lines: list[str], span: tuple[int, int], symbols: tuple[str, ...], room: int
) -> ReadSpan:
    first, last = span
    end = min(last, first + MOST_LINES - 1)
    text, count = numbered_within(lines[first - 1 : end], first, room)
    end = first + count - 1 if count else end
    left = f"{shown(path)}:{end + 1}-{last}" if end < last else ""
    return ReadSpan(first, end, text, symbols, left)
