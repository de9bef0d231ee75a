"""One refresh after the other: claimed, run in a scratch tree, imported in one transaction, ended truly.

The order is what makes it safe: the indexer runs, HEAD and digests are read afresh, what still belongs to the
tree is stored, and the same transaction ends the job. A crash leaves the facts as they were.
"""

import fnmatch
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.core.errors import (
    Cancelled,
    CodePlaneError,
    CompilationFailed,
    DeadlineExceeded,
    NotFound,
    ProgramMissing,
    ServerStopping,
)
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.process.toolbox import Toolbox
from codeplane.semantic.indexer import Indexer, directories_above
from codeplane.semantic.jobs import Job, Jobs, JobStatus, refresh_lock
from codeplane.semantic.scope import RefreshScope
from codeplane.session.repo import RepoSession
from codeplane.session.semantic.contexts import (
    Pick,
    SemanticContext,
    candidates,
    known_indexers,
    pick_indexer,
    semantic_choices,
    semantic_contexts,
)
from codeplane.session.semantic.imports import Base, Coverage, join_output, store_ready, take_base
from codeplane.session.semantic.run import Order, indexer_run
from codeplane.storage.lock import ServerLock
from codeplane.testrun.run import Watch
from codeplane.verify.trial import Original

_LOCK_SEC: Final = 0.5
_MOST_NAMED: Final = 5
_WILD: Final = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Outcome:
    """How a refresh of one context has ended."""

    context: str
    job: Job
    indexer: str = ""
    version: str = ""
    coverage: Coverage | None = None
    error: CodePlaneError | None = None
    notes: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass
