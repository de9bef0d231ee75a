"""One tool call, as the tool sees it: the repository, the caller, and how to talk back."""

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final, NamedTuple, TypeVar

from codeplane.core.errors import (
    Cancelled,
    CodePlaneError,
    ContentChanged,
    DeadlineExceeded,
    ServerStopping,
)
from codeplane.core.ids import RequestId
from codeplane.core.paths import Digest, RepoPath
from codeplane.ledger import Signals, Task
from codeplane.ledger.tasks import Charge
from codeplane.names import WORKING_TREE, Files, OverlayFile, Snapshot, StateRef
from codeplane.session.clients.sessions import ClientSession
from codeplane.session.operation.aftermath import Made
from codeplane.session.repo import RepoSession
from codeplane.session.requested_state import (
    CURRENT,
    RequestedState,
    check_overlay,
    committed,
    state_ref,
)
from codeplane.session.surface_rules import heed_surface_rules
from codeplane.session.token_savings import MOST_READ, TOP_FILES
from codeplane.working_tree import WorkingTree
from codeplane.workspaces import Workspace

S = TypeVar("S")
T = TypeVar("T")

# A program that writes one file all the time must not hold a call for ever.
_MOST_LOOKS: Final = 4
# How often a call that waits for the index tells how far it is.
_LOOK_SEC: Final = 0.2


class Stop(Enum):
    """Why a call has to end early."""

    CANCELLED = "cancelled"
    DEADLINE = "deadline"
    STOPPING = "stopping"

    def error(self) -> CodePlaneError:
        match self:
            case Stop.CANCELLED:
                return Cancelled("The call was cancelled.")
            case Stop.DEADLINE:
                return DeadlineExceeded(
                    "The call did not finish in time.",
                    hints=["Narrow the request, or raise server.call_timeout_sec."],
                )
            case Stop.STOPPING:
                return ServerStopping("The server is shutting down.")


class Limit(NamedTuple):
    """A size that was brought down to what may be had at once; `wish` is None where nobody asked."""

    wish: int | None
    hard_cap: int


@dataclass(frozen=True)
class StepResult:
    """A call within a call: its answer, whether it did what it was asked to, and whether it only reads."""

    tool: str
    body: dict[str, Any]
    text: str
    is_done: bool
    is_read: bool
    error: CodePlaneError | None = None


def _no_step(_tool: str, _arguments: object, _reads_only: bool) -> StepResult | None:
    raise AssertionError("BUG: this call was made without the pipeline")


@dataclass
class Halt:
    """Why and when a call has to end; calls within it end with it."""

    reason: Stop | None = None
    event: threading.Event = field(default_factory=threading.Event)


