"""Formatters as normalisers: what transforms have written gets the form that the project keeps.

A file that its formatter would leave as it is gets formatted as a whole. In another one only the lines that
were touched are, and only by a formatter that can. Anything else would bury a change among others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from codeplane.core.errors import ProgramError, ProgramMissing
from codeplane.core.paths import RepoPath
from codeplane.delta.formatted_lines import (
    Lines,
    has_mixed_ends,
    keep_lines,
    touched_lines,
    with_ends_of,
)
from codeplane.delta.simulation import Formatting, FormattingObstacle
from codeplane.languages.operations.registry import formatter_of
from codeplane.lint.linter import UNPLACED, Files, Formatter, Project, Unreadable, Watch
from codeplane.lint.plan import Job, Use, Wanted, planned, uses
from codeplane.lint.positions import Normal
from codeplane.lint.runs import Runs, Where, failure
from codeplane.process import Finished
from codeplane.process.command import Command
from codeplane.working_tree import digest_of

_MOST_PLACES: Final = 8  # of one file; each takes a run
_LONGEST_SEC: Final = 20  # of one run: a call that validates has to end in time as well
_DIFFERENCES: Final = 1  # the code with which a formatter says that files differ


class _Skipped(Exception):
    """Why a text stays as it was written."""

    def __init__(self, obstacle: FormattingObstacle, note: str) -> None:
        super().__init__(note)
        self.obstacle, self.note = obstacle, note


@dataclass(frozen=True)
class _User:
    """A formatter in a project that uses it, with a file of that project."""

    formatter: Formatter
    project: Project
    path: RepoPath

    def key(self, data: bytes) -> tuple[str, RepoPath, str]:
        return self.formatter.name, self.path, digest_of(data)


@dataclass
class Normaliser:
    """Formats files of one validation; nothing is asked twice about the same bytes."""

    open_files: Callable[[], Files]
    where: Where
    watch: Watch
    is_trusted: bool
    expected: Sequence[RepoPath] = ()  # files that will be asked about: what is on disk is checked in one run
    _outputs: dict[tuple[str, RepoPath, str], bytes | _Skipped] = field(default_factory=dict)
    _fixed_points: dict[tuple[str, RepoPath, str], bool] = field(default_factory=dict)
    _abandoned: dict[str, _Skipped] = field(default_factory=dict)
    _surveyed: set[str] = field(default_factory=set)

    def __call__(self, path: RepoPath, language: str, before: bytes, after: bytes, /) -> Formatting:
        """The text after a change as the project would have it; as it was written where that can't be had."""
        name = formatter_of(language)
        use = self._uses.get(name) if name is not None else None
        user = self._user_of(use, path) if use is not None else None
        if use is None or user is None:
            return Formatting(after)
        try:
            if not self.is_trusted:
                raise _Skipped("untrusted", f"{name} was not run: the user has not trusted this repository.")
            self._survey(use)
            if self._is_fixed_point(user, before):
                return Formatting(self._formatted_whole(user, after))
            return Formatting(self._formatted_lines(user, before, after))
        except _Skipped as skip:
            return Formatting(after, f"{skip.note} The text is as the operations wrote it.", skip.obstacle)

    @cached_property
    def _files(self) -> Files:
        return self.open_files()

    @cached_property
    def _uses(self) -> dict[str, Use]:
        return {use.linter.name: use for use in uses(self._files, self.where.settings) if not use.off}

    @cached_property
    def _runs(self) -> Runs:
        settings = self.where.settings
        limits = {"timeout_sec": min(settings.timeout_sec, _LONGEST_SEC)}
        return Runs(replace(self.where, settings=settings.model_copy(update=limits)), self.watch)

    def _user_of(self, use: Use, path: RepoPath) -> _User | None:
        jobs = planned(self._files, [use], Wanted([path])).jobs
        if not jobs or not isinstance(use.linter, Formatter):
            return None
        return _User(use.linter, jobs[0].project, path)

    def _is_fixed_point(self, user: _User, data: bytes) -> bool:
        key = user.key(data)
        if key not in self._fixed_points:
            self._fixed_points[key] = self._output_for(user, data) == data
        return self._fixed_points[key]

    def _formatted_whole(self, user: _User, data: bytes) -> bytes:
        output = self._output_for(user, data)
        # What a formatter has written itself is in its form: the next task on the file need not ask.
        self._fixed_points[user.key(output)] = True
        return output

    def _formatted_lines(self, user: _User, before: bytes, after: bytes) -> bytes:
        name, places = user.formatter.name, touched_lines(before, after)
        if not places:
            return after
        if len(places) > _MOST_PLACES:
            raise _Skipped("lines", f"{name} was not run: {len(places)} places of the file are touched.")
        if has_mixed_ends(after) or not _is_utf8(after):
            raise _Skipped("lines", f"{name} was not run: the file has mixed line ends, or is not UTF-8.")
        text, is_narrowed = after, False
        # From the end, so that the numbers of the lines before stay as they are.
        for lines in reversed(places):
            output = with_ends_of(text, self._output_of_lines(user, text, lines))
            text = keep_lines(text, output, lines)
            is_narrowed |= text != output
        # Half of what a formatter does may mean something else; what it formats alike means the same.
        if is_narrowed and self._output_for(user, text) != self._output_for(user, after):
            raise _Skipped("lines", f"{name} would not format the touched lines alone.")
        return text

    def _output_of_lines(self, user: _User, data: bytes, lines: Lines) -> bytes:
        formatter = user.formatter
        try:
            command = formatter.formatting_lines(
                self.where.place, user.project, user.path, data, (lines.first, lines.last)
            )
        except ProgramMissing:
            raise _missing(formatter) from None
        if command is None:
            text = f"{formatter.name} formats whole files, and the file was not in its form before."
            raise _Skipped("lines", text)
        return self._run(user, command, data)

    def _output_for(self, user: _User, data: bytes) -> bytes:
        """All of a text as the formatter writes it; the same bytes succeed once, or fail once."""
        key = user.key(data)
        if key not in self._outputs:
            try:
                self._outputs[key] = self._whole_output(user, data)
            except _Skipped as skip:
                self._outputs[key] = skip
        output = self._outputs[key]
        if isinstance(output, _Skipped):
            raise output
        return output

    def _whole_output(self, user: _User, data: bytes) -> bytes:
        try:
            command = user.formatter.formatting(self.where.place, user.project, user.path)
        except ProgramMissing:
            raise _missing(user.formatter) from None
        return self._run(user, command, data) if command is not None else data

    def _run(self, user: _User, command: Command, data: bytes) -> bytes:
        formatter = user.formatter
        if formatter.name in self._abandoned:
            raise self._abandoned[formatter.name]
        try:
            outcome = self._runs.run(formatter, user.project, command, data)
        except ProgramError as error:
            raise _Skipped("failed", error.message) from None
        try:
            output = formatter.fixed(outcome, data)
        except Unreadable:
            raise self._failed(formatter, outcome) from None
        if not output.strip() and data.strip():
            raise _Skipped("failed", f"{formatter.name} printed nothing.")
        return output

    def _failed(self, formatter: Formatter, outcome: Finished) -> _Skipped:
        how = f"{formatter.name} printed more than is read." if outcome.is_cut else ""
        skip = _Skipped("failed", how or failure(formatter.name, outcome))
        if outcome.code is None:  # it hangs or floods, and would with the next file
            self._abandoned[formatter.name] = skip
        return skip

    def _survey(self, use: Use) -> None:
        """Has a formatter look at all expected files that it is used on at once, as they are on disk."""
        if use.linter.name in self._surveyed:
            return
        self._surveyed.add(use.linter.name)
        there = set(self._files.paths())
        wanted = Wanted([path for path in self.expected if path in there])
        for job in planned(self._files, [use], wanted).jobs:
            if job.files is not None and len(job.files) > 1:
                self._survey_job(job, job.files)

    def _survey_job(self, job: Job, paths: Sequence[RepoPath]) -> None:
        before = {path: self._files.data(path) for path in paths}
        try:
            command = job.linter.command(self.where.place, job.project, paths)
            outcome = self._runs.run(job.linter, job.project, command)
            findings = job.linter.parse(outcome)
        except (ProgramError, Unreadable):
            return  # each file on its own tells why
        if outcome.is_cut or outcome.code not in (0, _DIFFERENCES) or (outcome.code and not findings):
            return
        normal = Normal(self._files, self.where.place)
        states = {normal.path(command.cwd, one.path): one.message == UNPLACED for one in findings}
        for path, data in before.items():
            # One that has problems of another kind is asked about on its own.
            if data is not None and states.get(path, True) and self._files.data(path) == data:
                self._fixed_points[job.linter.name, path, digest_of(data)] = path not in states


def _missing(formatter: Formatter) -> _Skipped:
    return _Skipped("missing", f"{formatter.name} is not installed ({formatter.install}).")


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
