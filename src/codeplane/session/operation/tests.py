"""Test runs as operations: allowed, charged, on record, with what they have done to the tree."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from codeplane.core.edits import FileChange
from codeplane.core.errors import CodePlaneError
from codeplane.core.ids import OperationId
from codeplane.ledger import TEST_RUN, Operation, failure_fingerprint
from codeplane.process.toolbox import Toolbox
from codeplane.session.call import Call
from codeplane.session.operation.envelope import Envelope, changed_files, refresh_index
from codeplane.session.test_baseline import Before
from codeplane.session.test_selection import Chosen
from codeplane.session.trust import require_trust
from codeplane.testrun.costs import Costs
from codeplane.testrun.coverage import Coverage, read_coverage
from codeplane.testrun.results import Case, End, Report
from codeplane.testrun.run import Options, Watch, Where, run
from codeplane.testrun.runners._lines import LEARNT

_MOST_WORKERS: Final = 8
_MOST_ON_RECORD: Final = 100
_MOST_STACKS: Final = 5


@dataclass(frozen=True)
class Asked:
    """How a run shall be made; what is None is as the settings say."""

    fail_fast: bool | None = None
    timeout_sec: float | None = None
    rerun: bool | None = None
    coverage: bool | None = None
    baseline: bool = False  # whether targets with failures are run at HEAD as well


@dataclass(frozen=True)
class Tested:
    """A run that has ended."""

    operation_id: OperationId
    report: Report
    failure: str | None  # fingerprint of what has failed
    changes: tuple[FileChange, ...]  # of indexed files, made while the tests ran
    coverage: Coverage | None = None
    # Commits at which tests have failed already, by their ids.
    earlier_failures: Mapping[str, str] = field(default_factory=dict)
    has_changes: bool = False  # whether the tree differs from HEAD
    known_at_head: bool = False  # the failing targets were run at HEAD too


def check_trusted(call: Call) -> None:
    """Tests are the repository's own code."""
    require_trust(call.repo.checkout, "Tests run the repository's own code")


def run_tests(call: Call, choice: Chosen, asked: Asked) -> Tested:
    """Runs targets; the row is in the ledger and the index knows what they changed when it returns."""
    check_trusted(call)
    test_run = _Run(call)
    test_run.envelope.charge("test_run")
    head = Before(call)
    options = _run_options(call, choice, asked)
    try:
        with _report_directory() as scratch:
            where = Where(call.repo.checkout.root, toolbox(call), scratch)
            report = run(
                choice.targets, where, options, Watch(call.check, call.progress), choice.discovery.runners
            )
            coverage = read_coverage(scratch, where.root) if options.coverage else None
            if options.coverage:
                _learn_coverage(call, sorted(scratch.glob(f"*/{LEARNT}")))
    except Exception as error:
        with suppress(CodePlaneError):
            test_run.record(test_run.envelope.failed(error))
        raise
    _remember_costs(call, choice, report)
    failure = fingerprint_of(report.failures)
    row = test_run.ended(report, failure)
    earlier_failures = head.compare(report, options if asked.baseline else None)
    test_run.record(row)
    if failure is not None:
        call.signal(call.repo.tasks.note_failure(call.task, failure))
    return Tested(
        row.operation_id,
        report,
        failure,
        row.changes,
        coverage,
        earlier_failures,
        head.has_changes,
        asked.baseline,
    )


def toolbox(call: Call) -> Toolbox:
    return Toolbox(call.repo.checkout.programs, call.repo.checkout.root)


def fingerprint_of(failures: Sequence[Case]) -> str | None:
    """Equal for equal failures of another run; None where nothing has failed."""
    if not failures:
        return None
    by_id = sorted(failures, key=lambda case: case.id)
    stacks = "\n".join(case.stack or case.message for case in by_id[:_MOST_STACKS])
    return failure_fingerprint([case.id for case in by_id], by_id[0].kind, stacks, 1)


def _run_options(call: Call, choice: Chosen, asked: Asked) -> Options:
    settings = call.repo.checkout.settings.tests
    is_covered = settings.coverage if asked.coverage is None else asked.coverage
    root = call.repo.checkout.root
    return Options(
        workers=settings.workers or min(_processor_count(), _MOST_WORKERS),
        target_timeout_sec=settings.target_timeout_sec,
        total_timeout_sec=asked.timeout_sec or settings.run_timeout_sec,
        fail_fast=settings.fail_fast if asked.fail_fast is None else asked.fail_fast,
        rerun_failures=settings.rerun_failures if asked.rerun is None else asked.rerun,
        coverage=tuple(root / place for place in choice.source_roots or ("",)) if is_covered else (),
    )


def _processor_count() -> int:
    """The processors that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


@contextmanager
def _report_directory() -> Iterator[Path]:
    """A directory for reports, outside of the repository: a suite may delete what it finds there."""
    directory = Path(tempfile.mkdtemp(prefix="codeplane-tests-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _remember_costs(call: Call, choice: Chosen, report: Report) -> None:
    """Times of targets that were run whole."""
    whole = {target.id: target for target in choice.discovery.targets}
    seconds = {
        one.target.id: one.seconds
        for one in report.targets
        if one.end is End.DONE
        and one.target.selector == whole[one.target.id].selector
        and not one.target.only
    }
    try:
        Costs(call.repo.state_db).note(choice.targets, seconds)
    except CodePlaneError as error:
        call.warn(f"The cost of the tests was not recorded: {error.message}")


def _learn_coverage(call: Call, reports: Sequence[Path]) -> None:
    """What the tests have run, for the choice of tests after the next change."""
    try:
        call.repo.refresh()
        with call.seen() as snapshot:
            call.repo.coverage_map.learn(snapshot, reports)
    except CodePlaneError as error:
        call.warn(f"The coverage of the tests was not recorded: {error.message}")


class _Run:
    """One run in its envelope, and the repository before it."""

    def __init__(self, call: Call) -> None:
        refresh_index(call)
        self._call = call
        self._before = call.repo.states.now()
        self._digests = call.repo.index.digests()
        self.envelope = Envelope(call, TEST_RUN, repo_before=self._before.hex())

    def ended(self, report: Report, failure: str | None) -> Operation:
        failures = report.failures
        return self.envelope.ended(
            success=not failures,
            changes=self._changes(),
            failure_fingerprint=failure,
            failure_class=(failures[0].kind or "TestFailed") if failures else None,
            failing_tests=tuple(case.id for case in failures[:_MOST_ON_RECORD]),
        )

    def record(self, row: Operation) -> None:
        self.envelope.record(row, self._call.repo.states.since(self._before, row.operation_id))

    def _changes(self) -> tuple[FileChange, ...]:
        """What differs now. A problem there is told; the tests were run in any case."""
        call = self._call
        try:
            with call.repo.states.looking():
                call.repo.refresh()
            return changed_files(self._digests, call.repo.index.digests())
        except CodePlaneError as error:
            call.warn(f"The tests ran, but it is unknown what they changed: {error.message}")
            return ()
