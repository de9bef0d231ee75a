"""The queue of refreshes: rows of the index, so that servers of several worktrees and commands see one truth.

Transitions are single statements that name the status they leave, in the index's write lane:

    queued → running → completed | failed | interrupted
    queued, running → superseded                        HEAD has moved, or the user has cleared the tier

The scope of a job is monotonic for one context at one HEAD: a request widens a queued job and never narrows
it. What widens a running one is queued as its follow-up, with the union of both scopes.
"""

import time
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from codeplane.semantic.scope import RefreshScope, covers, merge_scopes, scope_from_json, scope_to_json
from codeplane.storage.database import Connection, Database
from codeplane.storage.lock import ServerLock

CLEARED: Final = "cleared"
HEAD_CHANGED: Final = "head_changed"
HEAD_CHANGED_DURING_RUN: Final = "head_changed_during_run"

_MOST_KEPT: Final = 200  # of those that have ended, for each view
_LONGEST_ERROR: Final = 2_000
_COLUMNS: Final = (
    "SELECT id, view, context, status, scope, trigger_reason, head_at_enqueue, epoch, created_ms, started_ms,"
    " finished_ms, output_hash, error, superseded_reason, run, follow_up FROM refresh_job "
)


class JobStatus(StrEnum):
    """Where a refresh stands."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    SUPERSEDED = "superseded"

    @property
    def is_live(self) -> bool:
        return self in (JobStatus.QUEUED, JobStatus.RUNNING)


@dataclass(frozen=True)
class Job:
    """One row of the queue. Times are in milliseconds."""

    id: int
    view: str
    context: str
    status: JobStatus
    scope: RefreshScope | None
    trigger: str
    head: str  # when it was enqueued
    epoch: int  # of the view when it was claimed; 0 before
    created_ms: int
    started_ms: int | None = None
    finished_ms: int | None = None
    output_hash: str | None = None
    error: str | None = None
    superseded_reason: str | None = None
    run: int | None = None  # whose facts were stored
    follow_up: int | None = None  # the job that covers what was asked for while this one ran


@dataclass(frozen=True)
class Request:
    """A wish for a refresh of one context."""

    context: str
    head: str  # "" where there is no commit yet
    trigger: str
    scope: RefreshScope | None = None
    epoch: int = 0  # of the view now: a running job that began at another one has not seen all of it


@dataclass(frozen=True)
class Enqueued:
    """The job that covers a request, and whether the request has changed the queue."""

    job: int
    is_new: bool = False
    is_widened: bool = False


class Jobs:
    """The jobs of one view of an index."""

    def __init__(self, database: Database, view: str) -> None:
        self._database, self._view_key = database, view

    def enqueue(self, request: Request) -> Enqueued:
        """Has a request covered by a job: one that waits, one that runs, a follow-up, or a new one."""
        with self._database.write() as connection:
            queued, running = self._live_jobs(connection, request)
            if queued is not None:
                merged = merge_scopes(queued.scope, request.scope)
                if merged == queued.scope:
                    return Enqueued(queued.id)
                connection.execute(
                    "UPDATE refresh_job SET scope = ? WHERE id = ?", (scope_to_json(merged), queued.id)
                )
                return Enqueued(queued.id, is_widened=True)
            if running is None:
                return Enqueued(self._insert(connection, request, request.scope), is_new=True)
            if running.epoch == request.epoch and covers(running.scope, request.scope):
                return Enqueued(running.id)
            job = self._insert(connection, request, merge_scopes(running.scope, request.scope))
            connection.execute("UPDATE refresh_job SET follow_up = ? WHERE id = ?", (job, running.id))
            return Enqueued(job, is_new=True)

    def _live_jobs(self, connection: Connection, request: Request) -> tuple[Job | None, Job | None]:
        """The jobs of a context that wait and run at the same HEAD; those at another are superseded."""
        connection.execute(
            "UPDATE refresh_job SET status = 'superseded', superseded_reason = ?,"
            " finished_ms = CASE status WHEN 'queued' THEN ? END"
            " WHERE view = ? AND context = ? AND status IN ('queued', 'running') AND head_at_enqueue <> ?",
            (HEAD_CHANGED, _now_ms(), self._view_key, request.context, request.head),
        )
        rows = connection.execute(
            _COLUMNS + "WHERE view = ? AND context = ? AND status IN ('queued', 'running')",
            (self._view_key, request.context),
        )
        live = {job.status: job for job in map(_job, rows)}
        return live.get(JobStatus.QUEUED), live.get(JobStatus.RUNNING)

    def _insert(self, connection: Connection, request: Request, scope: RefreshScope | None) -> int:
        connection.execute(
            "DELETE FROM refresh_job WHERE view = ? AND status NOT IN ('queued', 'running') AND id <="
            " (SELECT id FROM refresh_job WHERE view = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
            (self._view_key, self._view_key, _MOST_KEPT),
        )
        row = connection.execute(
            "INSERT INTO refresh_job"
            " (view, context, status, scope, trigger_reason, head_at_enqueue, epoch, created_ms)"
            " VALUES (?, ?, 'queued', ?, ?, ?, 0, ?)",
            (self._view_key, request.context, scope_to_json(scope), request.trigger, request.head, _now_ms()),
        )
        return int(row.lastrowid or 0)

    def claim(self, epoch: int, only: Collection[int] | None = None) -> Job | None:
        """Takes the oldest job that waits, so that nobody else does; None where there is none.

        A context is refreshed by one job at a time. `only` limits the choice to some jobs.
        """
        with self._database.write() as connection:
            waiting = connection.execute(
                "SELECT id FROM refresh_job WHERE view = ? AND status = 'queued' AND context NOT IN"
                " (SELECT context FROM refresh_job"
                " WHERE view = ? AND started_ms IS NOT NULL AND finished_ms IS NULL) ORDER BY id",
                (self._view_key, self._view_key),
            )
            job = next((job for (job,) in waiting if only is None or job in only), None)
            if job is None:
                return None
            connection.execute(
                "UPDATE refresh_job SET status = 'running', started_ms = ?, epoch = ?"
                " WHERE id = ? AND status = 'queued'",
                (_now_ms(), epoch, job),
            )
            return job_of(connection, job)

    def begin(self, request: Request) -> Job:
        """A job that runs at once and covers no other request: an import. For the holder of the lock."""
        with self._database.write() as connection:
            number = self._insert(connection, request, request.scope)
            connection.execute(
                "UPDATE refresh_job SET status = 'running', started_ms = ?, epoch = ? WHERE id = ?",
                (_now_ms(), request.epoch, number),
            )
            job = job_of(connection, number)
            assert job is not None, "BUG: the row has just been written"
            return job

    def end(self, job: int, status: JobStatus, error: str) -> None:
        """Ends a running job that stored nothing; one that was superseded meanwhile stays so."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE refresh_job SET status = CASE status WHEN 'running' THEN ? ELSE status END,"
                " finished_ms = ?, error = ? WHERE id = ? AND finished_ms IS NULL",
                (status, _now_ms(), error[:_LONGEST_ERROR], job),
            )

    def interrupt_orphans(self) -> int:
        """Ends the jobs of processes that are gone; for the holder of the lock alone, before it claims."""
        with self._database.write() as connection:
            rows = connection.execute(
                "UPDATE refresh_job SET finished_ms = ?, error = 'The process that ran it has ended.',"
                " status = CASE status WHEN 'running' THEN 'interrupted' ELSE status END"
                " WHERE started_ms IS NOT NULL AND finished_ms IS NULL",
                (_now_ms(),),
            )
            return rows.rowcount

    def supersede_all(self, connection: Connection, reason: str, context: str = "") -> int:
        """Ends what waits and keeps what runs from storing anything, in all views of the index."""
        rows = connection.execute(
            "UPDATE refresh_job SET status = 'superseded', superseded_reason = ?,"
            " finished_ms = CASE status WHEN 'queued' THEN ? END"
            " WHERE status IN ('queued', 'running') AND ? IN ('', context)",
            (reason, _now_ms(), context),
        )
        return rows.rowcount

    def job(self, number: int) -> Job | None:
        with self._database.read() as connection:
            return job_of(connection, number)

    def recent(self, most: int) -> list[Job]:
        """The newest jobs of the view, newest first."""
        with self._database.read() as connection:
            rows = connection.execute(
                _COLUMNS + "WHERE view = ? ORDER BY id DESC LIMIT ?", (self._view_key, most)
            )
            return [_job(row) for row in rows]

    def last_of(self, context: str) -> Job | None:
        """The newest job of a context."""
        with self._database.read() as connection:
            row = connection.execute(
                _COLUMNS + "WHERE view = ? AND context = ? ORDER BY id DESC LIMIT 1",
                (self._view_key, context),
            ).fetchone()
            return _job(row) if row is not None else None

    def has_orphans(self) -> bool:
        """Whether a job runs, or is said to: its process may be gone."""
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT 1 FROM refresh_job WHERE started_ms IS NOT NULL AND finished_ms IS NULL LIMIT 1"
            )
            return rows.fetchone() is not None


