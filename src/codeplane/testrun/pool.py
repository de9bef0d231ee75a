"""Batches run by several threads, each of which waits for one process at a time."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from codeplane.core.errors import ProgramFailed, TestRunnerNotFound
from codeplane.process.custody import Custody
from codeplane.process.toolbox import Toolbox
from codeplane.testrun.batch_outcome import BatchOutcome, Run, judge_batch
from codeplane.testrun.batches import Batch
from codeplane.testrun.results import Case, End, Status
from codeplane.testrun.runner import Ended, Followed, Follower, Place, Runner, Standing, traits_of
from codeplane.testrun.target import Target

_LOOK_SEC: Final = 0.05
_WAIT_SEC: Final = 0.05
_STEP: Final = 0.001
# An interpreter that starts on a busy machine takes its time.
_STARTING_SEC: Final = 10.0
_BUILDING_SEC: Final = 180.0
_LONGEST_SEC: Final = 7 * 86_400


@dataclass(frozen=True)
class Where:
    """Where a run takes place."""

    root: Path  # absolute: the repository, or a scratch copy of it
    toolbox: Toolbox
    scratch: Path  # absolute, outside of the repository, for reports


@dataclass(frozen=True)
class Options:
    """How a run is made."""

    workers: int = 1
    target_timeout_sec: float = 30
    total_timeout_sec: float = 1800
    fail_fast: bool = False
    rerun_failures: bool = True
    coverage: tuple[Path, ...] = ()  # directories, absolute


@dataclass(frozen=True)
class Watch:
    """Who waits for a run. Both are called by the thread that began it."""

    check: Callable[[], None] = lambda: None  # raises when the run has to end
    progress: Callable[[float, float | None, str | None], None] = lambda *_: None


@dataclass
class _Turn:
    """A batch that runs."""

    batch: Batch
    standing: Standing = field(default_factory=Standing)


class Pool:
    """Runs batches until none is left, or until it is told to stop."""

    def __init__(
        self, where: Where, options: Options, runners: Mapping[str, Runner], watch: Watch, deadline: float
    ) -> None:
        self._where, self._options, self._runners = where, options, runners
        self._watch, self._deadline = watch, deadline
        self._guard = threading.Condition()
        self._waiting: list[Batch] = []
        self._turns: list[_Turn] = []
        self._outcomes: list[BatchOutcome] = []
        self._broken: list[BaseException] = []
        self._number = 0
        self._base = self._total = 0
        self._reached = 0.0
        self._done: set[str] = set()
        self.missing: list[TestRunnerNotFound] = []
        self.stopped = ""

    def run_all(self, batches: Sequence[Batch]) -> list[BatchOutcome]:
        """The outcomes of these batches and of what had to be run again; raises what the watch raises."""
        self._waiting, self._outcomes, self._done = list(batches), [], set()
        self._base = self._total
        self._total += sum(len(batch.targets) for batch in batches)
        threads = [
            threading.Thread(target=self._serve_turns, name=f"tests {number}", daemon=True)
            for number in range(min(self._options.workers, len(batches)))
        ]
        for thread in threads:
            thread.start()
        try:
            self._await_threads(threads)
        except BaseException:
            self._stop_runs("cancelled")
            raise
        finally:
            for thread in threads:
                thread.join()
        if self._broken:
            raise self._broken[0]
        return self._outcomes

    def _await_threads(self, threads: Sequence[threading.Thread]) -> None:
        progress = (0, "")
        while any(thread.is_alive() for thread in threads):
            with self._guard:
                self._guard.wait(_WAIT_SEC)
                now = self._count_progress()
            self._watch.check()
            if time.monotonic() > self._deadline:
                self._stop_runs("time")
            if now != progress:
                progress = now
                # It has to grow with every word, also where a target that crashed has to be run again.
                self._reached = max(self._reached + _STEP, self._base + now[0])
                self._watch.progress(self._reached, self._total, now[1] or None)

    def _count_progress(self) -> tuple[int, str]:
        running = [turn.standing for turn in self._turns]
        targets = {target for standing in running for target in standing.begun if target != standing.target}
        return len(self._done | targets), ", ".join(one.target for one in running if one.target)

    def _stop_runs(self, why: str) -> None:
        with self._guard:
            self.stopped = self.stopped or why
            self._guard.notify_all()

    def _serve_turns(self) -> None:
        while (turn := self._next_turn()) is not None:
            try:
                outcome = self._run_batch(turn)
            except TestRunnerNotFound as error:
                outcome = BatchOutcome([], {target.id: End.NOT_RUN for target in turn.batch.targets})
                self.missing.append(error)
            except ProgramFailed as error:
                failure = Case(
                    turn.batch.runner, "", Status.ERROR, message=error.message, kind="RunnerFailed"
                )
                outcome = BatchOutcome([failure], {target.id: End.NOT_RUN for target in turn.batch.targets})
            except BaseException as error:  # noqa: BLE001 - raised by the thread that waits
                self._broken.append(error)
                self._stop_runs("broken")
                outcome = BatchOutcome([])
            with self._guard:
                self._turns.remove(turn)
                self._outcomes.append(outcome)
                self._done |= outcome.ends.keys() - {one.id for part in outcome.again for one in part}
                self._waiting[:0] = [
                    Batch(turn.batch.runner, targets, turn.batch.queue) for targets in outcome.again
                ]
                self._guard.notify_all()
            if self._options.fail_fast and any(case.is_bad for case in outcome.cases):
                self._stop_runs("fail_fast")

    def _next_turn(self) -> _Turn | None:
        """The next batch that may run beside those that do; None when nothing is left to come."""
        with self._guard:
            while True:
                busy = {turn.batch.queue for turn in self._turns} - {""}
                ready = next((batch for batch in self._waiting if batch.queue not in busy), None)
                if self.stopped:
                    ready = None
                elif ready is None and (self._waiting or self._turns):
                    # One that runs may yet leave something to be run again.
                    self._guard.wait(_WAIT_SEC)
                    continue
                if ready is None:
                    return None
                self._waiting.remove(ready)
                turn = _Turn(ready)
                self._turns.append(turn)
                return turn

    def _make_place(self) -> Place:
        with self._guard:
            self._number += 1
            reports = self._where.scratch / f"batch{self._number}"
        reports.mkdir(parents=True)
        return Place(self._where.root, self._where.toolbox, reports, self._options.coverage)

    def _run_batch(self, turn: _Turn) -> BatchOutcome:
        batch, runner, place = turn.batch, self._runners[turn.batch.runner], self._make_place()
        command = runner.command(place, batch.targets)
        follower = runner.follow(place, batch.targets) if isinstance(runner, Followed) else None
        traits = traits_of(runner)
        gauge = _Gauge(self, turn, follower, _BUILDING_SEC if traits.is_building else _STARTING_SEC)
        result = self._where.toolbox.starter(batch.targets[0].root).run(
            command.argv,
            cwd=command.cwd,
            timeout=_LONGEST_SEC if follower is not None else gauge.allowance,
            env=command.env,
            custody=Custody(is_over=gauge.is_over, last_words=traits.last_words),
        )
        cases = runner.parse(Ended(result, place.reports, place, batch.targets))
        standing = follower.look() if follower is not None else None
        reason = self.stopped if not gauge.late and result.ended_for == "asked" else ""
        return judge_batch(Run(batch, place.root, result, cases, follower, standing, gauge.late, reason))

    def limit_of(self, target: Target) -> float:
        return target.timeout_sec or self._options.target_timeout_sec

    @property
    def is_failing_fast(self) -> bool:
        return self._options.fail_fast


class _Gauge:
    """Whether a batch may go on."""

    def __init__(self, pool: Pool, turn: _Turn, follower: Follower | None, starting_sec: float) -> None:
        self._pool, self._turn, self._follower = pool, turn, follower
        self._limits = {target.id: pool.limit_of(target) for target in turn.batch.targets}
        self._starting_sec = starting_sec
        self.allowance = sum(self._limits.values()) + starting_sec
        self._next_look = 0.0
        self._since = time.monotonic()
        self.late = ""

    def is_over(self) -> bool:
        now = time.monotonic()
        if now < self._next_look:
            return False
        self._next_look = now + _LOOK_SEC
        if self._pool.stopped:
            return True
        if self._follower is None:
            return False
        standing = self._follower.look()
        if standing.target != self._turn.standing.target:
            self._since = now
        self._turn.standing = standing
        if standing.failed and self._pool.is_failing_fast:
            self._pool._stop_runs("fail_fast")  # noqa: SLF001 - one of its own
        return self._is_late(standing, now - self._since)

    def _is_late(self, standing: Standing, took: float) -> bool:
        if standing.target:
            if took > self._limits.get(standing.target, self.allowance):
                self.late = standing.target
            return bool(self.late)
        # Nothing has begun, or the last one has ended: what all of them share may hang as well.
        return took > max(self._limits.values()) + self._starting_sec
