import json
from collections.abc import Sequence, Sized
from typing import Annotated

from pydantic import Field

from codeplane.answers.change import Delta, told
from codeplane.answers.output import Output
from codeplane.answers.pages import clamped
from codeplane.jail import shown
from codeplane.lint import Diagnostic, LintReport
from codeplane.session import Call
from codeplane.session.linting import Asked, Fixed, fix, lint
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._schema import UNLISTED

MOST = 200
# The longest that all linters may take, before and after a fix.
_LONGEST_SEC = 3600
_MOST_RULES = 15
_MOST_NAMED = 5
_SEVERITIES = ("error", "warning", "info")


class LintCheckInput(Input):
    paths: Annotated[list[str] | None, synonyms("files", "path", "file")] = Field(
        default=None, max_length=500, description="Files, directories, patterns."
    )
    tools: Annotated[list[str] | None, synonyms("linters", "tool", "linter")] = Field(
        default=None, max_length=30, description="Linters by name.", json_schema_extra=UNLISTED
    )
    changed_lines: Annotated[bool, synonyms("changed", "changed_only")] = Field(
        default=False, description="Only lines that differ from `base`."
    )
    base: Annotated[str | None, synonyms("since")] = Field(
        default=None,
        min_length=1,
        max_length=300,
        description="Commit; default: HEAD.",
        json_schema_extra=UNLISTED,
    )
    fix: bool = Field(default=False, description="Make the fixes.")
    dry_run: Annotated[bool, synonyms("preview")] = Field(
        default=False, description="Show fixes only.", json_schema_extra=UNLISTED
    )
    limit: int = Field(default=50, description="Most problems, up to 200.", json_schema_extra=UNLISTED)


class LintFile(Output):
    path: str = Field(description="File.")
    problems: list[str] = Field(
        description="`line:column-end severity rule: message (tool)` in order of position."
    )


class LintCheckOutput(Output):
    summary: str = Field(description="Counts.")
    files: list[LintFile] = Field(description="Problems file by file; errors first where not all fit.")
    more: int | None = Field(default=None, description="Problems beyond those.")
    by_tool: dict[str, int] | None = Field(default=None, description="Problems of each linter.")
    by_rule: dict[str, int] | None = Field(default=None, description="Problems of the most frequent rules.")
    ran: list[str] = Field(description="Linters that gave a result.")
    missing: list[str] | None = Field(default=None, description="Linters in use but not installed.")
    notes: list[str] | None = Field(default=None, description="Why a linter could not run.")
    outside: int | None = Field(default=None, description="Problems outside the repository.")
    fixed_by: list[str] | None = Field(default=None, description="Linters that changed files.")
    fix: Delta | None = Field(default=None, description="What was changed, or would be.")

    def render(self) -> str:
        lines = [self.summary]
        for file in self.files:
            lines += [file.path, *(f"  {one}" for one in file.problems)]
        if self.more:
            rules = ", ".join(f"{rule} {count}" for rule, count in (self.by_rule or {}).items())
            lines.append(f"{self.more} more problems; by rule: {rules}")
        if self.outside:
            lines.append(f"{self.outside} more outside the repository")
        lines += [f"missing: {one}" for one in self.missing or ()]
        lines += [f"note: {one}" for one in self.notes or ()]
        if not self.files and self.ran:
            lines.append(f"ran: {', '.join(self.ran)}")
        if self.fix is not None:
            lines.append(self.fix.render())
        return "\n".join(lines)


@tool(Effect.WRITE, "lint", standard=True, timeout_sec=_LONGEST_SEC, reads_state=True)
def lint_check(call: Call, args: LintCheckInput) -> LintCheckOutput:
    """Runs the linters and formatters that the repository uses; problems as data. Fixes can be undone.

    Examples:
    - What you have changed: {"changed_lines": true}
    - Fix a directory: {"paths": ["src"], "fix": true}
    """
    limit = clamped(call, "limit", args.limit, MOST)
    base = args.base or ("HEAD" if args.changed_lines else None)
    request = Asked(tuple(args.paths or ()), tuple(args.tools or ()), base)
    if not args.fix:
        report = lint(call, request)
        if any(one.has_fix for one in report.diagnostics):
            call.next_actions.append(_fixing(args, dry_run=True))
        return _make_output(report, limit)
    outcome = fix(call, request, dry_run=args.dry_run)
    if args.dry_run and outcome.result is not None:
        call.next_actions.append(_fixing(args, dry_run=False))
    return _make_output(
        outcome.report, limit, outcome, told(call, outcome.result) if outcome.result is not None else None
    )


def _fixing(args: LintCheckInput, *, dry_run: bool) -> str:
    """The call that shows the fixes of what was asked about, or makes them."""
    path_arguments = {"paths": args.paths[:_MOST_NAMED]} if args.paths else {}
    tools = {"tools": args.tools} if args.tools else {}
    arguments = {**path_arguments, **tools, "fix": True, **({"dry_run": True} if dry_run else {})}
    return f"lint_check {json.dumps(arguments, ensure_ascii=False)}"


def _make_output(
    report: LintReport, limit: int, outcome: Fixed | None = None, delta: Delta | None = None
) -> LintCheckOutput:
    diagnostics = report.diagnostics
    remaining = sorted(sorted(diagnostics, key=lambda one: _SEVERITIES.index(one.severity))[:limit])
    rules = report.by_rule
    return LintCheckOutput(
        summary=_render_summary(report, outcome),
        files=_files(remaining),
        more=len(diagnostics) - len(remaining) or None,
        by_tool=report.by_tool or None,
        by_rule=dict(list(rules.items())[:_MOST_RULES]) or None,
        ran=list(report.ran),
        missing=[f"{name}: {to_do}" for name, to_do in report.missing.items()] or None,
        notes=list(report.notes) or None,
        outside=report.outside or None,
        fixed_by=list(outcome.tools) or None if outcome is not None else None,
        fix=delta,
    )


def _files(diagnostics: Sequence[Diagnostic]) -> list[LintFile]:
    by_path: dict[str, list[str]] = {}
    for one in diagnostics:
        by_path.setdefault(shown(one.path), []).append(one.told)
    return [LintFile(path=path, problems=problems) for path, problems in by_path.items()]


def _render_summary(report: LintReport, outcome: Fixed | None) -> str:
    diagnostics = report.diagnostics
    if not report.ran and not report.missing and not report.notes:
        text = "No linter ran: none is set up for these files"
    elif not report.ran:
        text = "No linter gave a result" if report.notes else "No linter ran"
    elif not diagnostics:
        text = "No problems"
    else:
        kinds = [(sum(one.severity == kind for one in diagnostics), kind) for kind in _SEVERITIES]
        counts = ", ".join(f"{count} {kind}" for count, kind in kinds if count)
        files = _many({one.path for one in diagnostics}, "file")
        text = f"{_many(diagnostics, 'problem')} in {files} ({counts})"
    fixable = sum(one.has_fix for one in diagnostics)
    parts = [text, f"{fixable} fixable"] if fixable else [text]
    if outcome is not None:
        file_changes = outcome.result.changes if outcome.result is not None else ()
        is_done = outcome.result is not None and outcome.result.operation_id is not None
        verb = "fixed" if is_done else "would be fixed"
        did = f"{_many(file_changes, 'file')} {verb}" if file_changes else "nothing to fix"
        parts.insert(0, did)
        parts[1] = f"left: {parts[1][0].lower()}{parts[1][1:]}"
    return "; ".join(parts)


def _many(items: Sized, what: str) -> str:
    return f"{len(items)} {what}{'s' if len(items) != 1 else ''}"
