"""A look at files by the linters that are used on them."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from codeplane.core.errors import ProgramFailed, ProgramMissing
from codeplane.core.paths import RepoPath
from codeplane.core.text import lines_of
from codeplane.git.history.hunks import diff_hunks
from codeplane.lint.diagnostic import FORMAT, Diagnostic, Finding
from codeplane.lint.linter import UNPLACED, Files, Linter, Project, Unreadable, Watch
from codeplane.lint.plan import Job, Plan, Ranges, Wanted, planned, uses
from codeplane.lint.positions import Normal
from codeplane.lint.runs import Runs, Where, failure, shortened

# Formatters say which files, not which lines: that takes a run for each file.
_MOST_LOCATED: Final = 40
_LOCATING_SEC: Final = 15
_MOST_UNPLACED: Final = 5
# A problem of more lines than this is where it begins.
_MOST_LINES: Final = 10


@dataclass(frozen=True)
class LintReport:
    """What was found."""

    diagnostics: tuple[Diagnostic, ...] = ()
    ran: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)  # what is not installed, and what to do
    notes: tuple[str, ...] = ()
    outside: int = 0  # findings in what is no file of the repository

    @property
    def by_tool(self) -> dict[str, int]:
        return dict(Counter(one.tool for one in self.diagnostics).most_common())

    @property
    def by_rule(self) -> dict[str, int]:
        return dict(Counter(one.rule for one in self.diagnostics).most_common())


@dataclass(frozen=True)
class Checked:
    """A report with what led to it, for who goes on to fix."""

    report: LintReport
    runs: Runs
    plan: Plan

    def users(self, path: RepoPath) -> list[tuple[Linter, Project]]:
        """The linters that look at a file, in order, each with its project."""
        matches: dict[str, tuple[Linter, Project]] = {}
        for job in self.plan.jobs:
            if self.plan.roots[job.linter.name].get(path) == job.project.root:
                matches.setdefault(job.linter.name, (job.linter, job.project))
        return list(matches.values())


@dataclass(frozen=True)
class _Ran:
    """What came of one run."""

    job: Job
    findings: Sequence[Finding] = ()
    note: str = ""
    missing: str = ""

    @property
    def has_failed(self) -> bool:
        return bool(self.missing) or (bool(self.note) and not self.findings)


def check(files: Files, where: Where, wanted: Wanted, watch: Watch) -> LintReport:
    """Runs the linters that are used and tells what they find. Nothing is written into the tree."""
    return checked(files, where, wanted, watch).report


def checked(files: Files, where: Where, wanted: Wanted, watch: Watch) -> Checked:
    """Runs the linters that are used; the report, with what a fixing run needs."""
    plan = planned(files, uses(files, where.settings, wanted.tools), wanted)
    runs = Runs(where, watch)
    job_results = runs.each(plan.jobs, lambda job: _run_job(runs, job), lambda job: job.linter.name)
    normal = Normal(files, where.place)
    diagnostics = [one for ran in job_results for one in _normalise_findings(normal, plan, ran)]
    located_findings = _locate_formatting(files, runs, plan, diagnostics)
    diagnostics_kept = sorted(_drop_duplicates(_on_changed(located_findings, wanted.changed)))
    missing = {ran.job.linter.name: ran.missing for ran in job_results if ran.missing}
    notes = [*plan.notes, *(note for ran in job_results for note in _notes_of(ran))]
    ran_names = dict.fromkeys(ran.job.linter.name for ran in job_results if not ran.has_failed)
    report = LintReport(
        tuple(diagnostics_kept), tuple(ran_names), missing, tuple(dict.fromkeys(notes)), normal.outside
    )
    return Checked(report, runs, plan)


def _run_job(runs: Runs, job: Job) -> _Ran:
    linter = job.linter
    try:
        command = linter.command(runs.where.place, job.project, job.files)
        outcome = runs.run(linter, job.project, command)
    except ProgramMissing:
        return _Ran(job, missing=linter.install)
    except ProgramFailed as error:
        return _Ran(job, note=error.message)
    try:
        findings = linter.parse(outcome)
    except Unreadable as error:
        return _Ran(job, note=failure(linter.name, outcome, str(error)))
    if outcome.is_cut or outcome.code is None or outcome.code < 0 or (outcome.code and not findings):
        return _Ran(job, findings, failure(linter.name, outcome))
    return _Ran(job, findings)


def _notes_of(ran: _Ran) -> Iterator[str]:
    """Why it has failed, and what it has said of no file."""
    if ran.note:
        yield ran.note
    for one in [one for one in ran.findings if not one.path][:_MOST_UNPLACED]:
        yield shortened(f"{ran.job.linter.name}: {one.rule}: {one.message}")


def _normalise_findings(normal: Normal, plan: Plan, ran: _Ran) -> list[Diagnostic]:
    """Only in files of the project that was run in: an inner one has other rules."""
    job = ran.job
    roots = plan.roots[job.linter.name]
    files = {path: root for path, root in roots.items() if root == job.project.root}
    cwd = normal.place.cwd(job.project)
    findings = [one for one in ran.findings if one.path]
    return normal.diagnostics(job.linter.name, cwd, findings, files)


def _locate_formatting(files: Files, runs: Runs, plan: Plan, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Files that would be formatted otherwise, by the places where they would."""
    projects = {(job.linter.name, job.project.root): job for job in plan.jobs}
    open_ones = [one for one in found if one.rule == FORMAT and one.has_fix]
    work = [(one, projects[one.tool, plan.roots[one.tool][one.path]]) for one in open_ones[:_MOST_LOCATED]]
    end = time.monotonic() + _LOCATING_SEC
    diagnostics = runs.each(
        work,
        lambda pair: [pair[0]] if time.monotonic() > end else _formatting_places(files, runs, *pair),
        lambda pair: pair[0].tool,
    )
    others = [one for one in found if not (one.rule == FORMAT and one.has_fix)]
    return [*others, *(one for ones in diagnostics for one in ones), *open_ones[_MOST_LOCATED:]]


