"""A whole run: batches in parallel, failures once more, one report."""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from codeplane.testrun.batch_outcome import BatchOutcome
from codeplane.testrun.batches import batches
from codeplane.testrun.pool import Options, Pool, Watch, Where
from codeplane.testrun.results import Case, End, Report, Status, TargetResult
from codeplane.testrun.runner import Narrowing, Runner
from codeplane.testrun.runners import RUNNERS
from codeplane.testrun.target import Target

# Of so many failures none is told to be flaky: running them again would take as long as they did.
_MOST_RERUN: Final = 100
_NOT_RERUN: Final = ("TimedOut", "TooManyProcesses", "UsageError", "RunnerFailed")


def run(
    targets: Sequence[Target],
    where: Where,
    options: Options,
    watch: Watch,
    runners: Mapping[str, Runner] = RUNNERS,
) -> Report:
    """Runs targets and says what came of each; raises what the watch raises, and TestRunnerNotFound where
    nothing could be run for want of a runner."""
    began = time.monotonic()
    pool = Pool(where, options, runners, watch, began + options.total_timeout_sec)
    outcomes = pool.run_all(batches(targets, options.workers, runners))
    if pool.missing and not any(outcome.cases for outcome in outcomes):
        raise pool.missing[0]
    cases = _all_cases(outcomes)
    order = {target.id: number for number, target in enumerate(targets)}
    cases.sort(key=lambda case: order.get(case.target, -1))  # not as batches happened to end
    flaky: frozenset[str] = frozenset()
    if options.rerun_failures and not pool.stopped:
        flaky = _find_flaky(cases, targets, pool, runners, options.workers)
    return Report(
        cases,
        _target_results(targets, outcomes, cases),
        flaky,
        pool.stopped,
        tuple(dict.fromkeys(error.message for error in pool.missing)),
        time.monotonic() - began,
        options.workers,
    )


def _all_cases(outcomes: Sequence[BatchOutcome]) -> list[Case]:
    """Every test that was run, several of the same name too, so that counts are those of the runner.

    What stands in the way of several targets or batches is told once.
    """
    cases: list[Case] = []
    before: set[tuple[str, str, str, str, int]] = set()
    for outcome in outcomes:
        here = set()
        for case in (_name_case(one.shown()) for one in outcome.cases):
            key = (case.id, case.target, case.message, case.path, case.line)
            if key in before or (case.status is Status.ERROR and key in here):
                continue
            here.add(key)
            cases.append(case)
        before |= here
    return cases


def _name_case(case: Case) -> Case:
    """With an id by which a call may name it: one that begins with its target, or is that of a file."""
    is_plain = not case.target or case.id == case.target or "/" in case.id.partition("::")[0]
    if is_plain or case.id.startswith(f"{case.target}::"):
        return case
    return replace(case, id=f"{case.target}::{case.id}")


def _target_results(
    targets: Sequence[Target], outcomes: Sequence[BatchOutcome], cases: Sequence[Case]
) -> list[TargetResult]:
    ends: dict[str, End] = {}
    for outcome in outcomes:
        ends |= outcome.ends
    counts: dict[str, Counter[Status]] = defaultdict(Counter)
    seconds: dict[str, float] = defaultdict(float)
    for case in cases:
        counts[case.target][case.status] += 1
        seconds[case.target] += case.seconds
    return [
        TargetResult(one, ends.get(one.id, End.NOT_RUN), counts[one.id], seconds[one.id]) for one in targets
    ]


def _find_flaky(
    cases: Sequence[Case],
    targets: Sequence[Target],
    pool: Pool,
    runners: Mapping[str, Runner],
    workers: int,
) -> frozenset[str]:
    """The tests that failed, and did not when they were run once more."""
    failures = [case for case in cases if case.is_bad and case.target and case.kind not in _NOT_RERUN]
    if not failures or len(failures) > _MOST_RERUN:
        return frozenset()
    by_target: dict[str, list[str]] = defaultdict(list)
    for case in failures:
        by_target[case.target].append(case.id)
    again = [
        _rerun_target(one, by_target[one.id], runners[one.runner]) for one in targets if one.id in by_target
    ]
    second = _all_cases(pool.run_all(batches(again, workers, runners)))
    better = {case.id for case in second if case.status is Status.PASSED}
    worse = {case.id for case in second if case.is_bad}
    return frozenset(case.id for case in failures if case.id in better - worse)


def _rerun_target(target: Target, tests: Sequence[str], runner: Runner) -> Target:
    """The failed tests of a target, where its runner runs single ones; those of a file that could not even
    be read are the file itself."""
    single = [test for test in dict.fromkeys(tests) if test not in (target.id, target.path, target.selector)]
    if not isinstance(runner, Narrowing) or len(single) < len(set(tests)):
        return target
    return replace(runner.narrowed(target, single), cost=1.0)


__all__ = ["Options", "Report", "Watch", "Where", "run"]
