"""Deltas carried out in memory, one task after the other: later ones see what earlier ones have done."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

from codeplane.core.errors import CodePlaneError
from codeplane.core.paths import RepoPath
from codeplane.delta.assertions import failed_assertions
from codeplane.delta.model import Delta, Element, Transform
from codeplane.delta.targets import Finders, Places, captured_arguments, describe_places, places_for
from codeplane.languages.operations import (
    Arguments,
    Match,
    Operation,
    OperationRefused,
    Source,
    operations_of,
)
from codeplane.languages.operations.checking import check_arguments
from codeplane.languages.operations.registry import pack_of
from codeplane.languages.operations.run import run_operation
from codeplane.languages.query import LARGEST, errors_in, first_error, is_too_broken, is_too_deep
from codeplane.languages.spec import language_of

ProblemKind = Literal[
    "unresolvable",
    "blocked",
    "validator",
    "missing_file",
    "closed",
    "target",
    "refused",
    "argument",
    "assertion",
    "syntax",
    "version",
    "call_site",
]
_MOST_PLACES: Final = 50
_FIRST_BYTES: Final = 200  # that a language is told by where the name of a file does not


class Problem(NamedTuple):
    """Why a task is red."""

    kind: ProblemKind
    path: RepoPath
    text: str
    details: tuple[str, ...] = ()  # candidates, near misses, open places; a line each


class Place(NamedTuple):
    """Where a transform matched, in the file as that transform saw it."""

    transform: int
    line: int
    end_line: int


@dataclass(frozen=True)
class ElementOutcome:
    """What an element makes of its file."""

    path: RepoPath
    before: bytes
    after: bytes
    places: Sequence[Place] = ()
    notes: Sequence[str] = ()
    edit_count: int = 0
    is_formatted: bool = False


@dataclass(frozen=True)
class TaskOutcome:
    """What a task makes of the files, or why it can't."""

    elements: Sequence[ElementOutcome] = ()
    problems: Sequence[Problem] = ()

    @property
    def is_green(self) -> bool:
        """Whether every transform and every assertion held."""
        return not self.problems

    @property
    def is_already(self) -> bool:
        """Whether the files were as they should be."""
        return all(element.before == element.after for element in self.elements)


FormattingObstacle = Literal["untrusted", "missing", "failed", "lines"]


class Formatting(NamedTuple):
    """A file as its formatter leaves it, or as it was written with what stood in the way."""

    data: bytes
    note: str | None = None
    obstacle: FormattingObstacle | None = None


class Formatter(Protocol):
    """Brings what transforms have written into the form of the project."""

    def __call__(self, path: RepoPath, language: str, before: bytes, after: bytes, /) -> Formatting: ...


class ProjectChange(NamedTuple):
    """What an operation beyond one file does: new contents, and the places that it leaves."""

    contents: dict[RepoPath, bytes]
    notes: Sequence[str] = ()
    open_places: Sequence[str] = ()
    refusal: str | None = None


class ProjectOperations(Protocol):
    """Operations that go beyond one file, by the refactoring engine with its proof."""

    def __call__(
        self, element: Element, transform: Transform, read: Callable[[RepoPath], bytes | None], /
    ) -> ProjectChange: ...


def _as_written(_path: RepoPath, _language: str, _before: bytes, after: bytes) -> Formatting:
    return Formatting(after)


@dataclass
class Simulation:
    """The files as they are while tasks are carried out in memory."""

    read_file: Callable[[RepoPath], bytes | None]  # of the working tree
    finders: Finders
    project_operations: ProjectOperations | None = None
    formatter: Formatter = _as_written
    check: Callable[[], None] = lambda: None  # raises where the call has ended
    why_closed: Callable[[RepoPath], str] = lambda _: ""  # the rule against writing a file
    why_missing: Callable[[RepoPath], str] = lambda _: "The file is not there, or can't be read."
    contents: dict[RepoPath, bytes] = field(default_factory=dict)
    _sources: dict[tuple[RepoPath, str], Source] = field(default_factory=dict)
    _is_there: dict[str, bool] = field(default_factory=dict)  # files of the working tree

    def read(self, path: RepoPath) -> bytes | None:
        """A file as the tasks so far have left it."""
        return self.contents[path] if path in self.contents else self.read_file(path)

    def run(self, delta: Delta) -> TaskOutcome:
        """Carries a task out. Where something is red, the files stay as they were before the task."""
        before = dict(self.contents)
        elements: list[ElementOutcome] = []
        problems: list[Problem] = []
        for element in delta.elements:
            self.check()
            run = _ElementRun(self, element)
            elements += run.outcomes()
            problems += run.problems
        if problems:
            self.contents = before
        return TaskOutcome(elements, problems)

    def _has_file(self, path: str) -> bool:
        """Asked many times of the same paths: where imports go depends on which packages are there."""
        if RepoPath(path) in self.contents:
            return True
        if path not in self._is_there:
            self._is_there[path] = self.read_file(RepoPath(path)) is not None
        return self._is_there[path]

    def source_of(self, path: RepoPath, language: str, data: bytes) -> Source:
        """The tree of a file as it is now; parsed once for each state."""
        earlier = self._sources.get((path, language))
        if earlier is not None and earlier.data == data:
            return earlier
        source = self._sources[path, language] = Source(language, data, path, self._has_file, earlier)
        return source

    def keep_source(self, path: RepoPath, source: Source) -> None:
        """Keeps the tree of a file that an operation had to parse."""
        self._sources[path, source.language] = source


