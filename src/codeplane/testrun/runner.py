"""What a test runner has to know to be used: one module of `runners` for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import Final, Protocol, runtime_checkable

from codeplane.core.paths import RepoPath
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command
from codeplane.process.toolbox import Toolbox
from codeplane.testrun.results import Case
from codeplane.testrun.target import Target

CONFIGURED: Final = 0
HIGH: Final = 1
MEDIUM: Final = 2
DEFAULT: Final = 3


@dataclass(frozen=True)
class Project:
    """A directory whose tests a runner runs, with what says so."""

    runner: str
    root: RepoPath
    evidence: str  # "pytest.ini", "package.json: jest", "config", "default"
    rank: int  # the smallest wins: CONFIGURED, HIGH, MEDIUM, DEFAULT


@dataclass(frozen=True)
class Place:
    """Where one batch runs."""

    root: Path  # absolute: the repository, or a scratch copy of it
    toolbox: Toolbox
    reports: Path  # absolute, outside of the repository, empty at the start, of this batch alone
    # Directories whose coverage is measured, absolute; a runner that cannot measure it takes no notice.
    coverage: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Ended:
    """A batch that has ended, however it did."""

    finished: Finished
    reports: Path
    place: Place
    targets: tuple[Target, ...]


class Runner(Protocol):
    """One way to run tests."""

    @property
    def name(self) -> str: ...

    @property
    def languages(self) -> tuple[str, ...]: ...

    def detect(self, tree: Tree) -> Sequence[Project]:
        """The directories that say that they use this runner, and by default those with its tests."""

    def targets(self, tree: Tree, project: Project) -> Sequence[Target]:
        """What it can run there."""

    def command(self, place: Place, batch: Sequence[Target]) -> Command:
        """One process for the whole batch, whose targets share a root; TestRunnerNotFound with what to do."""

    def parse(self, ended: Ended) -> Sequence[Case]:
        """The tests that were run. Never raises, whatever was printed."""


@dataclass(frozen=True)
class Traits:
    """What a runner can besides, in an attribute `traits`; one without it is taken by these defaults."""

    # Several processes of it may run at the same time in one directory.
    is_parallel: bool = True
    # A process takes one target only.
    is_single: bool = False
    # Building comes first, and may take long where nothing has been built yet.
    is_building: bool = False
    # Makes the runner write down where it is, before it is ended.
    last_words: Signals | None = None


BUILDING: Final = Traits(is_building=True)
IN_TURN: Final = Traits(is_parallel=False, is_building=True)
"""Of a runner whose processes share what they build."""
ONE_BY_ONE: Final = Traits(is_parallel=False, is_single=True, is_building=True)


def traits_of(runner: Runner) -> Traits:
    """The traits of a runner."""
    result = getattr(runner, "traits", None)
    return result if isinstance(result, Traits) else Traits()


@dataclass(frozen=True)
class Standing:
    """How far a batch is."""

    target: str = ""  # that runs now
    case: str = ""
    begun: tuple[str, ...] = ()  # targets, in their order
    failed: bool = False
    is_complete: bool = False  # the runner has said that it is through


class Follower(Protocol):
    """Reads what a batch has told so far."""

    def look(self) -> Standing: ...

    def last_words(self) -> Case | None:
        """Where the batch was when it was asked, or when it crashed; of the test that was running."""


@runtime_checkable
class Followed(Protocol):
    """A runner that tells of its tests while it runs them."""

    def follow(self, place: Place, batch: Sequence[Target]) -> Follower: ...


@runtime_checkable
class Reporting(Protocol):
    """A runner whose report can be had from a command that somebody else has written."""

    def reporting(self, place: Place) -> tuple[Sequence[str], Mapping[str, str]]:
        """What such a command gets besides: arguments at its end, and an environment."""


@runtime_checkable
class Narrowing(Protocol):
    """A runner that runs single tests."""

    def narrowed(self, target: Target, tests: Sequence[str]) -> Target:
        """The target, with these tests alone."""
