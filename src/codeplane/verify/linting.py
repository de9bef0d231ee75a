"""Whether the linters of a repository find more in a copy with the edits than in one without."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from codeplane.config.settings import LintSettings
from codeplane.core.paths import RepoPath
from codeplane.lint import Diagnostic, LintReport, Place, Wanted, Watch, Where, check
from codeplane.process import Programs
from codeplane.process.toolbox import Toolbox
from codeplane.verify.trial import Trial
from codeplane.verify.verdict import Checked, Finding, Outcome

_Kind = tuple[RepoPath, str, str]
"""File, linter and rule."""


@dataclass(frozen=True)
class Style:
    """The linters of a repository, and the files that may be worse for an edit besides those edited."""

    settings: LintSettings
    programs: Programs
    near: Collection[RepoPath] = ()


def lints_clean(trial: Trial, style: Style, watch: Watch) -> Checked:
    """Runs the linters on the edited files and those near them, without the edits and with them."""
    trial.restore()
    before = _lint_paths(trial, style, {*trial.change.before, *style.near}, watch)
    trial.edit()
    after = _lint_paths(trial, style, {*trial.change.contents, *style.near}, watch)
    findings = tuple(
        Finding(f"{one.tool} {one.rule}: {one.message}", one.path, one.line)
        for one in _new_problems(trial, before.diagnostics, after.diagnostics)
    )
    if not after.ran and not after.missing and not after.notes:
        return Checked("lint", Outcome.PASSED, "No linter is set up for these files.")
    text = f"{', '.join(after.ran) or 'no linter'} ran; {len(after.diagnostics)} problems"
    text += f", {len(before.diagnostics)} without the edits"
    wrong = [f"{name} is not installed ({what})" for name, what in sorted(after.missing.items())]
    text += "".join(f"; {one}" for one in (*wrong, *after.notes))
    outcome = Outcome.NOT_RUN if wrong or after.notes else Outcome.PASSED
    return Checked("lint", Outcome.FAILED if findings else outcome, f"{text}.", findings)


def _lint_paths(trial: Trial, style: Style, paths: Collection[RepoPath], watch: Watch) -> LintReport:
    place = Place(trial.root, Toolbox(style.programs, trial.root), trial.reports / "lint")
    there = sorted(set(trial.paths()).intersection(paths))
    return check(trial, Where(place, style.settings), Wanted(there), watch)


def _new_problems(
    trial: Trial, before: Sequence[Diagnostic], after: Sequence[Diagnostic]
) -> Iterator[Diagnostic]:
    """Of each file, linter and rule, the problems beyond as many as there were.

    Those whose message is new come first; messages may name what the edits have renamed.
    """
    was: dict[_Kind, Counter[str]] = defaultdict(Counter)
    for one in before:
        was[one.path, one.tool, one.rule][one.message] += 1
    now: dict[_Kind, list[Diagnostic]] = defaultdict(list)
    for one in after:
        origin = trial.change.origins.get(one.path, one.path)
        now[origin, one.tool, one.rule].append(one)
    for kind, diagnostics in sorted(now.items()):
        more = len(diagnostics) - was[kind].total()
        yield from sorted(diagnostics, key=lambda one: one.message in was[kind])[: max(0, more)]
