"""What the end of a batch means for each of its targets, and which of them have to be run again."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import basename, dirname
from typing import Final

from codeplane.process import Finished
from codeplane.testrun.batches import Batch
from codeplane.testrun.results import Case, End, Status
from codeplane.testrun.runner import Follower, Standing
from codeplane.testrun.stacks import stopped_at
from codeplane.testrun.target import Target
from codeplane.testrun.text import what_was_said

_SHELL_SIGNAL: Final = 128


@dataclass
class BatchOutcome:
    """How one batch ended."""

    cases: list[Case]
    ends: dict[str, End] = field(default_factory=dict)  # by the ids of targets
    again: list[tuple[Target, ...]] = field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """A batch that was run."""

    batch: Batch
    root: Path
    finished: Finished
    cases: Sequence[Case]
    follower: Follower | None
    standing: Standing | None  # None for a runner that cannot be followed
    late: str  # the target that has taken too long; "" for none
    stopped: str  # why the whole run ends: `fail_fast`, `time`; "" where it goes on


def judge_batch(run: Run) -> BatchOutcome:
    """Who is to blame for a batch that did not come to its end, and who has yet to be run."""
    outcome = BatchOutcome(list(run.cases))
    targets = {case.target for case in run.cases}
    if _is_complete(run):
        # What stands in the way of all of them has kept the others from being looked at.
        is_stuck = any(not case.target and case.is_bad for case in run.cases)
        silent = End.NOT_RUN if is_stuck else End.NO_TESTS
        for target in run.batch.targets:
            outcome.ends[target.id] = End.DONE if target.id in targets else silent
        return outcome
    starts = targets if run.standing is None else {*run.standing.begun, *targets}
    culprit = _find_culprit(run)
    left = [target for target in run.batch.targets if target.id not in starts and target.id != culprit]
    for target in run.batch.targets:
        outcome.ends[target.id] = End.DONE if target.id in starts else End.NOT_RUN
    if run.stopped:
        if culprit and run.stopped == "time" and run.standing is not None:
            outcome.ends[culprit] = End.TIMED_OUT
            outcome.cases.append(_blame_case(run, culprit))
        elif culprit:
            outcome.ends[culprit] = End.NOT_RUN
        return outcome
    if not culprit and (stuck := [case for case in run.cases if not case.target and case.is_bad]):
        _split_batch(outcome, stuck, left)
        return outcome
    if culprit:
        outcome.ends[culprit] = End.TIMED_OUT if _is_late(run) else End.CRASHED
        outcome.cases.append(_blame_case(run, culprit))
        outcome.again = [tuple(left)] if left else []
    else:
        outcome.again = [(target,) for target in left]
    return outcome


def _is_complete(run: Run) -> bool:
    if run.standing is not None:
        if run.standing.is_complete:
            return True
        # A runner that found nothing to run has nothing to tell.
        return not run.standing.begun and not run.cases and run.finished.code in (0, 5)
    return run.finished.code is not None and 0 <= run.finished.code < _SHELL_SIGNAL


def _find_culprit(run: Run) -> str:
    if run.late:
        return run.late
    if run.standing is not None and run.standing.target:
        return run.standing.target
    if run.cases and any(not case.target for case in run.cases):
        return ""
    return run.batch.targets[0].id if len(run.batch.targets) == 1 else ""


def _split_batch(outcome: BatchOutcome, stuck: Sequence[Case], left: Sequence[Target]) -> None:
    """Nothing could be run. Where one directory's own set-up is to blame, the others can do without it."""
    places = {dirname(case.path) for case in stuck if basename(case.path) == "conftest.py"}
    if "" in places or not places:
        return
    free = [one for one in left if not any(one.path.startswith(f"{place}/") for place in places)]
    if free and len(free) < len(left):
        outcome.again = [tuple(free)]


def _is_late(run: Run) -> bool:
    return run.finished.ended_for in ("time", "asked")


def _blame_case(run: Run, culprit: str) -> Case:
    """What ended in the middle of a test, or of its file."""
    case = run.standing.case if run.standing is not None else ""
    where = run.follower.last_words() if run.follower is not None and _is_late(run) else None
    said = what_was_said(run.finished)
    if where is None and run.finished.code is not None:
        where = stopped_at(case, culprit, run.finished.said, run.root)
    kind, message = _how_it_ended(run)
    result = where or Case(case or culprit, culprit, Status.ERROR, stack=said)
    return replace(result, id=case or culprit, target=culprit, kind=kind, message=message, output=said)


def _how_it_ended(run: Run) -> tuple[str, str]:
    code = run.finished.code
    if run.finished.ended_for == "processes":
        return "TooManyProcesses", "It has started too many processes; all of them were ended."
    if run.stopped:
        return "TimedOut", "The time of the whole run was over while it ran."
    if _is_late(run):
        return "TimedOut", "It did not end in time and was killed; the rest of its file was not run."
    if code is not None and (code < 0 or code > _SHELL_SIGNAL):
        return (
            "Crashed",
            f"The process was killed by {_signal_name(-code if code < 0 else code - _SHELL_SIGNAL)}.",
        )
    return "Crashed", f"The process ended with code {code} in the middle of it."


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
