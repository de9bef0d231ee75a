"""What an indexer has to know to be used: one module of `indexers` for each."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from codeplane.core.errors import ProgramError
from codeplane.core.paths import RepoPath
from codeplane.process import Finished
from codeplane.process.command import Command
from codeplane.process.toolbox import Toolbox
from codeplane.storage.files import read_small

_VERSION_SEC: Final = 20
_VERSION: Final = re.compile(r"\d+(?:\.\d+)*(?:[-+.][0-9A-Za-z.-]+)?")
_LONGEST_NOTE: Final = 300
# A lock file of a large monorepo has some megabytes.
_LARGEST: Final = 32 << 20
_TOP: Final = RepoPath("")
_MISSING: Final = b"\0missing\0"
_TOO_LARGE: Final = b"\0too large\0"


@dataclass(frozen=True)
class Tool:
    """An indexer's program, as it was found in the project's environment or on the user's search path."""

    program: Path
    version: str


@dataclass(frozen=True)
class ContextFiles:
    """A build context with the files that it owns; paths are the repository's."""

    root: RepoPath
    files: tuple[RepoPath, ...]
    roots: tuple[RepoPath, ...] = ()  # of all contexts of its family: their code imports each other

    def relative(self, path: RepoPath) -> str:
        """A path below the root of the context."""
        return path.removeprefix(f"{self.root}/") if self.root else path


@dataclass(frozen=True)
class Digests:
    """What a run depends on besides the sources; a run over the whole context replaces facts of others."""

    configuration: str
    environment: str


@dataclass(frozen=True)
class Prepared:
    """What was laid into the scratch tree for a run."""

    digests: Digests
    excluded: tuple[RepoPath, ...] = ()  # files that the indexer can't read and is not given
    notes: tuple[str, ...] = ()
    # Names of packages that are in the repository. A symbol of one of them that no document defines is
    # unresolved: the run did not cover its package. It is not external.
    own_packages: frozenset[str] = frozenset()


@dataclass(frozen=True)
class IndexCommand(Command):
    """A command that writes one SCIP file."""

    output: Path = Path()
    base: RepoPath = _TOP  # paths of documents are relative to this directory


@dataclass(frozen=True)
class IndexTask:
    """One run of an indexer over a scratch tree that was prepared for it."""

    tool: Tool
    scratch: Path
    output: Path  # an empty directory outside of the scratch tree
    context: ContextFiles
    scope: frozenset[RepoPath] | None = None  # as `Indexer.scope` gave it
    original: Path | None = None  # what the scratch tree is a copy of; it may have what git ignores

    @property
    def home(self) -> Path:
        """The root of the context in the scratch tree."""
        return self.scratch / self.context.root


class Indexer(ABC):
    """A batch program that says what the names in a context mean, as a SCIP file."""

    name: str
    languages: frozenset[str]
    program: str
    install: str  # what to do where it is missing
    version_option: tuple[str, ...] = ("--version",)
    # Which one is taken where several are there: the lowest.
    preference: int = 10
    # Files in the root of a context, or in a directory above it, that change what a run says. With wild cards
    # for those that are there; one that is named counts where it is missing too.
    configuration_files: tuple[str, ...] = ()
    environment_files: tuple[str, ...] = ()

    def find(self, toolbox: Toolbox, near: RepoPath) -> Tool | None:
        """The program of the project, else the user's; None where it is missing or doesn't start."""
        try:
            program = toolbox.find(self.program, near)
            version = ask_version(toolbox, program, self.version_option)
        except ProgramError:
            return None
        return Tool(program, version) if version else None

    def digests(self, root: Path, context: ContextFiles) -> Digests:
        """The digests of a tree that a run would have, without writing anything."""
        configuration = files_digest(root, context.root, self.configuration_files)
        return Digests(
            digest_of((self.name, *sorted(context.roots), configuration)),
            files_digest(root, context.root, self.environment_files),
        )

    def environments(self, root: Path, context: ContextFiles) -> tuple[Path, ...]:
        """The directories in which what a run sees is installed; a missing one counts until it is there."""
        return ()

    def prepare(self, scratch: Path, context: ContextFiles) -> Prepared:
        """Writes the indexer's own configuration into the scratch tree."""
        return Prepared(self.digests(scratch, context))

    def scope(self, context: ContextFiles, files: Iterable[RepoPath]) -> frozenset[RepoPath] | None:
        """The files whose documents are complete when some files are asked for; None: the whole context.

        Documents of other files may be there. They only say where things are defined: they are joined with,
        and never stored.
        """
        return None

    @abstractmethod
    def command(self, task: IndexTask) -> Sequence[IndexCommand]:
        """The commands of a run, in their order; what else they read is written to `task.output`."""

    def notes(self, finished: Finished) -> tuple[str, ...]:
        """What a program that has ended says of problems on the way."""
        return ()


def ask_version(toolbox: Toolbox, program: Path, options: Sequence[str]) -> str:
    """The first version number that a program prints; "" where it fails or prints none."""
    finished = toolbox.starter().run([program, *options], cwd=toolbox.root, timeout=_VERSION_SEC)
    match = _VERSION.search(finished.said) if finished.is_ok else None
    return match[0] if match else ""


def last_error(finished: Finished) -> tuple[str, ...]:
    """The last line that a failing program prints to stderr."""
    lines = finished.stderr.decode("utf-8", "replace").strip().splitlines()
    return (lines[-1][:_LONGEST_NOTE],) if lines and not finished.is_ok else ()


def digest_of(parts: Iterable[str | bytes]) -> str:
    """A digest of texts in their order."""
    total = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big") + data)
    return total.hexdigest()[:32]


def files_digest(root: Path, near: RepoPath, names: Sequence[str]) -> str:
    """A digest of files with these names, in a directory and in those above it."""
    parts: list[str | bytes] = []
    for directory in directories_above(near):
        for name in names:
            data = content(root / directory / name)
            if data is not _MISSING:
                parts += [f"{directory}/{name}", data]
    return digest_of(parts)


def content(path: Path) -> bytes:
    """The bytes of a file that configures a run; a mark for one that is missing, and for one too large."""
    if not path.is_file():
        return _MISSING
    data = read_small(path, _LARGEST)
    return _TOO_LARGE if data is None else data


def directories_above(path: RepoPath) -> Iterator[RepoPath]:
    """A directory and those that it lies in, the root of the repository last."""
    while path:
        yield path
        path = RepoPath(path.rpartition("/")[0])
    yield RepoPath("")
