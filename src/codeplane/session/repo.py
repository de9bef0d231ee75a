"""`RepoSession`: the one place that wires a repository together."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from codeplane import __version__
from codeplane.contexts.contexts import Override, Probed, detect
from codeplane.core.errors import CodePlaneError, IndexCorrupt, StateUnusable
from codeplane.core.paths import Digest, RepoPath
from codeplane.git.ops.worktrees import describe_place, list_worktrees
from codeplane.git.worktree.autosave import drop_saved
from codeplane.graph.tests.by_coverage import Learnt
from codeplane.index import (
    IndexState,
    Progress,
    Workers,
    contexts_on_record,
    drop_view,
    index_bytes,
    index_on_record,
    index_version,
    orphaned_views,
)
from codeplane.jail import shown
from codeplane.ledger import Artifacts, Ledger, Limits, Tasks
from codeplane.ledger.summary import moment
from codeplane.mutation import Engine
from codeplane.names import Index
from codeplane.plans import WorkPlans
from codeplane.session.activity import Activity
from codeplane.session.checkout import Checkout
from codeplane.session.clients.sessions import Sessions
from codeplane.session.clients.shown_contents import ShownContents
from codeplane.session.decisions import Decisions
from codeplane.session.operation.recovery import recover
from codeplane.session.operation.state_sequence import StateSequence
from codeplane.session.packs import load_packs
from codeplane.session.plans import Plans
from codeplane.session.token_savings import FILE as SAVINGS
from codeplane.session.token_savings import TokenSavings
from codeplane.session.trust import TrustWatch
from codeplane.session.upkeep import Upkeep
from codeplane.storage import StateDir
from codeplane.storage.database import Database
from codeplane.storage.files import disk_problem, read_small, write_private
from codeplane.storage.state_db import open_state_db
from codeplane.testrun.coverage_map import CoverageMap
from codeplane.verify.scratch import sweep
from codeplane.working_tree import Known, Opened, WorkingTree

if TYPE_CHECKING:
    from codeplane.parsing.query_worker import QueryWorker

T = TypeVar("T")

_INDEX_WORKERS = 2
# How many writes have the facts of what they write read at the same time.
_READING_AHEAD = 4
_LARGEST_CONTEXTS = 1_048_576
_MOST_ROOTS = 20
# An object may be younger than its row, but not by so much.
_FRESH_SEC = 3600
_DAY_SEC = 86_400
DELTA_HOLDER = "delta.holder"
"""The file that says who executes deltas; it stays where that process dies."""


class IndexReport(BaseModel):
    """Progress of the index."""

    model_config = ConfigDict(frozen=True)

    files: int = Field(description="Files in the working tree to index.")
    unread: int = Field(description="Files not indexed yet.")
    epoch: int = Field(description="Number of the last published change.")
    rebuilt: str | None = Field(default=None, description="Why the index was rebuilt at startup.")
    version: str = Field(description="Schema version; an index of another version is rebuilt.")
    fingerprint: str | None = Field(
        default=None, description="Fingerprint of all indexed files and their contents."
    )
    reconciled_at: str | None = Field(default=None, description="When the working tree was last checked.")
    behind: int | None = Field(
        default=None, description="Files that differ from the working tree, if no server is running."
    )
    size_bytes: int = Field(description="Size on disk.")
    path: str = Field(description="Where it is.")


class FamilyContexts(BaseModel):
    """The build contexts of one language family."""

    model_config = ConfigDict(frozen=True)

    family: str = Field(description="Language family.")
    roots: list[str] = Field(description="Directories that own files of the family; `.` is the repository.")
    more: int | None = Field(default=None, description="Roots beyond those listed.")
    unclear: str | None = Field(default=None, description="What contexts.yaml should settle.")


class RepoStatus(BaseModel):
    """What is true of the repository now."""

    model_config = ConfigDict(frozen=True)

    version: str = Field(description="Version of CodePlane and of its API.")
    repo_root: str = Field(description="Absolute path of the working tree.")
    repo_id: str = Field(description="Random id of this checkout.")
    branch: str | None = Field(default=None, description="Branch that is checked out.")
    commit: str | None = Field(default=None, description="Commit that HEAD points to.")
    trusted: bool = Field(description="Whether the user trusts what the repository supplies.")
    index_status: str = Field(description="State of the index: absent, present, building or ready.")
    index: IndexReport | None = Field(default=None, description="Progress of the index.")
    contexts: list[FamilyContexts] | None = Field(default=None, description="Build contexts.")
    notices: list[str] | None = Field(default=None, description="What the operator should know.")


def status_of(checkout: Checkout, index: Index | None = None, notices: Sequence[str] = ()) -> RepoStatus:
    """The status of a repository, whether or not a server runs for it."""
    head = checkout.repository.head()
    state = index.state() if index is not None else None
    return RepoStatus(
        version=__version__,
        repo_root=str(checkout.root),
        repo_id=checkout.state.repo_id,
        branch=head.branch,
        commit=head.commit,
        trusted=checkout.trusted,
        index_status=_index_status(checkout, state),
        index=_index_report(checkout, index),
        contexts=_contexts(checkout, index),
        notices=[*_disk(checkout), *_place(checkout), *checkout.notices, *notices, *_burst(state)] or None,
    )


def _disk(checkout: Checkout) -> list[str]:
    problem = disk_problem(checkout.state.path if checkout.state.exists else checkout.root)
    return [problem] if problem is not None else []


def _place(checkout: Checkout) -> list[str]:
    kind = describe_place(checkout.repository)
    return [f"This is a {kind}."] if kind is not None else []


def _index_status(checkout: Checkout, state: IndexState | None) -> str:
    if state is None:
        return "present" if checkout.index_file.exists() else "absent"
    return "building" if state.building or state.unread or not state.epoch else "ready"


def _index_report(checkout: Checkout, index: Index | None) -> IndexReport | None:
    file = checkout.index_file
    if index is None:
        return _recorded_index(checkout) if file.exists() else None
    state = index.state()
    return IndexReport(
        files=state.files,
        unread=state.unread,
        epoch=state.epoch,
        rebuilt=state.rebuilt or None,
        version=index_version(),
        fingerprint=index.fingerprint().hex() if state.epoch and not state.building else None,
        reconciled_at=moment(state.reconciled_ms) if state.reconciled_ms else None,
        size_bytes=index_bytes(file),
        path=str(file),
    )


def _recorded_index(checkout: Checkout) -> IndexReport | None:
    """What the file says where no server runs; the tree is looked at, so that a stale index shows."""
    tree, file = tree_of(checkout), checkout.index_file
    try:
        record = index_on_record(file, tree, checkout.view_key)
    except (IndexCorrupt, StateUnusable):
        return None  # the next start makes it anew and says why
    if record is None:
        return None
    return IndexReport(
        files=len(record.known),
        unread=record.unread,
        epoch=record.epoch,
        version=index_version(),
        fingerprint=record.fingerprint(),
        reconciled_at=moment(record.reconciled_ms),
        behind=record.behind(tree),
        size_bytes=index_bytes(file),
        path=str(file),
    )


def _burst(state: IndexState | None) -> list[str]:
    if state is None or not state.absorbing:
        return []
    return [f"Many files changed at once: {state.unread} of {state.files} are still to be indexed."]


def _contexts(checkout: Checkout, index: Index | None) -> list[FamilyContexts] | None:
    """The contexts of the last epoch; None where there is none, and while a pass makes them anew."""
    if index is None:
        contexts = _recorded_contexts(checkout) if checkout.index_file.exists() else None
        return (_by_family(contexts) or None) if contexts is not None else None
    if index.is_building:
        return None
    with index.snapshot() as snapshot:
        return (_by_family(snapshot.units.probed) or None) if snapshot.epoch else None


def _recorded_contexts(checkout: Checkout) -> Probed | None:
    tree, overrides = tree_of(checkout), _overrides(checkout)
    try:
        return contexts_on_record(checkout.index_file, tree, checkout.view_key, overrides)
    except (IndexCorrupt, StateUnusable):
        return None  # the next start makes it anew and says why


def _by_family(probed: Probed) -> list[FamilyContexts]:
    return [
        FamilyContexts(
            family=one.family,
            roots=[shown(root) or "." for root in one.roots[:_MOST_ROOTS]],
            more=max(0, len(one.roots) - _MOST_ROOTS) or None,
            unclear=one.signal if one.mode == "ambiguous" else None,
        )
        for one in detect(probed)
    ]


def tree_of(checkout: Checkout) -> WorkingTree:
    """The working tree, with the secrets that the user has opened in it."""
    return WorkingTree(checkout.root, checkout.repository, Opened(checkout.opened))


def _overrides(checkout: Checkout) -> list[Override]:
    """What contexts.yaml says; it counts only in a trusted repository, like every setting it supplies."""
    data = read_small(checkout.state.contexts_file, _LARGEST_CONTEXTS) if checkout.trusted else None
    if not data:
        return []
    from codeplane.contexts.file import read_contexts  # it needs YAML, which most servers do not

    return read_contexts(data.decode("utf-8", "replace"))


def _where(checkout: Checkout, index: Index) -> tuple[str | None, int | None]:
    """The commit that is checked out, and the epoch of the index."""
    return checkout.repository.head().commit, index.state().epoch


def _drop_orphaned_views(checkout: Checkout, index: Index) -> None:
    """Forgets the views of worktrees that git does not have any more."""
    names = {one.name for one in list_worktrees(checkout.repository) if one.name is not None}
    for key in orphaned_views(index.database, names):
        drop_view(index.database, key)


def _tidy(checkout: Checkout, index: Index, engine: Engine, ledger: Ledger, artifacts: Artifacts) -> None:
    """Drops what nobody can ask about any more."""
    _drop_orphaned_views(checkout, index)
    _drop_contents(checkout, engine, ledger, artifacts)


def _drop_contents(checkout: Checkout, engine: Engine, ledger: Ledger, artifacts: Artifacts) -> None:
    """Old contents stay as long as the ledger has the operation that replaced them."""
    ledger.tidy()
    artifacts.tidy()
    engine.settle()
    engine.objects.collect(ledger.digests().__contains__, time.time() - _FRESH_SEC)
    kept_sec = checkout.settings.ledger.keep_days * _DAY_SEC
    drop_saved(checkout.repository, time.time() - kept_sec, ledger.saved().__contains__)


def _end_orphaned_refreshes(checkout: Checkout, index: Index) -> None:
    """Has the queue say which refreshes were cut off, unless somebody is at one."""
    if not checkout.settings.semantic.enabled:
        return
    # With the tier off, nothing of it is loaded.
    from codeplane.semantic.jobs import Jobs, refresh_lock

    jobs, lock = Jobs(index.database, checkout.view_key), refresh_lock(checkout.index_file)
    if jobs.has_orphans() and lock.acquire():
        try:
            jobs.interrupt_orphans()
        finally:
            lock.release()


def _settle_deltas(session: "RepoSession") -> list[str]:
    """Settles an execution of deltas that has died."""
    from codeplane.session.delta.settlement import settle_dead  # needed after a crash alone

    try:
        return settle_dead(session)
    except CodePlaneError as error:
        return [f"An execution of deltas that was cut off is not settled yet: {error.message}"]


class Ground(NamedTuple):
    """What a session stands on: files, who writes them, where records are kept, and the view in the index."""

    checkout: Checkout
    state: StateDir
    tree: WorkingTree
    engine: Engine
    view_key: str


class Background(Protocol):
    """A thread of the server that refreshes the semantic tier."""

    def wake(self) -> None: ...

    def stop(self) -> None: ...

    def join(self) -> None: ...


@dataclass
class RepoSession:
    """An open repository. Every tool call runs inside one."""

    checkout: Checkout
    state: StateDir
    sessions: Sessions
    ledger: Ledger
    tasks: Tasks
    artifacts: Artifacts
    engine: Engine
    tree: WorkingTree
    index: Index
    workers: Workers
    upkeep: Upkeep
    states: StateSequence
    recovered: tuple[str, ...] = ()  # what this start has made of operations that a crash had cut off
    token_savings: TokenSavings = field(init=False)
    shown_contents: ShownContents = field(default_factory=ShownContents)
    activity: Activity = field(default_factory=Activity)
    started: float = field(default_factory=time.monotonic)
    background: Background | None = None  # only where a server runs
    owns_workers: bool = True
    at_close: list[Callable[[], None]] = field(default_factory=list)  # done before anything of it is closed
    _first_due: float | None = None
    _shelf: dict[type[Any], Any] = field(default_factory=dict)
    # Its threads stay, for each has a connection to the index.
    ahead: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(_READING_AHEAD, "read ahead")
    )

    def __post_init__(self) -> None:
        price = self.checkout.settings.reading.price_per_million_tokens
        self.token_savings = TokenSavings(self.state.path / SAVINGS, price)

    def keep(self, kind: type[T], make: Callable[[], T]) -> T:
        """What a higher layer keeps for this repository as long as it is open, made when first asked for."""
        value: T = self._shelf.get(kind) or self._shelf.setdefault(kind, make())
        return value

    @cached_property
    def trust_watch(self) -> TrustWatch:
        return TrustWatch(self.checkout)

    @cached_property
    def state_db(self) -> Database:
        """What has been learnt and no rebuild may lose; opened when it is asked for."""
        return open_state_db(self.state.path / "state.db")

    @cached_property
    def primary_state_db(self) -> Database:
        """What all worktrees of the repository share; it belongs to the primary checkout."""
        home = self.checkout.index_home
        if home == self.checkout.root:
            return self.state_db
        return open_state_db(StateDir.create(home).path / "state.db")

    @cached_property
    def coverage_map(self) -> CoverageMap:
        """What tests have run, as far as runs with coverage have shown it."""
        return CoverageMap(self.state_db)

    @property
    def learnt(self) -> Learnt | None:
        """What runs with coverage have shown, if there is anything; asking does not make the file."""
        return self.coverage_map.known() if (self.state.path / "state.db").exists() else None

    @cached_property
    def plans(self) -> Plans:
        """Refactoring plans that wait to be carried out."""
        return Plans(lambda: self.state_db, self.tree.jail.enter)

    @cached_property
    def work_plans(self) -> WorkPlans:
        """Plans of phases and tasks, which don't expire."""

        def normalise(document: dict[str, Any]) -> dict[str, Any]:
            # What reads deltas loads the operations of all languages; most servers never need them.
            from codeplane.session.delta.workbench import normalise_delta

            return normalise_delta(self, document)

        return WorkPlans(lambda: self.state_db, lambda: load_packs(self.checkout), normalise)

    @cached_property
    def query_worker(self) -> "QueryWorker":
        """Runs queries that somebody wrote; its process starts with the first."""
        from codeplane.parsing.query_worker import QueryWorker  # most servers run none

        return QueryWorker()

    @property
    def decisions(self) -> Decisions:
        return Decisions(lambda: self.state_db)

    @classmethod
    def open(cls, checkout: Checkout, workers: Workers | None = None) -> Self:
        """Makes the state directory when it is missing and opens the index. The caller holds the lock.

        Without `workers` of somebody else it has its own, and ends them.
        """
        state = StateDir.create(checkout.root)
        sweep(checkout.scratch)
        tree = tree_of(checkout)
        if checkout.index_home != checkout.root:
            StateDir.create(checkout.index_home)
        engine = Engine(tree, checkout.repository, state.path)
        return cls.assemble(Ground(checkout, state, tree, engine, checkout.view_key), workers)

    @classmethod
    def assemble(cls, ground: "Ground", workers: Workers | None = None) -> Self:
        """Opens the index and the records of a state directory, for the files of a tree."""
        checkout, state, tree, engine, view_key = ground
        owns_workers = workers is None
        workers = Workers(_INDEX_WORKERS) if workers is None else workers
        settings = checkout.settings
        index = Index.open(checkout.index_file, tree, workers, view_key)
        try:
            index.configure(_overrides(checkout), semantic=checkout.settings.semantic.enabled)
            ledger = Ledger.open(state.ledger, settings.ledger)
        except CodePlaneError:
            index.close()
            raise
        tasks = Tasks(ledger, Limits(**settings.tasks.model_dump()), lambda: _where(checkout, index))
        recovery_notes = recover(engine, ledger, checkout.repository)
        # Only now: what was recovered counts in the task that it was done in.
        tasks.interrupt_open()
        artifacts = Artifacts(state.artifacts, settings.ledger)
        upkeep = Upkeep(
            index,
            tree,
            settings.index,
            state.path if sys.platform == "linux" else None,
            lambda: _tidy(checkout, index, engine, ledger, artifacts),
        )
        _end_orphaned_refreshes(checkout, index)
        sessions = Sessions(settings.server.session_idle_sec, settings.reading.budget_characters, tasks)
        states = StateSequence(index, tree, engine)
        parts = (ledger, tasks, artifacts, engine, tree, index, workers, upkeep, states)
        session = cls(checkout, state, sessions, *parts, recovery_notes, owns_workers=owns_workers)
        tree.git.followed = session.followed
        if (state.path / DELTA_HOLDER).exists():
            session.recovered = (*session.recovered, *_settle_deltas(session))
        return session

    def close(self) -> None:
        for act in self.at_close:
            act()
        self.upkeep.stop()
        if self.background is not None:
            self.background.stop()
            self.background.join()
        self.sessions.close_all()
        self.token_savings.flush()
        self.ahead.shutdown()
        self.engine.close()
        self.ledger.close()
        self.index.close()
        for name in ("state_db", "primary_state_db"):
            if name in self.__dict__:
                getattr(self, name).close()
        if "query_worker" in self.__dict__:
            self.query_worker.close()
        self.upkeep.join()
        if self.owns_workers:
            self.workers.close()

    def heed_trust(self) -> None:
        """Takes up what the user has granted or revoked since the last call: settings, secrets, programs.

        What the server was started with (its port, its workers, its logs) stays until the next start.
        """
        checkout = self.trust_watch.again(self.checkout)
        if checkout is None:
            return
        self.checkout = checkout
        self.tree.opened.take(checkout.opened)
        self.index.configure(_overrides(checkout), semantic=checkout.settings.semantic.enabled)

    def refresh(self, progress: Progress | None = None, *, until: float | None = None) -> None:
        """Makes the index as new as the tree is now, or as far as it comes until then.

        Where a server looks after it, a burst of changes is left to the server and known to be unread.
        """
        self.workers.keep()
        if not self.upkeep.is_running:
            self.index.refresh(progress, until=until)
        elif self.index.catch_up():
            self.upkeep.wake()

    def first_answer_due(self) -> float:
        """Until when calls wait for a new index, on the monotonic clock: from the first call on, once."""
        if self._first_due is None:
            self._first_due = time.monotonic() + self.checkout.settings.index.first_wait_sec
        return self._first_due

    def followed(self) -> Mapping[RepoPath, Known]:
        """What the indexed files are now, where events tell; empty where each has to be asked."""
        if not self.tree.is_followed or self.index.is_building or not self.upkeep.is_running:
            return {}
        with suppress(CodePlaneError):  # the index may be out of order; git is not
            self.refresh()
            return self.index.known
        return {}

    def earlier(self, digest: Digest) -> bytes | None:
        """A content that a client was shown or that an edit has replaced; None when it is not kept."""
        return self.shown_contents.get(digest) or self.engine.objects.read(digest)

    def write_contexts(self) -> bool:
        """Writes what was found into contexts.yaml unless there is one; tells whether it did."""
        file = self.state.contexts_file
        if file.exists() or file.is_symlink():
            return False
        from codeplane.contexts.file import write_contexts  # as above

        with self.index.snapshot() as snapshot:
            text = write_contexts(snapshot.units.probed.contexts)
        write_private(file, text.encode("utf-8", "surrogateescape"))
        return True

    def status(self) -> RepoStatus:
        notices = [*self.upkeep.notices, *self.tree.problems(), *self.recovered, *self.ledger.all_problems()]
        return status_of(self.checkout, self.index, notices)

    def uptime_sec(self) -> float:
        return time.monotonic() - self.started
