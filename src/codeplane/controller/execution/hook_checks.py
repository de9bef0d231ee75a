"""The hooks of validate nodes, run by the server: parse, lint, tests that reach the change, named tests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from codeplane.controller.execution.nodes import Hook
from codeplane.core.errors import CodePlaneError, NotTrusted
from codeplane.core.paths import Digest, RepoPath
from codeplane.jail import shown
from codeplane.session import Call
from codeplane.session.linting import Asked as LintRequest
from codeplane.session.linting import lint
from codeplane.session.operation.tests import Asked as TestRequest
from codeplane.session.operation.tests import run_tests
from codeplane.session.test_selection import choose
from codeplane.working_tree import digest_of

HookOutcome = Literal["passed", "failed", "not_run"]
_BROKEN: Final = ("partial", "failed")
_MOST_FAILURES: Final = 20
_LONGEST_MESSAGE: Final = 500


@dataclass(frozen=True)
class ChangedFile:
    """A file that changes have touched, and its digest before them."""

    path: RepoPath
    base: str


@dataclass(frozen=True)
class HookReport:
    """What one hook said."""

    hook: Hook
    outcome: HookOutcome
    text: str
    failures: tuple[str, ...] = ()
    fingerprint: str = ""

    def to_json(self) -> dict[str, Any]:
        """The report as bundles and answers have it."""
        values: dict[str, Any] = {"hook": self.hook.label, "outcome": self.outcome, "text": self.text}
        return {**values, **({"failures": list(self.failures)} if self.failures else {})}


@dataclass(frozen=True)
class ValidationReport:
    """What the hooks of a node said together.

    It passes where none failed and one at least passed. Where the repository is not trusted, nothing of it
    runs: tests and linters are told as not run, and parsing decides.
    """

    node_id: str
    hooks: tuple[HookReport, ...] = field(default=())

    @property
    def has_passed(self) -> bool:
        """Whether the node is done."""
        is_failed = any(one.outcome == "failed" for one in self.hooks)
        return not is_failed and any(one.outcome == "passed" for one in self.hooks)

    @property
    def signature(self) -> str:
        """What failed, equal for equal failures; "" where nothing did."""
        if self.has_passed:
            return ""
        parts = [one.fingerprint or one.hook.label for one in self.hooks if one.outcome == "failed"]
        return ",".join(parts)[:200] or "nothing was run"

    def to_json(self) -> dict[str, Any]:
        """The report as bundles and answers have it."""
        return {
            "nodeId": self.node_id,
            "passed": self.has_passed,
            "hooks": [one.to_json() for one in self.hooks],
        }

    def render(self) -> str:
        """The report as an agent reads it."""
        idle = [
            one.hook.label for one in self.hooks if one.outcome == "not_run" and one.hook.kind != "review"
        ]
        word = ("passed in part" if idle else "passed") if self.has_passed else "failed"
        lines = [f"validation {self.node_id} {word}"]
        for one in self.hooks:
            lines.append(f"  {one.hook.label}: {one.outcome.replace('_', ' ')}, {one.text}")
            lines += [f"    {failure}" for failure in one.failures[:5]]
        return "\n".join(lines)


def run_hooks(
    call: Call, node_id: str, hooks: Sequence[Hook], files: Sequence[ChangedFile]
) -> ValidationReport:
    """Runs the hooks in order; a hook that can't run is told, not passed over."""
    reports = []
    for hook in hooks or (Hook("parse"),):
        call.check()
        try:
            reports.append(_run_hook(call, hook, files))
        except NotTrusted as error:
            reports.append(HookReport(hook, "not_run", error.message))
        except CodePlaneError as error:
            outcome: HookOutcome = "failed" if hook.kind == "named_tests" else "not_run"
            reports.append(HookReport(hook, outcome, error.message))
    return ValidationReport(node_id, tuple(reports))


def _run_hook(call: Call, hook: Hook, files: Sequence[ChangedFile]) -> HookReport:
    match hook.kind:
        case "parse":
            return _parse_files(call, hook, files)
        case "lint":
            return _lint_files(call, hook, files)
        case "review":
            return HookReport(hook, "not_run", "a person looks at it")
        case _:
            return _test_files(call, hook, files)


def _parse_files(call: Call, hook: Hook, files: Sequence[ChangedFile]) -> HookReport:
    """Every file that could be parsed before the change can be parsed after it."""
    contents = {one.path: data for one in files if (data := _content_of(call, one.path)) is not None}
    now = call.repo.index.parsed(contents)
    bases = {one.path: old for one in files if one.base and (old := call.repo.earlier(Digest(one.base)))}
    before = call.repo.index.parsed(bases)
    failures = [
        f"{shown(path)}: {parse_result.reason}"
        for path, parse_result in sorted(now.items())
        if parse_result.state in _BROKEN and not (path in before and before[path].state in _BROKEN)
    ]
    text = f"{len(contents)} files parsed" if not failures else f"{len(failures)} files do not parse"
    return HookReport(hook, "failed" if failures else "passed", text, tuple(failures))


def _lint_files(call: Call, hook: Hook, files: Sequence[ChangedFile]) -> HookReport:
    """Linters find no error in the lines that differ from HEAD."""
    paths = [str(one.path) for one in files if _content_of(call, one.path) is not None]
    if not paths:
        return HookReport(hook, "not_run", "no file is left to check")
    report = lint(call, LintRequest(tuple(paths), (), "HEAD"))
    if not report.ran:
        return HookReport(hook, "not_run", "no linter is set up for these files")
    errors = [one for one in report.diagnostics if one.severity == "error"]
    text = f"{', '.join(report.ran)}: {len(errors)} errors, {len(report.diagnostics) - len(errors)} others"
    failures = tuple(f"{shown(one.path)}:{one.told}"[:_LONGEST_MESSAGE] for one in errors[:_MOST_FAILURES])
    return HookReport(hook, "failed" if errors else "passed", text, failures)


def _test_files(call: Call, hook: Hook, files: Sequence[ChangedFile]) -> HookReport:
    """Tests that the plan names, or those that the change reaches; of these, failures at HEAD don't count."""
    paths = [str(one.path) for one in files]
    affected_by = None if hook.tests else paths
    choice = call.ask(lambda snapshot: choose(call, snapshot, affected_by, (), hook.tests))
    if not choice.targets:
        return HookReport(hook, "not_run", "no test reaches the change")
    result = run_tests(call, choice, TestRequest(baseline=not hook.tests))
    report = result.report
    failures = [case for case in report.failures if case.id not in result.earlier_failures]
    count = len(report.cases)
    lines = tuple(f"{case.id}: {case.message}"[:_LONGEST_MESSAGE] for case in failures[:_MOST_FAILURES])
    if failures or not count or report.stopped:
        why = f"{len(failures)} of {count} tests fail" if failures else report.stopped or "no test was run"
        return HookReport(hook, "failed", why, lines, result.failure or "")
    known_failures = len(report.failures) - len(failures)
    more = f", {known_failures} fail at HEAD too" if known_failures else ""
    return HookReport(hook, "passed", f"{count - known_failures} of {count} tests pass{more}")


def _content_of(call: Call, path: RepoPath) -> bytes | None:
    try:
        return call.repo.tree.read(path)
    except CodePlaneError:
        return None


def digest_text(data: bytes | None) -> str:
    """The digest of a content; "" where there is none."""
    return str(digest_of(data)) if data is not None else ""
