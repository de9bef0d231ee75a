import json
import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from codeplane.answers.coverage import CoverageReport, told_coverage, why_not_covered
from codeplane.answers.failures import Failure, Rest, failure_lines, failures_by_cause, page_of
from codeplane.answers.output import Output
from codeplane.answers.tests import MOST_LISTED, not_done, summary_of, told_impact
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.operation.tests import Asked, Tested, run_tests
from codeplane.session.test_selection import Chosen, choose
from codeplane.testrun.results import Case, End
from codeplane.tools._parameters import AffectedBy
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

_NO_MODULE = re.compile(r"No module named '(\w+)")
# A run has a deadline of its own; the one of calls is far beyond it.
_LONGEST_SEC = 90_000.0


class RunTestTargetsInput(Input):
    affected_by: AffectedBy | None = Field(
        default=None, description="`changes` (what differs from HEAD) or paths: only the tests they affect."
    )
    target_filter: Annotated[str | list[str] | None, synonyms("targets", "target", "filter", "pattern")] = (
        Field(default=None, max_length=500, description="Parts of names, or globs.")
    )
    tests: Annotated[list[str] | None, synonyms("test", "ids", "test_ids")] = Field(
        default=None, max_length=200, description="Single tests: `tests/test_a.py::test_x`."
    )
    fail_fast: bool | None = Field(default=None, description="Stop at the first failure.")
    timeout_sec: Annotated[float | None, synonyms("timeout")] = Field(
        default=None, gt=0, le=86_400, description="Limit of the whole run.", json_schema_extra=UNLISTED
    )
    rerun: bool | None = Field(
        default=None, description="Run failures again to find flaky ones.", json_schema_extra=UNLISTED
    )
    coverage: bool | None = Field(
        default=None, description="Of what the tests import.", json_schema_extra=UNLISTED
    )
    baseline: bool = Field(default=False, description="Run failures at HEAD too, to see which are new.")
    cursor: str | None = Field(default=None, description="More failures of a run; runs nothing.")


class RunTestTargetsOutput(Output):
    ok: bool = Field(description="Whether tests were run and none failed.")
    summary: str = Field(description="Counts and time.")
    failures: list[Failure] | None = Field(
        default=None, description="Failures: one example of each cause, then the others."
    )
    more: int | None = Field(default=None, description="Failures beyond those.")
    next_cursor: str | None = Field(default=None, description="Continues the failures.")
    flaky: list[str] | None = Field(default=None, description="Tests that failed, then passed when rerun.")
    not_done: dict[str, list[str]] | None = Field(
        default=None, description="Targets that timed out, crashed, were not run or have no tests."
    )
    stopped: str | None = Field(default=None, description="Why not everything was run: fail_fast or time.")
    selection: str | None = Field(default=None, description="`complete`, or `partial` with the reasons.")
    fingerprint: str | None = Field(
        default=None, description="Of all failures; unchanged after an edit means no progress."
    )
    suite: str | None = Field(
        default=None, description="Identical for the same tests with the same outcomes."
    )
    changed_files: list[str] | None = Field(
        default=None, description="Files that changed while the tests ran."
    )
    coverage: CoverageReport | None = Field(default=None, description="Coverage.")
    operation: str | None = Field(default=None, description="Id in the ledger.")

    def is_done(self) -> bool:
        return self.ok

    def render(self) -> str:
        lines = [self.summary, *failure_lines(self.failures or ())]
        if self.next_cursor:
            lines.append(f'{self.more} more: run_test_targets {{"cursor": "{self.next_cursor}"}}')
        lines += [f"flaky: {one}" for one in self.flaky or ()]
        lines += [f"{how}: {', '.join(ids)}" for how, ids in (self.not_done or {}).items()]
        if self.stopped:
            lines.append(f"stopped early: {self.stopped}")
        if self.selection and self.selection != "complete":
            lines.append(f"selection: {self.selection}")
        if self.changed_files:
            lines.append(f"the tests changed: {', '.join(self.changed_files)}")
        if self.coverage is not None:
            lines += self.coverage.lines()
        return "\n".join(lines)


@tool(Effect.WRITE, "testing", standard=True, timeout_sec=_LONGEST_SEC)
def run_test_targets(call: Call, args: RunTestTargetsInput) -> RunTestTargetsOutput:
    """Runs tests in parallel; reports failures with `path:line`, passes as a count.

    Needs a trusted repository.

    Use when:
    - something has changed: affected_by "changes"
    Examples:
    - What a change affects: {"affected_by": "changes"}
    - One test: {"tests": ["tests/test_a.py::test_x"]}
    - Some files: {"target_filter": "tests/api/", "fail_fast": true}
    """
    if args.cursor is not None:
        return _continued(call, Rest.resumed(call, args.cursor))
    asked_for = args.target_filter or ()
    filters = [asked_for] if isinstance(asked_for, str) else asked_for
    choice = call.ask(lambda snapshot: choose(call, snapshot, args.affected_by, filters, args.tests or ()))
    for note in choice.notes:
        call.warn(note)
    if not choice.targets:
        return _nothing(call, choice)
    options = Asked(args.fail_fast, args.timeout_sec, args.rerun, args.coverage, args.baseline)
    return _told(call, choice, run_tests(call, choice, options), options)


