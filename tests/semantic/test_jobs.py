"""The queue of refreshes: merged, superseded, claimed once, true after a crash."""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codeplane.index.schema import SCHEMA
from codeplane.semantic.jobs import CLEARED, Job, Jobs, JobStatus, Request, complete, refresh_lock
from codeplane.semantic.scope import RefreshScope, covers, merge_scopes
from codeplane.storage.database import Database, open_exact

A, B = RefreshScope(frozenset({"a.py"})), RefreshScope(frozenset({"b.py"}))
BOTH = RefreshScope(frozenset({"a.py", "b.py"}))


def opened(path: Path) -> Database:
    database = open_exact(path, SCHEMA)
    assert database is not None
    return database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = opened(tmp_path / "index.db")
    yield made
    made.close()


@pytest.fixture
def jobs(database: Database) -> Jobs:
    return Jobs(database, "worktree")


def wish(
    scope: RefreshScope | None = None, head: str = "h1", context: str = "python:", epoch: int = 1
) -> Request:
    return Request(context, head, "requested", scope, epoch)


def the(job: Job | None) -> Job:
    assert job is not None
    return job


def ended(database: Database, job: Job, superseded: str = "") -> JobStatus:
    with database.write() as connection:
        return complete(connection, job.id, 7, "hash", superseded)


def test_a_request_at_the_same_head_widens_the_job_that_waits(jobs: Jobs) -> None:
    first = jobs.enqueue(wish(A))
    second = jobs.enqueue(wish(B))
    assert first.is_new and second.is_widened and second.job == first.job
    assert the(jobs.job(first.job)).scope == BOTH
    again = jobs.enqueue(wish(A))
    assert (again.job, again.is_new, again.is_widened) == (first.job, False, False)
    jobs.enqueue(wish(None))
    assert the(jobs.job(first.job)).scope is None
    jobs.enqueue(wish(A))
    assert the(jobs.job(first.job)).scope is None


def test_a_request_at_another_head_supersedes_what_waits_and_what_runs(
    jobs: Jobs, database: Database
) -> None:
    running = jobs.enqueue(wish(A)).job
    claim = the(jobs.claim(1))
    follow_up = jobs.enqueue(wish(B)).job
    new = jobs.enqueue(wish(A, head="h2")).job
    assert [the(jobs.job(one)).status for one in (running, follow_up, new)] == [
        "superseded",
        "superseded",
        "queued",
    ]
    assert the(jobs.job(running)).superseded_reason == "head_changed"
    assert the(jobs.job(running)).finished_ms is None, "its process still runs"
    assert jobs.claim(1) is None, "and the context has one job at a time"
    assert ended(database, claim) is JobStatus.SUPERSEDED
    assert the(jobs.claim(1)).id == new


def test_what_widens_a_running_job_is_one_follow_up_with_the_union(jobs: Jobs) -> None:
    running = jobs.enqueue(wish(A)).job
    jobs.claim(1)
    assert jobs.enqueue(wish(A)).job == running
    follow_up = jobs.enqueue(wish(B)).job
    assert follow_up != running
    assert jobs.enqueue(wish(RefreshScope(packages=frozenset({"p"})))).job == follow_up
    assert the(jobs.job(follow_up)).scope == merge_scopes(BOTH, RefreshScope(packages=frozenset({"p"})))
    assert the(jobs.job(running)).follow_up == follow_up
    assert len([job for job in jobs.recent(10) if job.status.is_live]) == 2


def test_a_running_job_does_not_cover_what_has_changed_since_it_began(jobs: Jobs) -> None:
    running = jobs.enqueue(wish(None, epoch=4)).job
    jobs.claim(4)
    assert jobs.enqueue(wish(A, epoch=4)).job == running
    later = jobs.enqueue(wish(A, epoch=5))
    assert later.is_new and the(jobs.job(later.job)).scope is None


def test_other_contexts_and_other_worktrees_have_jobs_of_their_own(jobs: Jobs, database: Database) -> None:
    beside = Jobs(database, "worktree:side")
    ids = {
        jobs.enqueue(wish()).job,
        jobs.enqueue(wish(context="go:")).job,
        beside.enqueue(wish(head="h9")).job,
    }
    assert len(ids) == 3 and all(job.status == "queued" for job in jobs.recent(9) + beside.recent(9))
    assert [the(beside.claim(1)).view, beside.claim(1)] == ["worktree:side", None]


