"""What linters would fix, as edits: each file goes through the tools that fix it, one after the other."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from codeplane.core.edits import EditSet, FileEdit
from codeplane.core.errors import ProgramError
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.lint.check import Checked, LintReport, checked
from codeplane.lint.diagnostic import Diagnostic
from codeplane.lint.linter import Files, Formatter, Linter, Project, Unreadable, Watch
from codeplane.lint.plan import Wanted
from codeplane.lint.runs import Where, failure
from codeplane.truth import digest_of


@dataclass(frozen=True)
class Proposed:
    """Edits that nobody has made yet, and what they leave."""

    edits: EditSet
    old: Mapping[RepoPath, bytes]  # what the edits were made for
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
    found = checked(files, where, wanted, watch)
    fixable: dict[RepoPath, set[str]] = {}
    for one in found.report.diagnostics:
        if one.has_fix:
            fixable.setdefault(one.path, set()).add(one.tool)
    paths = list(fixable)
    done = found.runs.each(paths, lambda path: _through(files, found, path, fixable[path]), shown)
    changed = [file for file in done if file is not None and file.new != file.old]
    edits = EditSet(tuple(FileEdit(file.path, digest_of(file.old), file.new) for file in changed))
    notes = [note for file in done if file is not None for note in file.notes]
    return Proposed(
        edits,
        {file.path: file.old for file in changed},
        tuple(dict.fromkeys(tool for file in changed for tool in file.tools)),
        tuple(one for one in found.report.diagnostics if not one.has_fix),
        _with_notes(found.report, notes),
    )


def _through(files: Files, found: Checked, path: RepoPath, flagged: set[str]) -> _File | None:
    data = files.data(path)
    if data is None:
        return None
    file = _File(path, data, data)
    for linter, project in found.users(path):
        # What an earlier tool has changed is new to those after it.
        if linter.fixes and (linter.name in flagged or file.new != file.old):
            _through_one(found, file, linter, project)
    return file


def _through_one(found: Checked, file: _File, linter: Linter, project: Project) -> None:
    command = linter.fixing(found.runs.where.place, project, file.path)
    if command is None:
        return
    try:
        finished = found.runs.run(linter, project, command, file.new)
    except ProgramError as error:
        file.notes.append(f"{shown(file.path)} is not fixed: {error.message}")
        return
    try:
        new = linter.fixed(finished, file.new)
    except Unreadable:
        file.notes.append(f"{shown(file.path)} is not fixed: {failure(linter.name, finished)}")
        return
    # An import that nobody needs may be all that a file has; what is laid out anew does not go away.
    if not new and file.new.strip() and isinstance(linter, Formatter):
        file.notes.append(f"{shown(file.path)} is not fixed: {linter.name} printed nothing.")
    elif new != file.new:
        file.new = new
        file.tools.append(linter.name)


def _with_notes(report: LintReport, notes: list[str]) -> LintReport:
    told = (*report.notes, *notes)
    return LintReport(report.diagnostics, report.ran, report.missing, told, report.outside)
