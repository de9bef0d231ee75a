"""What a text names to be read: a file, lines of one, or a definition."""

import re
from typing import Final, NamedTuple

from codeplane.core.comments import MARK, first_attached
from codeplane.core.errors import InvalidArgument, NotFound, PathRefused
from codeplane.core.paths import RepoPath
from codeplane.jail import shown
from codeplane.languages.facts import Span
from codeplane.names import DefFact, Snapshot
from codeplane.search.disambiguation import likeliest
from codeplane.search.missing_file import near, no_file
from codeplane.working_tree import StatePaths

_LINES: Final = re.compile(
    r"(?P<path>.+?)(?::|#)L?(?P<first>\d{1,9})(?P<rest>-L?(?P<last>\d{1,9})?)?(?::\d{1,9})?\Z", re.DOTALL
)
# `app.py@v1.0`, `app.py@v1.0:10-40`, `app.py:10-40@v1.0`
_AT_COMMIT: Final = re.compile(r"(?P<target>.+)@(?P<ref>[^@\s:]+)(?P<lines>:L?\d[\d:L-]*)?\Z", re.DOTALL)
_PATH_LIKE: Final = re.compile(r"/|\.[A-Za-z]{1,4}\Z")
# What is shown around a line that no definition of a bearable length holds.
_AROUND: Final = 10
_LONGEST: Final = 120


class Wanted(NamedTuple):
    """Lines of a file; `last` is 0 for all of it. `symbol` is what they define, where it was asked for."""

    path: RepoPath
    first: int
    last: int
    symbol: str = ""


def split_revision(text: str) -> tuple[str, str | None]:
    """A target and the revision that it names behind `@`, if it does."""
    match = _AT_COMMIT.match(text)
    return (match["target"] + (match["lines"] or ""), match["ref"]) if match else (text, None)