def test_a_job_is_completed_once_with_its_run(jobs: Jobs, database: Database) -> None:
    jobs.enqueue(wish())
    job = the(jobs.claim(3))
    assert (job.status, job.epoch, job.started_ms is not None) == ("running", 3, True)
    assert ended(database, job) is JobStatus.COMPLETED
    after = the(jobs.job(job.id))
    assert (after.run, after.output_hash, after.error) == (7, "hash", None)
    jobs.end(job.id, JobStatus.FAILED, "too late")
    assert the(jobs.job(job.id)) == after


def test_a_failure_keeps_its_error_within_bounds(jobs: Jobs) -> None:
    jobs.enqueue(wish())
    job = the(jobs.claim(1))
    jobs.end(job.id, JobStatus.FAILED, "x" * 100_000)
    after = the(jobs.job(job.id))
    assert after.status is JobStatus.FAILED and len(after.error or "") == 2000 and after.finished_ms


def test_jobs_of_a_process_that_is_gone_are_interrupted(jobs: Jobs) -> None:
    jobs.enqueue(wish())
    jobs.enqueue(wish(context="go:"))
    job = the(jobs.claim(1))
    assert jobs.has_orphans() and jobs.interrupt_orphans() == 1 and not jobs.has_orphans()
    assert the(jobs.job(job.id)).status is JobStatus.INTERRUPTED
    assert the(jobs.claim(1)).context == "go:", "what waited still waits"


def test_clearing_ends_what_waits_and_marks_what_runs(jobs: Jobs, database: Database) -> None:
    jobs.enqueue(wish())
    job = the(jobs.claim(1))
    jobs.enqueue(wish(context="go:"))
    with database.write() as connection:
        assert jobs.supersede_all(connection, CLEARED) == 2
    assert the(jobs.job(job.id)).superseded_reason == CLEARED
    assert ended(database, job) is JobStatus.SUPERSEDED


def test_only_so_many_that_have_ended_are_kept(jobs: Jobs, database: Database) -> None:
    for number in range(260):
        jobs.enqueue(wish(head=f"h{number}"))
    assert 200 <= len(jobs.recent(1000)) <= 202


def test_the_lock_is_one_for_threads_and_processes(tmp_path: Path) -> None:
    first, second = refresh_lock(tmp_path / "index.db"), refresh_lock(tmp_path / "index.db")
    assert first.acquire() and not second.acquire()
    first.release()
    assert second.acquire()


def _claim_all(
    path: Path, start: "multiprocessing.synchronize.Barrier", claims: "multiprocessing.Queue[int]"
) -> None:
    database = opened(path)
    jobs = Jobs(database, "worktree")
    start.wait()
    while (job := jobs.claim(1)) is not None:
        claims.put(job.id)
        jobs.end(job.id, JobStatus.FAILED, "")
    database.close()


def test_processes_that_race_claim_each_job_once(tmp_path: Path, jobs: Jobs) -> None:
    expected = sorted(jobs.enqueue(wish(context=f"c{number}")).job for number in range(40))
    context = multiprocessing.get_context("spawn")
    start, claims = context.Barrier(2), context.Queue()
    workers = [
        context.Process(target=_claim_all, args=(tmp_path / "index.db", start, claims)) for _ in range(2)
    ]
    for worker in workers:
        worker.start()
    numbers = sorted(claims.get(timeout=60) for _ in expected)
    for worker in workers:
        worker.join(60)
    assert numbers == expected


scopes = st.none() | st.builds(RefreshScope, st.frozensets(st.sampled_from("abc"), max_size=2))
steps = st.lists(
    st.tuples(st.sampled_from(["enqueue", "claim", "end", "crash"]), scopes, st.sampled_from(["h1", "h2"])),
    max_size=25,
)


@settings(max_examples=60, deadline=None)
@given(steps)
def test_every_request_is_covered_and_no_context_has_two_of_a_kind(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, RefreshScope | None, str]]
) -> None:
    database = opened(tmp_path_factory.mktemp("jobs") / "index.db")
    jobs, running = Jobs(database, "worktree"), None
    for move, scope, head in moves:
        if move == "enqueue":
            job = the(jobs.job(jobs.enqueue(wish(scope, head)).job))
            assert job.status.is_live and job.head == head and covers(job.scope, scope)
        elif move == "claim":
            running = jobs.claim(1) or running
        elif move == "end" and running is not None:
            ended(database, running)
        elif move == "crash":
            jobs.interrupt_orphans()
        live = [job.status for job in jobs.recent(100) if job.status.is_live]
        assert live.count(JobStatus.QUEUED) <= 1 and live.count(JobStatus.RUNNING) <= 1
    database.close()
