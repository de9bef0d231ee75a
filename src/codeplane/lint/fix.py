"""What linters would fix, as edits: each file goes through the tools that fix it, one after the other."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import ProgramError
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.lint.check import Checked, LintReport, checked
from codeplane.lint.diagnostic import Diagnostic
from codeplane.lint.linter import Files, Formatter, Linter, Project, Unreadable, Watch
from codeplane.lint.plan import Wanted
from codeplane.lint.positions import Normal
from codeplane.lint.runs import Where, failure
from codeplane.working_tree import digest_of


@dataclass(frozen=True)
class Proposed:
    """Edits that nobody has made yet, and what they leave."""

    change: Change
    tools: tuple[str, ...]  # that have changed something
    left: tuple[Diagnostic, ...]  # problems that no tool fixes, at their places before
    report: LintReport  # before


@dataclass
class _File:
    """One file on its way through the tools."""

    path: RepoPath
    old: bytes
    new: bytes
    tools: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def fixes(files: Files, where: Where, wanted: Wanted, watch: Watch) -> Proposed:
    """What the tools would make of the files. The tools read from stdin and print: no file is written."""
    result = checked(files, where, wanted, watch)
    fixable: dict[RepoPath, set[str]] = {}
    for one in result.report.diagnostics:
        if one.has_fix:
            fixable.setdefault(one.path, set()).add(one.tool)
    # Read before any tool reads them: what changes from here on is refused by the engine.
    drafts = [_File(path, data, data) for path in fixable if (data := files.data(path)) is not None]
    contents = _fixed_at_once(files, result, fixable)
    results = result.runs.each(
        drafts,
        lambda file: _fix_file(result, file, fixable[file.path], contents),
        lambda file: shown(file.path),
    )
    files_changed = [file for file in results if file.new != file.old]
    edits = EditSet(tuple(FileEdit(file.path, digest_of(file.old), file.new) for file in files_changed))
    notes = [note for file in results for note in file.notes]
    return Proposed(
        Change(edits, {file.path: file.old for file in files_changed}),
        tuple(dict.fromkeys(tool for file in files_changed for tool in file.tools)),
        tuple(one for one in result.report.diagnostics if not one.has_fix),
        _with_notes(result.report, notes),
    )


def _fixed_at_once(
    files: Files, found: Checked, fixable: Mapping[RepoPath, Collection[str]]
) -> Mapping[tuple[str, RepoPath], bytes]:
    """What tools that are slow to start make of all their files in one run, by tool and path."""
    contents: dict[tuple[str, RepoPath], bytes] = {}
    normal = Normal(files, found.runs.where.place)
    for job in found.plan.jobs:
        linter = job.linter
        paths = [path for path in job.files or () if linter.name in fixable.get(path, ())]
        command = linter.fixing_all(normal.place, job.project, paths) if len(paths) > 1 else None
        if command is None:
            continue
        try:
            outputs = linter.fixed_all(found.runs.run(linter, job.project, command))
        except (ProgramError, Unreadable):
            continue  # each file on its own tells why
        for said, data in outputs.items():
            if path := normal.path(command.cwd, said):
                contents[linter.name, path] = data
    return contents


def _fix_file(
    found: Checked, file: _File, flagged: set[str], known: Mapping[tuple[str, RepoPath], bytes]
) -> _File:
    for linter, project in found.users(file.path):
        is_changed = file.new != file.old
        if not is_changed and (linter.name, file.path) in known:
            file.new = known[linter.name, file.path]
            file.tools.append(linter.name)
        # What an earlier tool has changed is new to those after it.
        elif linter.fixes and (linter.name in flagged or is_changed):
            _through_one(found, file, linter, project)
    return file


def _through_one(found: Checked, file: _File, linter: Linter, project: Project) -> None:
    command = linter.fixing(found.runs.where.place, project, file.path)
    if command is None:
        return
    try:
        outcome = found.runs.run(linter, project, command, file.new)
    except ProgramError as error:
        file.notes.append(f"{shown(file.path)} is not fixed: {error.message}")
        return
    try:
        new = linter.fixed(outcome, file.new)
    except Unreadable:
        file.notes.append(f"{shown(file.path)} is not fixed: {failure(linter.name, outcome)}")
        return
    # An import that nobody needs may be all that a file has; what is laid out anew does not go away.
    if not new and file.new.strip() and isinstance(linter, Formatter):
        file.notes.append(f"{shown(file.path)} is not fixed: {linter.name} printed nothing.")
    elif new != file.new:
        file.new = new
        file.tools.append(linter.name)


def _with_notes(report: LintReport, notes: list[str]) -> LintReport:
    lines = (*report.notes, *notes)
    return LintReport(report.diagnostics, report.ran, report.missing, lines, report.outside)
