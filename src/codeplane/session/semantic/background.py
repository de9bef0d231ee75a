"""Refreshes that the server makes by itself: what waits in the queue, and what has changed once it is quiet.

What has to be indexed is found by the states of files, not by events: a burst of changes is one job, and what
changes while a job runs is found by the next look.
"""

import logging
import threading
import time
from typing import Final

from codeplane.core.errors import CodePlaneError, ServerStopping
from codeplane.names import Snapshot
from codeplane.semantic.jobs import JobStatus, Request
from codeplane.semantic.scope import RefreshScope
from codeplane.session.repo import RepoSession
from codeplane.session.semantic.contexts import SemanticContext
from codeplane.session.semantic.status import Freshness, file_states
from codeplane.session.semantic.worker import Worker
from codeplane.testrun.run import Watch

_log = logging.getLogger(__name__)

FILE_DIRTY: Final = "file_dirty"
NEW_FILE: Final = "new_file"
_LOOK_SEC: Final = 5.0
_MOST_FAILURES: Final = 3


class BackgroundRefresh:
    """A thread that runs the jobs of one checkout, one at a time, while calls are answered."""

    def __init__(self, repo: RepoSession) -> None:
        self._repo = repo
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._epoch, self._changed = 0, time.monotonic()  # the last epoch seen, and since when
        self._checked = -1  # the epoch that was last looked through
        self._failures: dict[str, tuple[int, str]] = {}  # context → failures in a row, HEAD
        self._thread = threading.Thread(target=self._run, name="semantic", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Has the jobs run that wait."""
        self._wanted.set()

    def stop(self) -> None:
        self._stopping.set()
        self._wanted.set()

    def join(self) -> None:
        if self._thread.is_alive():
            self._thread.join(5)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wanted.wait(min(_LOOK_SEC, self._repo.checkout.settings.semantic.idle_sec))
            is_asked = self._wanted.is_set()
            self._wanted.clear()
            try:
                if is_asked or self._is_idle():
                    self._work(looks=not is_asked)
            except ServerStopping:
                return
            except CodePlaneError as error:
                _log.warning("semantic refresh failed", extra={"error": error.message})
            except Exception:  # noqa: BLE001 - logged; the next look tries again
                _log.exception("semantic refresh failed")

    def _is_idle(self) -> bool:
        """Whether the user wants it, and nothing has changed for a while that has not been looked at."""
        checkout, index = self._repo.checkout, self._repo.index
        settings = checkout.settings.semantic
        if not (settings.refresh_on_idle and settings.enabled and checkout.trusted):
            return False
        epoch, now = index.state().epoch, time.monotonic()
        if epoch != self._epoch:
            self._epoch, self._changed = epoch, now
        return epoch != self._checked and not index.is_building and now - self._changed >= settings.idle_sec

    def _work(self, *, looks: bool) -> None:
        if not self._repo.checkout.trusted:
            return
        worker = Worker(self._repo, Watch(self._check))
        if looks:
            self._checked = self._epoch
            self._enqueue_changes(worker)
        waiting = [job.id for job in worker.jobs.recent(100) if job.status is JobStatus.QUEUED]
        for outcome in worker.run_jobs(waiting) if waiting else ():
            count, head = self._failures.get(outcome.context, (0, ""))
            failed = outcome.error is not None
            same = count if head == outcome.job.head else 0
            self._failures[outcome.context] = (same + 1 if failed else 0, outcome.job.head)
            _log.info(
                "semantic refresh ended",
                extra={
                    "context": outcome.context,
                    "status": str(outcome.job.status),
                    "error": outcome.job.error,
                },
            )

    def _check(self) -> None:
        if self._stopping.is_set():
            raise ServerStopping("The server is shutting down.")

    def _enqueue_changes(self, worker: Worker) -> None:
        """A job for each context that has files which no longer are, or never were, indexed."""
        head = worker.head()
        with self._repo.index.snapshot() as snapshot:
            epoch = snapshot.epoch
            requests = [
                Request(context.unit, head, trigger, scope, epoch)
                for context in worker.contexts(snapshot).values()
                if worker.candidates(context) and not self._is_hopeless(context.unit, head)
                for trigger, scope in [_find_changes(snapshot, context)]
                if scope is not None
            ]
        for request in requests:
            worker.jobs.enqueue(request)

    def _is_hopeless(self, unit: str, head: str) -> bool:
        """What has failed several times at a commit is not tried again before the next one."""
        count, at = self._failures.get(unit, (0, ""))
        return count >= _MOST_FAILURES and at == head


def _find_changes(snapshot: Snapshot, context: SemanticContext) -> tuple[str, RefreshScope | None]:
    """Why a context has to be indexed again, and which of its files; None where nothing has."""
    states = file_states(snapshot, context)
    runs = [one.number for one in snapshot.semantics.runs.values() if one.context == context.unit]
    contents = snapshot.semantics.contents(max(runs)) if runs else {}
    blobs = snapshot.layout.blobs

    def unseen(state: Freshness) -> set[str]:
        # The last run has seen the others as they are, and had nothing to say.
        return {path for path in states[state] if contents.get(path) != blobs.get(path)}

    new, dirty = unseen(Freshness.UNINDEXED), unseen(Freshness.DIRTY)
    dirty.update(states[Freshness.STALE] + states[Freshness.PENDING_CHECK])
    scope = RefreshScope(frozenset(dirty | new)) if dirty or new else None
    return FILE_DIRTY if dirty else NEW_FILE, scope