class Worker:
    """Runs the jobs of one checkout. One worker runs at a time for an index, whoever started it."""

    repo: RepoSession
    watch: Watch = field(default_factory=Watch)

    def __post_init__(self) -> None:
        checkout = self.repo.checkout
        self.jobs = Jobs(self.repo.index.database, checkout.view_key)
        self._indexers: Mapping[str, Indexer] = known_indexers(checkout)
        self._choices = semantic_choices(checkout)
        self._toolbox = Toolbox(checkout.programs, checkout.root)

    def head(self) -> str:
        """The commit that is checked out at this moment; "" where there is none."""
        return self.repo.checkout.repository.head().commit or ""

    def contexts(self, snapshot: Snapshot) -> dict[str, SemanticContext]:
        """The build contexts that some indexer can be run over, by unit."""
        return {one.unit: one for one in semantic_contexts(snapshot, self._indexers.values())}

    def candidates(self, context: SemanticContext) -> list[Indexer]:
        """The indexers that may be used for a context, best first."""
        return candidates(context, self._indexers, self._choices.of_unit(context.unit))

    def pick(self, context: SemanticContext) -> Pick:
        """The indexer of a context; `ProgramMissing` where none is installed."""
        offered = self.candidates(context)
        pick = pick_indexer(context, offered, self._toolbox, self._choices.of_unit(context.unit).env)
        if pick is None:
            names = ", ".join(one.name for one in offered)
            text = f"none of {names} is installed" if names else "contexts.yaml has switched it off"
            raise ProgramMissing(
                f"No indexer can be run over {context.title}: {text}.",
                hints=[one.install for one in offered],
            )
        return pick

    def run_jobs(self, numbers: Collection[int]) -> list[Outcome]:
        """Runs the jobs that still wait; of those that others have run, tells how they ended."""
        outcomes: dict[int, Outcome] = {}
        with self.sole_worker():
            self.jobs.interrupt_orphans()
            at_once = min(self._choices.max_parallel_contexts, len(numbers))
            if at_once <= 1:
                self._drain_queue(numbers, outcomes)
            else:
                with ThreadPoolExecutor(at_once, "indexer") as pool:
                    turns = [pool.submit(self._drain_queue, numbers, outcomes) for _ in range(at_once)]
                for turn in turns:
                    turn.result()
        for number in numbers:
            job = self.jobs.job(number)
            if number not in outcomes and job is not None:
                error = CompilationFailed(job.error) if job.error else None
                outcomes[number] = Outcome(job.context, job, error=error)
        return [outcomes[number] for number in sorted(outcomes)]

    def _drain_queue(self, numbers: Collection[int], outcomes: dict[int, Outcome]) -> None:
        while True:
            self.repo.refresh(self.watch.progress)
            job = self.jobs.claim(self.repo.index.state().epoch, numbers)
            if job is None:
                return
            outcomes[job.id] = self.account(job, self._index_context)

    @contextmanager
    def sole_worker(self) -> Iterator[ServerLock]:
        """Waits until no other worker runs, in this process or in another one."""
        lock = refresh_lock(self.repo.checkout.index_file)
        began = time.monotonic()
        while not lock.acquire(wait_sec=_LOCK_SEC):
            self.watch.check()
            self.watch.progress(time.monotonic() - began, None, "waiting for another refresh")
        try:
            yield lock
        finally:
            lock.release()

    def account(self, job: Job, act: Callable[[Job], Outcome]) -> Outcome:
        """Does the work of a running job; whatever comes of it is in its row afterwards."""
        began = time.monotonic()
        try:
            outcome = act(job)
        except (Cancelled, DeadlineExceeded, ServerStopping) as error:
            self.jobs.end(job.id, JobStatus.INTERRUPTED, error.message)
            raise
        except CodePlaneError as error:
            self.jobs.end(job.id, JobStatus.FAILED, f"{error.name()}: {error.message}")
            outcome = Outcome(job.context, job, error=error)
        except BaseException as error:
            self.jobs.end(job.id, JobStatus.FAILED, f"{type(error).__name__}: {error}")
            raise
        job = self.jobs.job(job.id) or job
        return replace(outcome, job=job, seconds=round(time.monotonic() - began, 1))

    def _index_context(self, job: Job) -> Outcome:
        repo = self.repo
        with repo.index.snapshot() as snapshot:
            order = self._make_order(job, self.contexts(snapshot))
            base = take_base(snapshot, order.readable, order.expected, self._input_names(snapshot, order))
        pick = order.pick
        original = Original(repo.tree, repo.checkout.repository, sorted(base.files), repo.checkout.scratch)
        with indexer_run(repo.checkout, original, order, self.watch) as produced:
            self.watch.progress(0, None, f"reading the index of {pick.indexer.name}")
            repo.refresh(self.watch.progress)
            with repo.index.snapshot() as snapshot:
                writes = _changed_files(snapshot, base)
                ready = join_output(snapshot, order, produced, base, repo.tree.jail.enter)
            store_ready(repo.index.database, job, ready, self.head)
        notes = tuple(dict.fromkeys((*produced.notes, *_describe_writes(writes, pick))))
        return Outcome(job.context, job, pick.indexer.name, pick.tool.version, ready.coverage, notes=notes)

    def _input_names(self, snapshot: Snapshot, order: Order) -> list[str]:
        """The files and environments that decide what a run says; one that is missing decides too."""
        indexer, context = order.pick.indexer, order.context
        names = (*indexer.configuration_files, *indexer.environment_files)
        paths: dict[str, None] = {}
        for at in directories_above(context.root):
            for name in names:
                matches = fnmatch.filter(snapshot.names_in(at), name) if _WILD.search(name) else [name]
                paths |= dict.fromkeys(f"{at}/{match}" if at else match for match in matches)
        environments = indexer.environments(self.repo.checkout.root, context.files)
        return [*paths, *(f"{path}/" for path in environments)]

    def _make_order(self, job: Job, contexts: Mapping[str, SemanticContext]) -> Order:
        context = contexts.get(job.context)
        if context is None:
            raise NotFound(f"The build context {job.context} has no files to index any more.")
        pick = self.pick(context)
        scope = None
        if job.scope is not None:
            scope = pick.indexer.scope(context.files, self._scope_files(job.scope, context))
        readable = frozenset().union(*(one.indexed_by(pick.indexer) for one in contexts.values()))
        return Order(context, pick, scope, readable)

    def _scope_files(self, scope: RefreshScope, context: SemanticContext) -> list[RepoPath]:
        """The files of a context that a scope names: by path, by package, by their last change."""
        known, since = self.repo.index.known, scope.changed_since

        def is_inside(path: RepoPath) -> bool:
            if path in scope.files or any(
                path.startswith(f"{package}/") or package in ("", ".") for package in scope.packages
            ):
                return True
            return since is not None and path in known and known[path].mtime_ns > since * 1e9

        return [path for path in context.files.files if is_inside(path)]


def _changed_files(snapshot: Snapshot, base: Base) -> list[RepoPath]:
    """The files of the working tree that have changed since a job was claimed."""
    now = snapshot.digests()
    return sorted(
        path for path in now.keys() | base.digests.keys() if now.get(path) != base.digests.get(path)
    )


def _describe_writes(paths: Sequence[RepoPath], pick: Pick) -> list[str]:
    """An indexer that writes into the repository is found by what it has changed there."""
    if not paths:
        return []
    names = ", ".join(map(shown, paths[:_MOST_NAMED]))
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    text = (
        f"{names}{more} changed in the working tree while {pick.indexer.name} ran, which was given a copy."
        " Unless somebody else made these changes, the indexer writes into the repository."
    )
    return [text]
