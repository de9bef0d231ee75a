"""What a linter has to know to be used: one module of `linters` for each."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, Protocol

from codeplane.core.paths import RepoPath
from codeplane.lint.diagnostic import FORMAT, Finding
from codeplane.names.snapshot_tree import Tree
from codeplane.process import Finished
from codeplane.process.command import Command
from codeplane.process.toolbox import Toolbox


class Files(Tree, Protocol):
    """The files of the repository, with their bytes."""

    def data(self, path: RepoPath) -> bytes | None:
        """What is in a file now; None for one that is not there or may not be read."""


@dataclass(frozen=True)
class Project:
    """A directory that a linter is used in, with what says so."""

    root: RepoPath
    evidence: str
    learnt: str = ""  # what its configuration says that the command line has to say as well


@dataclass(frozen=True)
class Place:
    """Where linters run."""

    root: Path  # absolute: the repository, or a scratch copy of it
    toolbox: Toolbox
    cache: Path  # absolute; what linters remember between runs is kept here, not in the tree

    def cwd(self, project: Project) -> Path:
        return self.root / project.root

    def cache_of(self, linter: str, project: Project) -> Path:
        """A directory for one linter in one project; it is there."""
        key = f"{project.root}\0{project.learnt}".encode("utf-8", "surrogatepass")
        path = self.cache / linter / sha256(key).hexdigest()[:12]
        # A repository may bring links along in the place where this is kept.
        for place in (path.parent, path):
            if place.is_symlink():
                place.unlink()
        path.mkdir(parents=True, exist_ok=True)
        return path


@dataclass(frozen=True)
class Watch:
    """How long work is told about and asked to end."""

    check: Callable[[], None]
    progress: Callable[[float, float | None, str | None], None]


class Unreadable(Exception):
    """What a linter has printed is not what it prints when it works; with what it did instead, if known."""


class Linter(ABC):
    """One linter or formatter. It is given files of one project at a time."""

    name: str
    program: str
    globs: tuple[str, ...]
    fixes: bool = False
    # Whether one run is about the whole project, whatever files it was asked about.
    is_whole: bool = False
    # Whether directories inside of a project that say that they use it as well are part of that project.
    is_outermost: bool = False
    install: str  # what to do where it is missing

    @abstractmethod
    def detect(self, tree: Tree) -> Sequence[Project]:
        """The directories that say that they use it."""

    @abstractmethod
    def command(self, place: Place, project: Project, files: Sequence[RepoPath] | None) -> Command:
        """Checks files, whose paths are below the project; all of the project where there are none.

        Writes nothing into the tree. ProgramMissing where it is not installed.
        """

    @abstractmethod
    def parse(self, finished: Finished) -> Sequence[Finding]:
        """What it has found; Unreadable where it has not said what it says when it works."""

    def fixing(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        """Reads a file from stdin and prints it with its fixes made; None where it fixes nothing."""
        return None

    def formatting(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        """Formats a file from stdin without other fixes, to find the places of a `format` finding."""
        return None

    def fixing_all(self, place: Place, project: Project, files: Sequence[RepoPath]) -> Command | None:
        """Prints many files with their fixes made, as they are on disk; None where it cannot."""
        return None

    def fixed_all(self, finished: Finished) -> Mapping[str, bytes]:
        """The contents that `fixing_all` has changed, by the paths that it prints."""
        return {}

    def fixed(self, finished: Finished, given: bytes) -> bytes:
        """What `fixing` or `formatting` has made of the content it was given; Unreadable where it failed."""
        if finished.code != 0 or finished.is_cut:
            raise Unreadable
        return finished.stdout

    def version(self, place: Place, project: Project) -> Command:
        """Prints its version."""
        return Command((str(self.at(place, project)), "--version"), place.cwd(project))

    def at(self, place: Place, project: Project) -> Path:
        """The program: the project's own, else the user's."""
        return place.toolbox.find(self.program, project.root)


class Formatter(Linter):
    """A linter that only says which files it would write otherwise."""

    fixes = True

    def formatting(self, place: Place, project: Project, path: RepoPath) -> Command | None:
        return self.fixing(place, project, path)

    def formatting_lines(
        self, place: Place, project: Project, path: RepoPath, data: bytes, lines: tuple[int, int]
    ) -> Command | None:
        """Formats lines of a file from stdin, from the first to the last, counted from 1.

        `data` is what it will read. None where it formats whole files only.
        """
        return None


def inside(project: Project, path: RepoPath) -> str:
    """A path relative to the project, such that no program takes it for an option."""
    return f"./{path.removeprefix(f'{project.root}/') if project.root else path}"


UNPLACED: Final = "The file is not formatted."


def unformatted(path: str) -> Finding:
    """A file that a formatter would write otherwise, somewhere."""
    return Finding(path, 0, 0, UNPLACED, FORMAT, "warning", has_fix=True)