def _nothing(call: Call, choice: Chosen) -> RunTestTargetsOutput:
    if not choice.discovery.targets:
        call.warn("Found neither tests nor a test runner.")
    elif choice.impact is not None:
        call.next_actions.append("run_test_targets {}")
    return RunTestTargetsOutput(
        ok=False, summary="no test targets: nothing was run", selection=told_impact(choice.impact)
    )


def _continued(call: Call, rest: Rest) -> RunTestTargetsOutput:
    page, left = page_of(rest)
    first, last = rest.begun + 1, rest.begun + len(page)
    return RunTestTargetsOutput(
        ok=False,
        summary=f"failures {first} to {last} of {rest.begun + len(rest.failures)}",
        failures=page,
        more=len(left.failures) if left is not None else None,
        next_cursor=left.kept(call) if left is not None else None,
    )


def _told(call: Call, choice: Chosen, run: Tested, options: Asked) -> RunTestTargetsOutput:
    report = run.report
    failures = report.failures
    for note in report.notes:
        call.warn(note)
    if report.ended(End.TIMED_OUT) and not report.stopped:
        limit = call.repo.checkout.settings.tests.target_timeout_sec
        call.warn(f"Each target gets {limit:g} s, builds more; tests.target_timeout_sec sets it.")
    if missing := _own_missing(call, failures):
        call.warn(
            f"{missing} is this repository's own, and the environment of the tests cannot import it:"
            " pip install -e ."
        )
    paths = [shown(change.path) for change in run.changes]
    lines = failures_by_cause(failures, run.earlier_failures)
    page, left = page_of(Rest(failures=tuple(lines)))
    _advise(call, choice, run, [one for one in lines if one.same_as is None and one.before is None])
    if options.coverage and run.coverage is None:
        call.warn(f"Coverage was not measured: {why_not_covered(choice.discovery.runners)}.")
    return RunTestTargetsOutput(
        ok=not failures and bool(report.cases) and not report.stopped,
        summary=_render_summary(run, sum(one.same_as is None for one in lines)),
        failures=page or None,
        more=len(left.failures) if left is not None else None,
        next_cursor=left.kept(call) if left is not None else None,
        flaky=sorted(report.flaky)[:MOST_LISTED] or None,
        not_done=not_done(report) or None,
        stopped=report.stopped or None,
        selection=told_impact(choice.impact),
        fingerprint=run.failure,
        suite=report.fingerprint,
        changed_files=paths[:MOST_LISTED] or None,
        coverage=told_coverage(call, run.coverage) if run.coverage is not None else None,
        operation=run.operation_id,
    )


def _own_missing(call: Call, failures: Sequence[Case]) -> str:
    """A package of the repository that Python has not found; "" where there is none."""
    said = (_NO_MODULE.search(case.message) for case in failures if case.kind == "ModuleNotFoundError")
    names = {result[1] for result in said if result is not None}
    if not names:
        return ""
    homes = {f"{place}{name}/__init__.py": name for name in names for place in ("", "src/", "lib/")}
    return call.ask(
        lambda snapshot: next((homes[path] for path in snapshot.lookup.paths if path in homes), "")
    )


def _render_summary(run: Tested, causes: int) -> str:
    """The counts; how many causes there are where that is fewer, and how many failures are not new."""
    failures = run.report.failures
    parts = [summary_of(run.report)]
    if 0 < causes < len(failures):
        parts.append(f"{causes} cause{'s' if causes != 1 else ''}")
    if run.earlier_failures:
        parts.append(f"{len(run.earlier_failures)} of {len(failures)} failures pre-existing")
    return "; ".join(parts)


def _advise(call: Call, choice: Chosen, run: Tested, new: Sequence[Failure]) -> None:
    """The calls that usually come next, by one example of each new cause."""
    places = [one.at for one in new if one.at is not None and ":" in one.at]
    if places:
        call.next_actions.append(f'read_source {{"targets": {json.dumps(places[:3])}}}')
    ids = [one.test for one in new if "::" in one.test][:3]
    if ids:
        # Of a tree with changes it may be asked what is theirs.
        again = {"tests": ids, **({"baseline": True} if run.has_changes and not run.known_at_head else {})}
        call.next_actions.append(f"run_test_targets {json.dumps(again)}")
    if not run.report.failures and choice.impact is not None and choice.impact.confidence == "partial":
        call.next_actions.append("run_test_targets {}")