def job_of(connection: Connection, number: int) -> Job | None:
    """A job as the transaction of a connection sees it."""
    row = connection.execute(_COLUMNS + "WHERE id = ?", (number,)).fetchone()
    return _job(row) if row is not None else None


def complete(
    connection: Connection, job: int, run: int | None, output_hash: str, superseded: str = ""
) -> JobStatus:
    """Ends a job in the transaction that stores its facts, so that none is completed without them.

    With a reason, or where it was superseded while it ran, it ends as superseded, with what was stored.
    """
    connection.execute(
        "UPDATE refresh_job SET status = CASE WHEN status = 'running' AND ? = '' THEN 'completed'"
        " ELSE 'superseded' END, superseded_reason = coalesce(superseded_reason, nullif(?, '')),"
        " finished_ms = ?, output_hash = ?, run = ?"
        " WHERE id = ? AND started_ms IS NOT NULL AND finished_ms IS NULL",
        (superseded, superseded, _now_ms(), output_hash, run, job),
    )
    now = job_of(connection, job)
    return now.status if now is not None else JobStatus.SUPERSEDED


def refresh_lock(index_file: Path) -> ServerLock:
    """The right to run indexers for an index: its holder is the only one whose jobs run."""
    return ServerLock(index_file.with_name("semantic.lock"))


def _job(row: tuple[object, ...]) -> Job:
    values = dict(zip(Job.__dataclass_fields__, row, strict=True))
    values["status"] = JobStatus(str(values["status"]))
    values["scope"] = scope_from_json(values["scope"])  # type: ignore[arg-type]
    return Job(**values)  # type: ignore[arg-type]


def _now_ms() -> int:
    return int(time.time() * 1000)