@dataclass
class _ElementRun:
    simulation: Simulation
    element: Element
    problems: list[Problem] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    edit_count: int = 0

    def outcomes(self) -> Iterator[ElementOutcome]:
        path, language = self.element.path, self.element.language
        data = self.simulation.read(path)
        if data is None:
            self._add("missing_file", self.simulation.why_missing(path))
            return
        if reason := self.simulation.why_closed(path):
            self._add("closed", reason)
            return
        if b"\0" in data:
            self._add("unresolvable", "The file is binary.")
            return
        if language is None or not operations_of(language):
            self._add("unresolvable", "No grammar pack that is switched on claims this file.")
            return
        if not _is_within_limits(self.simulation, path, language, data):
            self._add("unresolvable", "The file is too large, too deep or too broken to be parsed.")
            return
        others: dict[RepoPath, tuple[bytes, bytes]] = {}
        after = self._transformed(language, data, others)
        if self.problems:
            return
        yield self._finished(language, data, after)
        for other, (was, is_now) in sorted(others.items()):
            if other != path:
                yield self._finished_other(other, was, is_now)

    def _transformed(self, language: str, data: bytes, others: dict[RepoPath, tuple[bytes, bytes]]) -> bytes:
        for number, transform in enumerate(self.element.transforms):
            self.simulation.check()
            if transform.scope == "project" or transform.call_sites:
                data = self._beyond_the_file(transform, data, others)
            else:
                source = self.simulation.source_of(self.element.path, language, data)
                data = self._one_transform(number, transform, source)
            if self.problems:
                break
        return data

    def _one_transform(self, number: int, transform: Transform, source: Source) -> bytes:
        operation = operations_of(source.language).get(transform.operation)
        if operation is None or operation.version != transform.version:
            self._add("version", _version_text(transform, operation))
            return source.data
        try:
            places = self.simulation.finders.find(source, transform.target)
            places = places_for(operation, source, places, transform.target)
            return self._at_places(number, transform, operation, source, places)
        except OperationRefused as refusal:
            line = source.line_of(refusal.offset) if refusal.offset is not None else None
            self._add(
                "refused", f"{transform.operation}{f' at line {line}' if line else ''}: {refusal.reason}"
            )
        except CodePlaneError as error:
            self._add("target", f"{transform.operation}: {error.message}", tuple(error.hints))
        return source.data

    def _at_places(
        self, number: int, transform: Transform, operation: Operation, source: Source, places: Places
    ) -> bytes:
        matches, target = places.matches, transform.target
        arguments, errors = self._arguments(transform, operation, source, matches)
        if errors:
            for error in errors:
                self._add("argument", f"{transform.operation}: {error}")
            return source.data
        if not matches and operation.is_done(source, target.text, arguments):
            self.notes.append(f"{transform.operation}: `{target.text[:80]}` matches nothing; taken as done.")
            return source.data
        if len(matches) != transform.expect:
            details = describe_places(source, matches) if matches else list(places.candidates)
            text = _count_text(transform, len(matches), has_details=bool(details))
            if not matches and source.root.has_error:
                line = source.line_of(first_error(source.root))
                text = f"{text} Nothing is found in code that can't be parsed (line {line})."
            self._add("target", text, tuple(details))
            return source.data
        if operation.target != "file":
            self.places += [_place_of(number, source, match) for match in matches[:_MOST_PLACES]]
        result = run_operation(operation, source, matches, arguments)
        if result.after is not None:
            self.simulation.keep_source(self.element.path, result.after)
        self.edit_count += len(result.outcome.edits)
        self.notes += result.outcome.notes
        return result.data

    def _arguments(
        self, transform: Transform, operation: Operation, source: Source, matches: Sequence[Match]
    ) -> tuple[Arguments, list[str]]:
        language = source.language
        captures = captured_arguments(operation, source, matches[0]) if len(matches) == 1 else {}
        values: dict[str, Any] = {**captures, **transform.args}
        return check_arguments(operation, pack_of(language) or language, language, values)

    def _beyond_the_file(
        self, transform: Transform, data: bytes, others: dict[RepoPath, tuple[bytes, bytes]]
    ) -> bytes:
        if self.simulation.project_operations is None:
            self._add("refused", f"{transform.operation}: nothing is known of other files here.")
            return data
        path = self.element.path
        self.simulation.contents[path] = data
        try:
            change = self.simulation.project_operations(self.element, transform, self.simulation.read)
        except CodePlaneError as error:
            self._add("refused", f"{transform.operation}: {error.message}", tuple(error.hints))
            return data
        if change.refusal is not None:
            self._add("refused", f"{transform.operation}: {change.refusal}", tuple(change.open_places))
            return data
        if change.open_places and not transform.accept:
            text = (
                f"{transform.operation}: {len(change.open_places)} places are not proven and would be left"
                " (`accept: true` leaves them):"
            )
            self._add("call_site", text, tuple(change.open_places))
            return data
        self.notes += [*change.notes, *(f"left: {place}" for place in change.open_places)]
        for other, content in change.contents.items():
            was = others[other][0] if other in others else self.simulation.read(other) or b""
            others[other] = (was, content)
            self.simulation.contents[other] = content
        self.edit_count += len(change.contents)
        return change.contents.get(path, data)

    def _finished(self, language: str, before: bytes, after: bytes) -> ElementOutcome:
        path, is_formatted = self.element.path, False
        if after != before:
            formatting = self.simulation.formatter(path, language, before, after)
            is_formatted, after = formatting.data != after, formatting.data
            self.notes += [formatting.note] if formatting.note else []
        source = self.simulation.source_of(path, language, after)
        self._check_syntax(language, before, source)
        for text in failed_assertions(source, self.element.assertions, self.simulation.finders):
            self._add("assertion", text)
        self.simulation.contents[path] = after
        return ElementOutcome(
            path, before, after, tuple(self.places), tuple(self.notes), self.edit_count, is_formatted
        )

    def _finished_other(self, path: RepoPath, before: bytes, after: bytes) -> ElementOutcome:
        """Another file that an operation beyond one file has changed, formatted by the same rule."""
        language = language_of(path, after[:_FIRST_BYTES])
        if language is None or after == before:
            return ElementOutcome(path, before, after)
        formatting = self.simulation.formatter(path, language, before, after)
        self.simulation.contents[path] = formatting.data
        notes = [formatting.note] if formatting.note else []
        if formatting.obstacle in ("failed", "lines"):
            notes = [f"{path}: {note}" for note in notes]
        is_formatted = formatting.data != after
        return ElementOutcome(path, before, formatting.data, notes=tuple(notes), is_formatted=is_formatted)

    def _check_syntax(self, language: str, before: bytes, source: Source) -> None:
        """The result parses without new errors: implied for every element."""
        if source.root.has_error:
            was = Source(language, before).root
            if not was.has_error or errors_in(source.root) > errors_in(was):
                self._add("syntax", "The result would have a new syntax error.")

    def _add(self, kind: ProblemKind, text: str, details: tuple[str, ...] = ()) -> None:
        self.problems.append(Problem(kind, self.element.path, text, details))


def _is_within_limits(simulation: Simulation, path: RepoPath, language: str, data: bytes) -> bool:
    if len(data) > LARGEST:
        return False
    root = simulation.source_of(path, language, data).root
    return not (is_too_deep(root, len(data)) or is_too_broken(root))


def _place_of(number: int, source: Source, match: Match) -> Place:
    return Place(
        number,
        source.line_of(match.node.start_byte),
        source.line_of(max(match.node.start_byte, match.node.end_byte - 1)),
    )


def _version_text(transform: Transform, operation: Operation | None) -> str:
    if operation is None:
        return f"There is no operation {transform.operation}."
    return f"{transform.operation} has version {operation.version}; the delta is for {transform.version}."


def _count_text(transform: Transform, count: int, *, has_details: bool) -> str:
    target = transform.target
    name = f"`{target.text[:80]}`" if target.kind != "file" else "the file"
    if count == 0:
        return f"{transform.operation}: {name} matches nothing." + (" Nearest:" if has_details else "")
    return f"{transform.operation}: {name} matches {count} places, {transform.expect} expected:"
