"""What earlier runs have shown about tests: which parts of which files each of them runs."""

import hashlib
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from codeplane.core.errors import NotFound
from codeplane.core.paths import RepoPath
from codeplane.graph.diff.versions import FUNCTIONS
from codeplane.languages.facts import Definition
from codeplane.names import Snapshot

OUTLINE: Final = 0
"""The number of the block that is everything outside of functions; of what is not code, the whole file."""
_RUN: Final = FUNCTIONS | {"property"}


class Block(NamedTuple):
    """A function without those inside of it, or what is outside of all; `mark` tells its text from others."""

    name: str
    mark: str


class Shape(NamedTuple):
    """One content of a file."""

    path: RepoPath
    digest: str
    blocks: tuple[Block, ...]


class Record(NamedTuple):
    """What one test has run: numbers of shapes → numbers of their blocks."""

    blocks: Mapping[int, frozenset[int]]
    is_open: bool = False  # it has started programs: what these have run is not known
    has_failed: bool = False  # and would do so again, for all that is known


@dataclass(frozen=True)
class Learnt:
    """The tests that are known, by `path::name`, what modules run when they are imported, and the test files
    of which no other test is to be expected."""

    shapes: Mapping[int, Shape] = field(default_factory=dict)
    tests: Mapping[str, Record] = field(default_factory=dict)
    imported: Mapping[RepoPath, Mapping[int, frozenset[int]]] = field(default_factory=dict)
    whole: frozenset[RepoPath] = frozenset()

    def names_in(self, path: RepoPath) -> frozenset[str]:
        """The tests of a file that are known."""
        return self._by_file.get(path, frozenset())

    @cached_property
    def _by_file(self) -> dict[str, frozenset[str]]:
        matches: dict[str, set[str]] = {}
        for test in self.tests:
            path, _, name = test.partition("::")
            matches.setdefault(path, set()).add(name)
        return {path: frozenset(names) for path, names in matches.items()}


class Verdict(NamedTuple):
    """Tests by file: those that have run what has changed, and those that have run nothing that differs."""

    run: Mapping[RepoPath, frozenset[str]]
    clean: Mapping[RepoPath, frozenset[str]]
    loose: frozenset[RepoPath]  # files whose import meets the change
    stale_files: frozenset[RepoPath]  # files that are not as they were when they were run


class Parts:
    """A content taken apart into blocks."""

    def __init__(self, items: Collection[Definition], data: bytes) -> None:
        lines = data.split(b"\n")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        functions = [item for item in items if item.kind in _RUN and item.body >= 0]
        functions.sort(key=lambda item: (item.span.start_line, item.span.start_column, -item.span.end_line))
        self._spans = [(item.span.start_line, item.span.end_line) for item in functions]
        ends = [
            (starts[span.start_line - 1] + span.start_column, starts[span.end_line - 1] + span.end_column)
            for span in (item.span for item in functions)
        ]
        counts: dict[str, int] = {}
        names = []
        for name in _names(items, functions):
            counts[name] = counts.get(name, 0) + 1
            names.append(f"{name}#{counts[name]}" if counts[name] > 1 else name)
        marks = _list_marks(data, [(0, len(data)), *ends], ["", *names])
        self.blocks = tuple(Block(name, mark) for name, mark in zip(["", *names], marks, strict=True))

    def of_line(self, line: int) -> int:
        """The block that a line belongs to."""
        at = bisect_right(self._spans, (line, line + 1_000_000_000))
        while at > 0:
            at -= 1
            if self._spans[at][0] <= line <= self._spans[at][1]:
                return at + 1
        return OUTLINE


def _names(items: Collection[Definition], functions: Collection[Definition]) -> Iterator[str]:
    definitions = list(items)
    for item in functions:
        names = [item.name]
        while item.parent >= 0:
            item = definitions[item.parent]
            names.append(item.name)
        yield ".".join(reversed(names))


def _list_marks(data: bytes, ends: list[tuple[int, int]], names: list[str]) -> list[str]:
    """A mark of the text of each span without the spans inside of it, for which their names stand."""
    pieces: list[list[bytes]] = [[] for _ in ends]
    around: list[int] = []
    at = 0
    for number, (start, end) in enumerate(ends):
        while around and ends[around[-1]][1] <= start:
            block = around.pop()
            pieces[block].append(data[at : ends[block][1]])
            at = ends[block][1]
        if around:
            pieces[around[-1]] += [data[at:start], b"\0", names[number].encode()]
            end = min(end, ends[around[-1]][1])
            ends[number] = (start, end)
        around.append(number)
        at = start
    while around:
        block = around.pop()
        pieces[block].append(data[at : ends[block][1]])
        at = ends[block][1]
    return [hashlib.blake2b(b"".join(one), digest_size=8).hexdigest() for one in pieces]


def parts_of(snapshot: Snapshot, path: RepoPath) -> Parts:
    """The blocks of a file as the snapshot has it."""
    facts = snapshot.facts(path)
    return Parts(tuple(facts.definitions) if facts is not None else (), snapshot.source(path))


def judged(snapshot: Snapshot, coverage: Learnt, changed: Collection[RepoPath]) -> Verdict:
    """What the record says about a change. Content that is as it was when it was run is yet to be changed."""
    changed_blocks = dict(_altered(snapshot, coverage, frozenset(changed)))
    own_blocks = {at: blocks for at, blocks in changed_blocks.items() if coverage.shapes[at].path in changed}
    loose = {coverage.shapes[at].path for at, blocks in own_blocks.items() if OUTLINE in blocks}
    loose |= {
        path
        for path, record in coverage.imported.items()
        if any(own_blocks[at] & record[at] for at in own_blocks.keys() & record.keys())
    }
    run: dict[RepoPath, set[str]] = {}
    clean: dict[RepoPath, set[str]] = {}
    for test, record in coverage.tests.items():
        path, _, name = test.partition("::")
        if record.has_failed:  # by what was changed before, maybe
            hit = list(record.blocks)
        else:
            hit = [
                at
                for at in changed_blocks.keys() & record.blocks.keys()
                if changed_blocks[at] & record.blocks[at]
            ]
        if any(coverage.shapes[at].path in changed for at in hit):
            run.setdefault(RepoPath(path), set()).add(name)
        elif not (hit or record.is_open or record.has_failed):
            clean.setdefault(RepoPath(path), set()).add(name)
    digests = snapshot.digests()
    paths = {one.path for one in coverage.shapes.values() if digests.get(one.path) != one.digest}
    return Verdict(_frozen(run), _frozen(clean), frozenset(loose), frozenset(paths))


def _frozen(names_by_path: Mapping[RepoPath, set[str]]) -> dict[RepoPath, frozenset[str]]:
    return {path: frozenset(names) for path, names in names_by_path.items()}


def _altered(
    snapshot: Snapshot, coverage: Learnt, paths: Collection[RepoPath]
) -> Iterator[tuple[int, frozenset[int]]]:
    """The shapes that differ from what their files are now, with the blocks that do."""
    digests = snapshot.digests()
    for number, shape in coverage.shapes.items():
        everything = frozenset(range(len(shape.blocks)))
        if digests.get(shape.path) == shape.digest:
            if shape.path in paths:
                yield number, everything
        elif shape.path not in digests:
            yield number, everything
        else:
            yield number, _differing(snapshot, shape)


def _differing(snapshot: Snapshot, shape: Shape) -> frozenset[int]:
    try:
        now = dict(parts_of(snapshot, shape.path).blocks)
    except NotFound:
        now = {}
    return frozenset(at for at, block in enumerate(shape.blocks) if now.get(block.name) != block.mark)