class Finder:
    """Finds what is meant in one snapshot. To be read, the likeliest of several is taken; to be changed, one
    that is not exactly one thing is an error."""

    def __init__(self, snapshot: Snapshot, paths: StatePaths) -> None:
        self._snapshot = snapshot
        self._paths = paths
        self.notes: list[str] = []  # names that may mean something else than what was taken

    def find(self, text: str) -> Wanted:
        """`path`, `path:10-40`, `path:10-`, `path:12` or the name of a symbol."""
        path = self._file(text)
        if path is not None:
            return Wanted(path, 1, 0)
        if (match := _LINES.match(text)) and (path := self._file(match["path"])) is not None:
            first = int(match["first"])
            if match["rest"] is None:
                return self._around(path, first)
            return Wanted(path, first, int(match["last"] or 0))
        return self._defined(text)

    def file(self, text: str) -> RepoPath:
        """The file that a path names."""
        path = self._file(text)
        if path is None:
            raise self._no_file(text)
        return path

    def existing(self, text: str) -> RepoPath | None:
        """The file that a path names, if there is one."""
        return self._file(text)

    def near(self, path: RepoPath) -> list[str]:
        """What may be meant by a path that names no file, as hints."""
        return near(self._snapshot, path)

    def symbol(self, text: str) -> Wanted:
        """The definition that a text names, where its lines hold nothing else: to be replaced by lines."""
        definition = self._snapshot.symbol(text)
        facts = self._snapshot.facts(definition.path)
        mine = definition.span
        for item in facts.definitions if facts is not None else ():
            if _meet(mine, item.span) and (item.name, item.name_line) != (
                definition.name,
                definition.name_line,
            ):
                raise self._shared(text, definition, item.name)
        if other := _beside(self._snapshot.source(definition.path), mine):
            raise self._shared(text, definition, other)
        return self.of(definition)

    def _shared(self, text: str, definition: DefFact, other: str) -> InvalidArgument:
        at = f"{shown(definition.path)}:{definition.span.start_line}"
        return InvalidArgument(
            f"{shown(text)} ({at}) shares its lines with {shown(other)}.",
            hints=["Edit it by its text: path, expected_content and new_content."],
        )

    def lines(self, text: str, first: int | None, last: int | None) -> Wanted:
        """A file and the lines of it that are said apart from it."""
        target = self.find(text)
        if target.symbol:
            return target
        return target._replace(first=target.first if first is None else first, last=last or target.last)

    def _file(self, text: str) -> RepoPath | None:
        try:
            path = self._paths.enter(text)
        except PathRefused:
            if "/" in text:
                raise
            return None
        if self._snapshot.exists(path):
            return path
        return self._linked(path) or self._disguised(path)

    def _linked(self, path: RepoPath) -> RepoPath | None:
        """The file that a link in the repository leads to."""
        try:
            target = self._paths.resolve(path)
        except (NotFound, PathRefused):
            return None
        return target if self._snapshot.exists(target) else None

    def _disguised(self, text: str) -> RepoPath | None:
        """The file whose name is not UTF-8 and is shown so, if only one is."""
        if "\N{REPLACEMENT CHARACTER}" not in text:
            return None
        paths = [path for path in self._snapshot.layout.ordered if shown(path) == text]
        return RepoPath(paths[0]) if len(paths) == 1 else None

    def _around(self, path: RepoPath, line: int) -> Wanted:
        """The innermost definition that holds a line, or what is around the line."""
        facts = self._snapshot.facts(path)
        spans = [
            item.span
            for item in (facts.definitions if facts is not None else ())
            if item.span.start_line <= line <= item.span.end_line
            and _AROUND // 2 <= item.span.end_line - item.span.start_line < _LONGEST
        ]
        if not spans:
            return Wanted(path, max(1, line - _AROUND), line + _AROUND)
        span = min(spans, key=lambda one: one.end_line - one.start_line)
        return Wanted(path, span.start_line, span.end_line)

    def _defined(self, text: str) -> Wanted:
        try:
            choice = likeliest(self._snapshot, text)
        except NotFound:
            match = _LINES.match(text)
            path = match["path"] if match else text
            if match or _PATH_LIKE.search(text) or self._is_directory(path) or self._is_closed(path):
                raise self._no_file(path) from None
            raise
        if note := choice.note(text):
            self.notes.append(note)
        return self._with_comments(self.of(choice.definition))

    def _with_comments(self, request: Wanted) -> Wanted:
        """A definition with the comments and attributes right above it."""
        data = self._snapshot.source(request.path)
        above = data.split(b"\n", request.first)[: request.first]
        lines = [line.decode("utf-8", "replace") for line in above]
        return request._replace(first=first_attached(lines, request.first))

    def of(self, definition: DefFact) -> Wanted:
        name = shown(self._snapshot.qualified_name(definition.path, definition.position))
        return Wanted(definition.path, definition.span.start_line, definition.span.end_line, name)

    def _is_directory(self, text: str) -> bool:
        return self._snapshot.is_directory(text.rstrip("/"))

    def _is_closed(self, text: str) -> bool:
        """Whether a file of this name is there and kept out of the index: `.npmrc`, `id_rsa`."""
        try:
            path = self._paths.enter(text)
        except PathRefused:
            return False
        return self._paths.is_file(path) and self._paths.why_absent(path) is not None

    def _no_file(self, text: str) -> NotFound | InvalidArgument:
        return no_file(self._snapshot, self._paths, self._paths.enter(text, directory=True))


def _beside(data: bytes, span: Span) -> str:
    """Code on the lines of a span that is not in it; punctuation and comments do not count."""
    lines = data.split(b"\n")
    before = lines[span.start_line - 1][: span.start_column].removeprefix(b"\xef\xbb\xbf").strip()
    after = lines[span.end_line - 1][span.end_column :].strip().lstrip(b";,")
    beside = before or (after if not MARK.match(after.decode("utf-8", "replace").strip()) else b"")
    return beside.decode("utf-8", "replace")


def _meet(one: Span, other: Span) -> bool:
    """Whether two definitions are on the same lines without one being inside the other."""
    if one == other:
        return True
    is_apart = (one.end_line, one.end_column) <= other[:2] or (other.end_line, other.end_column) <= one[:2]
    return is_apart and other.start_line <= one.end_line and one.start_line <= other.end_line
