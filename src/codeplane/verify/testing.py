"""Whether the tests that lead to edited files still pass in a copy with the edits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from codeplane.config.settings import TestSettings
from codeplane.core.errors import TestRunnerNotFound
from codeplane.core.paths import RepoPath
from codeplane.graph.tests.impact import Impact
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from codeplane.testrun import Case, Target
from codeplane.testrun.discover import Discovery, discover
from codeplane.testrun.results import Report, Status
from codeplane.testrun.run import Options, Watch, Where, run
from codeplane.verify.environments import python_path
from codeplane.verify.trial import Trial
from codeplane.verify.verdict import Checked, Finding, Outcome

_ENDED: Final = {"time": "time ran out", "fail_fast": "it stops at the first failure"}


@dataclass(frozen=True)
class Suite:
    """The tests of a repository, and which of them an edit concerns."""

    settings: TestSettings
    programs: Programs
    options: Options
    impact: Impact  # of the edited files, before they are edited


def tests_pass(trial: Trial, suite: Suite, watch: Watch) -> Checked:
    """Runs the tests that are concerned; those that fail count unless they fail without the edits too."""
    trial.edit()
    discovery = discover(trial, suite.settings)
    tests = _moved_tests(trial, suite.impact)
    targets = [one for one in discovery.targets if any(map(one.runs, tests))]
    if not targets:
        return Checked("tests", Outcome.PASSED, f"No test reaches the edits{_partial_note(suite)}.")
    try:
        report = _run_targets(trial, suite, discovery, targets, watch)
    except TestRunnerNotFound as error:
        return Checked("tests", Outcome.NOT_RUN, error.message)
    cases, failing_before = report.failures, set()
    if cases:
        failing_before = _failing_before(trial, suite, {case.target for case in cases}, watch)
    findings = tuple(_finding_of(case) for case in cases if _id_before(trial, case.id) not in failing_before)
    return _summarise_report(report, findings, len(cases) - len(findings), suite)


def tested(trial: Trial, suite: Suite, targets: Collection[str], watch: Watch) -> Report | None:
    """What comes of targets in the copy as it is; None where it has none of them."""
    discovery = discover(trial, suite.settings)
    selection = [one for one in discovery.targets if one.id in targets]
    return _run_targets(trial, suite, discovery, selection, watch) if selection else None


def _summarise_report(report: Report, findings: tuple[Finding, ...], known: int, suite: Suite) -> Checked:
    counts = report.counts
    text = f"{counts[Status.PASSED]} passed, {counts[Status.FAILED] + counts[Status.ERROR]} failed"
    text += f" in {len(report.targets)} files or suites"
    if known:
        text += f"; {known} fail without the edits too"
    if report.flaky:
        text += f"; {len(report.flaky)} passed when rerun"
    if report.stopped:
        text += f"; not all ran: {_ENDED.get(report.stopped, report.stopped)}"
    text += "".join(f"; {note}" for note in report.notes) + _partial_note(suite)
    is_whole = not report.stopped and not report.notes
    outcome = Outcome.PASSED if is_whole else Outcome.NOT_RUN
    return Checked("tests", Outcome.FAILED if findings else outcome, f"{text}.", findings)


def _partial_note(suite: Suite) -> str:
    impact = suite.impact
    return f" (incompletely known: {'; '.join(impact.reasons)})" if impact.reasons else ""


def _run_targets(
    trial: Trial, suite: Suite, found: Discovery, targets: Sequence[Target], watch: Watch
) -> Report:
    path = python_path(trial.original, trial.root)
    # What is compiled is taken for that of any file that has its time and its size.
    env = {**suite.programs.env, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    toolbox = Toolbox(Programs(env), trial.root)
    where = Where(trial.root, toolbox, trial.reports / ("after" if trial.is_edited else "before"))
    return run(targets, where, suite.options, watch, found.runners)


def _failing_before(trial: Trial, suite: Suite, targets: Collection[str], watch: Watch) -> set[str]:
    """The ids of tests that fail in the copy without the edits, among targets with failures."""
    trial.restore()
    discovery = discover(trial, suite.settings)
    ids = {_id_before(trial, one) for one in targets}
    again = [one for one in discovery.targets if one.id in ids]
    if not again:
        return set()
    calm = replace(suite, options=replace(suite.options, rerun_failures=False))
    return {case.id for case in _run_targets(trial, calm, discovery, again, watch).cases if case.is_bad}


def _id_before(trial: Trial, text: str) -> str:
    """An id with the paths of files that move as they are now."""
    for path, origin in trial.change.origins.items():
        if path != origin and text.startswith(path):
            return origin + text[len(path) :]
    return text


def _moved_tests(trial: Trial, impact: Impact) -> set[RepoPath]:
    """The tests that are concerned, where they are once the edits are made."""
    there = {origin: path for path, origin in trial.change.origins.items()}
    return {there.get(one.path, one.path) for one in impact.tests}


def _finding_of(case: Case) -> Finding:
    kind = f"{case.kind}: " if case.kind else ""
    return Finding(f"{case.id}: {kind}{case.message}", RepoPath(case.path) if case.path else None, case.line)
