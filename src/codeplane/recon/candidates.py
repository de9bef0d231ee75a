"""What lanes are asked, what they may look at, and what they answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from codeplane.core.errors import InvalidArgument
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.names import Snapshot

MOST_CANDIDATES: Final = 40
"""Candidates that a lane gives where nothing else is asked for."""


class Lane(StrEnum):
    """A way to look for what a task is about."""

    LEXICAL = "lexical"
    SYMBOL = "symbol"
    POLICY = "policy"
    ARTIFACT = "artifact"
    EPISODIC = "episodic"


@dataclass(frozen=True)
class LaneQuery:
    """A task in words, and how many candidates a lane may give."""

    prompt: str
    lexemes: tuple[str, ...] = ()  # words and names that the caller says it is about
    attachments: tuple[str, ...] = ()  # paths, or names of artifacts
    paths: tuple[RepoPath, ...] = ()  # files that are candidates already; rules and memories are about these
    limit: int = MOST_CANDIDATES

    @property
    def title(self) -> str:
        """The first line that says something, with the lexemes: they carry most of what a task is about."""
        lines = (line.strip("#*- \t") for line in self.prompt.splitlines())
        return " ".join([next((line for line in lines if line), ""), *self.lexemes])


class Candidate(NamedTuple):
    """Lines of a file that a lane takes for part of the task, and why; 0 for both lines is the whole file."""

    lane: Lane
    path: RepoPath
    first_line: int
    last_line: int
    symbol: str  # the definition that the lines are, "" for none
    score: float  # compares candidates of one lane only
    why: str


class Artifact(NamedTuple):
    """A text from elsewhere that the task rests on: a ticket, an API operation, an attachment."""

    name: str
    kind: str
    text: str


class PastChange(NamedTuple):
    """A commit or an operation of the ledger: what it was about, and the files that it changed."""

    name: str
    text: str
    paths: tuple[str, ...]


class MemoryNote(NamedTuple):
    """A memory as lanes see it: the folders or globs that it is about, and what it says."""

    memory_id: str
    text: str
    anchors: tuple[str, ...]


class PolicyRow(NamedTuple):
    """A policy on record: its id, its text, the files that it is for, and where it is written."""

    row_id: str
    text: str
    globs: tuple[str, ...]
    path: str
    line: int


class LinterUse(NamedTuple):
    """A linter that the repository uses, with the file that says so and the files that it reads."""

    name: str
    evidence: str
    root: str
    globs: tuple[str, ...]


def _none_of(_paths: Sequence[RepoPath]) -> Sequence[MemoryNote]:
    return ()


@dataclass(frozen=True)
class LaneSources:
    """What lanes may look at. What stands above this package comes as functions."""

    snapshot: Snapshot
    artifacts: Sequence[Artifact] = ()
    past_changes: Callable[[], Iterable[PastChange]] = tuple
    memories: Callable[[Sequence[RepoPath]], Sequence[MemoryNote]] = _none_of
    policy_rows: Callable[[], Iterable[PolicyRow]] = tuple
    linters: Callable[[], Iterable[LinterUse]] = tuple
    check: Callable[[], None] = lambda: None


def paths_within(paths: Iterable[RepoPath], globs: Sequence[str]) -> list[RepoPath]:
    """The paths that globs hold, all where there are none; what people wrote and is no glob holds nothing."""
    try:
        matcher = Globs(globs) if globs else None
        return [path for path in paths if matcher is None or matcher.holds(path)]
    except InvalidArgument:
        return []


def best_candidates(candidates: Iterable[Candidate], limit: int) -> list[Candidate]:
    """The candidates in order, each place once, as many as the limit says."""
    ranking = sorted(candidates, key=lambda one: (-one.score, one.path, one.first_line, one.symbol, one.why))
    places = set[tuple[str, int, int, str]]()
    selection: list[Candidate] = []
    for one in ranking:
        place = one.path, one.first_line, one.last_line, one.symbol
        if place not in places and one.score > 0:
            places.add(place)
            selection.append(one)
    return selection[:limit]