@dataclass
class Call:
    """Lives as long as one call. A tool reads the repository through it and reports back through it."""

    repo: RepoSession
    session: ClientSession
    request_id: RequestId
    report: Callable[[float, float | None, str | None], None] | None = None
    warnings: list[str] = field(default_factory=list)
    limits_applied: dict[str, Limit] = field(default_factory=dict)
    next_actions: list[str] = field(default_factory=list)
    lasting_changes: list[Made] = field(default_factory=list)  # changes that stay, whatever fails after them
    is_read: bool = True  # whether it changes nothing, and may be answered from a part of the index
    semantic_level: str = ""  # how far names were resolved with what indexers say; "" where none were
    epoch: int | None = None  # that the answer is of; None where it is of none
    # What the client would have read without the tool, in characters; None where there is nothing to compare.
    otherwise: int | None = None
    # What the call belongs to from its beginning to its end, whatever the session turns to meanwhile.
    task: Task = field(init=False)
    flags: list[str] = field(default_factory=list)
    workspace: Workspace | None = None  # that it reads and writes; None in the checkout that is served
    is_structured: bool = True  # whether somebody gets what only programs read
    phases: dict[str, float] = field(default_factory=dict)  # seconds by what they were spent on
    diagnostics: list[dict[str, Any]] = field(default_factory=list)  # of build contexts, where wanted
    reading: RequestedState = CURRENT  # what it reads, where that is not what is there
    is_current: bool = False  # whether the files were looked at since it began, and need not be once more
    # Runs another tool within this call; None where only reads may run and it is none.
    run_step: Callable[[str, object, bool], StepResult | None] = _no_step
    _halt: Halt = field(default_factory=Halt)

    def __post_init__(self) -> None:
        self.task = self.session.task

    def inner(self) -> "Call":
        """A call within this one: it has notes of its own and ends when this one has to.

        Its envelope is sent to nobody; what programs read of the whole is told by this one.
        """
        return Call(
            self.repo,
            self.session,
            self.request_id,
            self.report,
            workspace=self.workspace,
            reading=self.reading,
            is_structured=False,
            _halt=self._halt,
        )

    def inner_of(self, repo: RepoSession) -> "Call":
        """A call within this one that acts in another checkout; its client has a session of its own there."""
        session = repo.sessions.enter(f"within:{self.session.session_id}", self.session.session_id)
        return Call(repo, session, self.request_id, self.report, _halt=self._halt)

    def charge(self, kind: Charge, op_type: str) -> None:
        """Counts this call against the budgets of its task, or refuses it; to be called before it changes
        anything."""
        self.repo.tasks.charge(self.task, kind, op_type)

    def signal(self, signals: Signals) -> None:
        """Tells the client what the operation says about its progress."""
        self.flags += signals.flags
        if signals.no_op:
            self.warn("no_op: this repeats the previous change, or changes nothing.")
        if signals.non_progress:
            self.warn("non_progress: this failure is the same as before the last change.")

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tells the client how far the call is; also the place where a stopped call ends."""
        self.check()
        if self.report is not None:
            self.report(done, total, message)

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """The repository as it is at this moment; every read in the block agrees with every other.

        A new index is waited for a few seconds. Then the answer is what has been read so far, and says so.
        """
        if self.reading.commit is None:
            self._look()
        with self.seen() as snapshot:
            yield snapshot

    @contextmanager
    def seen(self) -> Iterator[Snapshot]:
        """The repository as the last look found it, or the other state that the call asks for."""
        with self._taken_state() as ref, self.repo.index.snapshot_of(ref, self.progress) as snapshot:
            self._note_state(ref, snapshot)
            self._warn_of_unread(snapshot)
            heed_surface_rules(self.repo.checkout, snapshot)
            yield snapshot
            self.semantic_level = snapshot.semantic_level_used() or self.semantic_level
            for note in snapshot.notes:
                self.warn(note)

    def ask(self, question: Callable[[Snapshot], T]) -> T:
        """The answer to a question that reads contents; asked anew when one changed while it was read."""
        return self._ask(self.snapshot, question)

    def ask_with(
        self,
        commits: Sequence[str],
        question: Callable[[tuple[Snapshot, dict[str, Snapshot]]], T],
        *,
        looks: bool = True,
    ) -> T:
        """The answer to a question about the working tree and commits; without `looks`, commits alone."""
        return self._ask(lambda: self._with_commits(commits, looks=looks), question)

    @contextmanager
    def _with_commits(
        self, commits: Sequence[str], *, looks: bool
    ) -> Iterator[tuple[Snapshot, dict[str, Snapshot]]]:
        looks = looks and self.reading.commit is None
        if looks:
            self._look()
        with (
            self._taken_state() as ref,
            self.repo.index.with_commits(commits, self.progress, ref) as snapshots,
        ):
            self._note_state(ref, snapshots[0])
            if looks:
                self._warn_of_unread(snapshots[0])
            for snapshot in (snapshots[0], *snapshots[1].values()):
                heed_surface_rules(self.repo.checkout, snapshot)
            yield snapshots
            for note in snapshots[0].notes:
                self.warn(note)

    def committed(self, path: RepoPath) -> bytes | None:
        """A file as the commit has it that the state is compared with; None where it has none."""
        return committed(self.repo, self.reading, path)

    def overlay(self) -> Files:
        """What of the state is neither in a commit nor on the disk."""
        tree = self.repo.tree
        with self._taken_state() as ref:
            if self.reading.commit is not None or tree.is_on_disk:
                return ref.overlay.files
            below = {path: _file_of(tree, path, digest) for path, digest in tree.overlay().items()}
            return {**below, **ref.overlay.files}

    @property
    def is_on_disk(self) -> bool:
        """Whether what it reads is in a checkout, but for virtual files."""
        return self.reading.commit is None and self.repo.tree.is_on_disk

    @contextmanager
    def _taken_state(self) -> Iterator[StateRef]:
        """The state that is read, as it is now."""
        notes: list[str] = []
        yield state_ref(self.repo, self.reading, WORKING_TREE, notes)
        for note in notes:
            self.warn(note)

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        began = time.perf_counter()
        try:
            yield
        finally:
            self.phases[phase] = self.phases.get(phase, 0.0) + time.perf_counter() - began

    def _note_state(self, ref: StateRef, snapshot: Snapshot) -> None:
        if ref == WORKING_TREE:
            self.epoch = snapshot.epoch
        if self.reading.files:
            check_overlay(snapshot, ref.overlay.files)

    def _look(self) -> None:
        """Takes in what has changed, and waits a while for a new index.

        Without a server, a call that changes the repository reads everything first: nobody else does. With
        one it goes on after the wait, and what relies on the whole index says what is unread.
        """
        with self._timed("refresh"):
            self._take_in()

    def _take_in(self) -> None:
        index, is_current = self.repo.index, self.is_current
        self.is_current = False
        # What changes something may have done so before its first look.
        if is_current and self.is_read and index.was_whole:
            return
        is_limited = self.is_read and not index.was_whole
        self.repo.refresh(self.progress, until=self.repo.first_answer_due() if is_limited else None)
        if not self.repo.upkeep.is_running or index.was_whole:
            return
        due, files = self.repo.first_answer_due(), len(index.known)
        while index.unread and not index.was_whole and time.monotonic() < due:
            self.progress(files - index.unread, files, "reading files")
            self.wait(_LOOK_SEC)

    def _warn_of_unread(self, snapshot: Snapshot) -> None:
        coverage = snapshot.coverage
        if coverage.unread:
            self.warn(
                f"{coverage.unread} of {coverage.files} files are not indexed yet;"
                f" what they define is missing from this answer. {self._when_read()}"
            )

    def _when_read(self) -> str:
        if not self.repo.upkeep.is_running:
            return "The next call continues indexing."
        left = self.repo.index.seconds_left()
        return (
            f"Ask again in about {math.ceil(left)} s." if left is not None else "Ask again in a few seconds."
        )

    def _ask(self, look: Callable[[], AbstractContextManager[S]], question: Callable[[S], T]) -> T:
        for _ in range(_MOST_LOOKS - 1):
            self.otherwise = None
            try:
                with look() as subject:
                    return question(subject)
            except ContentChanged:
                self.check()
        with look() as subject:
            return question(subject)

    def instead_of(self, characters: int) -> None:
        """Notes how much a client would have had to read to learn the same without this call."""
        self.otherwise = (self.otherwise or 0) + characters

    def showed(self, path: RepoPath, digest: Digest, data: bytes) -> None:
        """Notes what the client has been shown with line numbers, so that it may edit by them.

        Lines of another state than the one that edits are made in say nothing about it.
        """
        if not self.reading.is_default:
            return
        self.session.shown_digests.note(path, digest)
        self.repo.shown_contents.keep(digest, data)

    def showed_of(self, snapshot: Snapshot, path: RepoPath) -> None:
        """Notes that the client has been shown a file of a snapshot with line numbers."""
        file = snapshot.file(path)
        if file is not None:
            self.showed(path, Digest(file.digest), snapshot.source(path))

    def instead_of_files(self, snapshot: Snapshot, paths: Iterable[str], printed: int = 0) -> None:
        """Notes that the lines of grep and the first three files, as far as one read shows, are spared."""
        top = list(dict.fromkeys(paths))[:TOP_FILES]
        if top:
            self.instead_of(printed + sum(min(size, MOST_READ) for size in snapshot.lookup.sizes(top)))

    def warn(self, text: str | None) -> None:
        """Adds a warning to the answer, once."""
        if text and text not in self.warnings:
            self.warnings.append(text)

    def check(self) -> None:
        """Raises when the call has to end. Long work calls this often."""
        if self._halt.reason is not None:
            raise self._halt.reason.error()

    def wait(self, seconds: float) -> None:
        """Sleeps, but not past the moment when the call has to end."""
        self._halt.event.wait(seconds)
        self.check()

    def stop(self, why: Stop) -> None:
        """Asks the call to end; the first reason stays."""
        if self._halt.reason is None:
            self._halt.reason = why
            self._halt.event.set()

    @property
    def stopped(self) -> Stop | None:
        return self._halt.reason


def _file_of(tree: WorkingTree, path: RepoPath, digest: Digest | None) -> OverlayFile | None:
    return OverlayFile(digest, 0, lambda: tree.read(path)) if digest is not None else None