def _formatting_places(files: Files, runs: Runs, one: Diagnostic, job: Job) -> list[Diagnostic]:
    data = files.data(one.path)
    command = job.linter.formatting(runs.where.place, job.project, one.path)
    if data is None or command is None:
        return [one]
    try:
        new = job.linter.fixed(runs.run(job.linter, job.project, command, data), data)
    except (ProgramFailed, Unreadable):
        return [one]
    lines = lines_of(data)
    return [_place_diagnostic(one, lines, hunk.old, hunk.old_end) for hunk in diff_hunks(data, new)] or [one]


def _place_diagnostic(one: Diagnostic, lines: Sequence[str], first: int, end: int) -> Diagnostic:
    """Lines counted from 0; what would only be inserted is at the line before it."""
    line = first + 1 if end > first else max(1, first)
    last = max(line, end)
    text = f"{'These lines' if last > line else 'This line'} would be formatted otherwise."
    column = len(lines[last - 1]) + 1 if last <= len(lines) else 1
    return replace(one, line=line, end_line=last, end_column=column, message=text)


def _on_changed(
    found: Sequence[Diagnostic], changed: Mapping[RepoPath, Ranges | None] | None
) -> list[Diagnostic]:
    return [one for one in found if changed is None or _is_changed(one, changed.get(one.path, ()))]


def _is_changed(one: Diagnostic, ranges: Ranges | None) -> bool:
    if ranges is None or one.message == UNPLACED:
        return True
    is_short = one.end_line - one.line < _MOST_LINES or one.rule == FORMAT
    last = one.end_line if is_short else one.line
    return any(first <= last and one.line < end for first, end in ranges)


def _drop_duplicates(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Each problem once, whichever of the tools and runs has told it first."""
    diagnostics: dict[tuple[object, ...], Diagnostic] = {}
    for one in found:
        key = (one.path, one.line, one.column, one.rule, one.message)
        diagnostics.setdefault(key if one.rule != FORMAT else (*key, one.tool), one)
    return list(diagnostics.values())
