"""An indexer in a scratch copy of the working tree: bounded in time, memory and output, and gone afterwards.

Whatever the program does, it does it to the copy. What it writes is opened without following links.
"""

import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from codeplane.config.settings import SemanticSettings
from codeplane.core.edits import Change
from codeplane.core.errors import CodePlaneError, CompilationFailed
from codeplane.core.paths import RepoPath
from codeplane.jail import Jail
from codeplane.process import Finished
from codeplane.process.custody import Custody
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.indexer import IndexCommand, IndexTask, Prepared
from codeplane.session.checkout import Checkout
from codeplane.session.semantic.contexts import Pick, SemanticContext
from codeplane.storage.files import read_small
from codeplane.testrun.run import Watch
from codeplane.verify.trial import Original, Trial, trial

_NICENESS: Final = 10
_MOST_PROCESSES: Final = 512
_MOST_PRINTED: Final = 1 << 20  # that is kept
_LONGEST_SAID: Final = 600
_LARGEST_SOURCE: Final = 64 << 20
_REPORT_SEC: Final = 1.0
_CHUNK: Final = 1 << 20
_MEGABYTE: Final = 1 << 20


@dataclass(frozen=True)
class Order:
    """What shall be run: an indexer over a context, or over some of its files."""

    context: SemanticContext
    pick: Pick
    scope: frozenset[RepoPath] | None  # as `Indexer.scope` gave it; None for the whole context
    readable: frozenset[RepoPath]  # all files of the repository in the languages of the indexer

    @property
    def expected(self) -> frozenset[RepoPath]:
        """The files that the indexer should say something about."""
        files = self.context.indexed_by(self.pick.indexer)
        return files if self.scope is None else files & self.scope


@dataclass
class Produced:
    """What a run has written, as long as its scratch tree is there."""

    scratch: Trial
    prepared: Prepared
    commands: tuple[IndexCommand, ...]
    limit: int  # bytes of an index that are read
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def index(self, command: IndexCommand) -> Iterator[BinaryIO]:
        """The index that a command has written."""
        base = self.scratch.root.parent
        path = RepoPath(command.output.relative_to(base).as_posix())
        try:
            descriptor = Jail(base).open(path)
        except CodePlaneError as error:
            text = f"{_program_name(command)} has left no index: {error.message.replace(f'{base}/', '')}"
            raise CompilationFailed(text) from error
        with os.fdopen(descriptor, "rb") as stream:
            if os.fstat(descriptor).st_size > self.limit:
                text = f"The index of {_program_name(command)} is larger than {self.limit // _MEGABYTE} MB."
                raise CompilationFailed(text, hints=["Raise semantic.output_mb."])
            yield stream

    def output_hash(self) -> str:
        """A digest of everything that was written."""
        total = hashlib.sha256()
        for command in self.commands:
            with self.index(command) as stream:
                while data := stream.read(_CHUNK):
                    total.update(data)
        return total.hexdigest()

    def source(self, path: RepoPath) -> bytes | None:
        """The bytes of a file of the scratch tree as the indexer has left them."""
        return read_small(self.scratch.root / path, _LARGEST_SOURCE)


@contextmanager
def indexer_run(checkout: Checkout, original: Original, order: Order, watch: Watch) -> Iterator[Produced]:
    """Runs the indexer in a copy of the tree; the copy and the output are gone when the block ends."""
    settings = checkout.settings.semantic
    with trial(original, Change(), watch) as scratch:
        output, temporary = scratch.reports / "index", scratch.reports / "tmp"
        output.mkdir()
        temporary.mkdir()
        pick = order.pick
        try:
            prepared = pick.indexer.prepare(scratch.root, order.context.files)
        except OSError as error:
            raise CompilationFailed(f"{pick.indexer.name} cannot be configured: {error}.") from error
        task = IndexTask(pick.tool, scratch.root, output, order.context.files, order.scope, scratch.original)
        commands = tuple(pick.indexer.command(task))
        produced = Produced(scratch, prepared, commands, settings.output_mb * _MEGABYTE, list(prepared.notes))
        starter = _Starter(checkout, order, watch, {"TMPDIR": str(temporary), **pick.env})
        for command in commands:
            produced.notes += starter.run(command)
        yield produced


class _Starter:
    """Runs the commands of one job, one after the other, within its time."""

    def __init__(self, checkout: Checkout, order: Order, watch: Watch, env: Mapping[str, str]) -> None:
        self._settings, self._order, self._watch, self._env = checkout.settings.semantic, order, watch, env
        self._programs = Toolbox(checkout.programs, checkout.root).starter(order.context.root)
        self._began = self._reported = time.monotonic()

    def run(self, command: IndexCommand) -> tuple[str, ...]:
        """Runs a command and gives its notes; `CompilationFailed` where it has no result."""
        settings, indexer = self._settings, self._order.pick.indexer
        limit = settings.output_mb * _MEGABYTE
        left = self._began + settings.timeout_sec - time.monotonic()
        result = self._programs.run(
            command.argv,
            cwd=command.cwd,
            timeout=max(left, 0),
            env={**self._env, **command.env},
            most=_MOST_PRINTED,
            check=self._look,
            custody=Custody(
                most_processes=_MOST_PROCESSES,
                most_resident=settings.memory_mb * _MEGABYTE,
                niceness=_NICENESS,
                is_tied=True,
                is_over=lambda: _size(command.output) > limit,
            ),
        )
        if not result.is_ok:
            raise _failure(indexer.name, result, settings)
        return indexer.notes(result)

    def _look(self) -> None:
        self._watch.check()
        now = time.monotonic()
        if now - self._reported >= _REPORT_SEC:
            self._reported = now
            duration = now - self._began
            title = f"{self._order.pick.indexer.name} on {self._order.context.title}"
            self._watch.progress(duration, None, f"{title}: {duration:.0f} s")


def _failure(name: str, finished: Finished, settings: SemanticSettings) -> CompilationFailed:
    reasons = {
        "time": ("took too long", f"Raise semantic.timeout_sec ({settings.timeout_sec:g})."),
        "memory": ("took too much memory", f"Raise semantic.memory_mb ({settings.memory_mb})."),
        "asked": ("wrote too large an index", f"Raise semantic.output_mb ({settings.output_mb})."),
        "processes": ("started too many processes", ""),
    }
    if finished.ended_for:
        how, hint = reasons[finished.ended_for]
        how += " and was ended"
    elif finished.code is not None and finished.code < 0:
        how, hint = f"was ended by signal {-finished.code}", ""
    else:
        how, hint = f"failed with code {finished.code}", ""
    said = " ".join(finished.said.split())
    said = said if len(said) <= _LONGEST_SAID else f"…{said[-_LONGEST_SAID:]}"
    ending = f": {said}" if said else "."
    return CompilationFailed(f"{name} {how}{ending}", hints=[hint] if hint else [])


def _program_name(command: IndexCommand) -> str:
    return Path(command.argv[0]).name


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0
