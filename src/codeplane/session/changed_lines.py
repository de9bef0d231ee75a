"""Which lines differ from a commit, and which definitions they are in."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from codeplane.core.paths import RepoPath
from codeplane.git.history.patches import text_hunks
from codeplane.graph.tests.impact import Definitions
from codeplane.names import Snapshot
from codeplane.session.call import Call
from codeplane.working_tree.status.comparison import Comparison, changes

Lines = Sequence[tuple[int, int]]
"""First lines, and those behind the last; the same where lines are gone behind that one."""

_HEADER: Final = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_MOST_FILES: Final = 50
_MOST_LINES: Final = 2_000
_DEFINES: Final = re.compile(
    r"(?:export |pub |async |public |static |final )*(?:def|class|func|function|fn) (\w+)"
)
_IMPORTS: Final = re.compile(r"\s*(?:from|import|use|using|require|include|#include|export \{|package)\b")
_NOTHING: Final = re.compile(r"\s*(?:(?:#|//|/?\*).*|[\])};,(]*)\s*")
_MARKS: Final = re.compile(r"@\w")  # a decorator of what went


def changed_lines(
    call: Call, base: str, is_wanted: Callable[[str], bool] = lambda _: True
) -> Iterator[tuple[RepoPath, Lines | None]]:
    """The lines of each file that git knows and that differ from a commit; None for all of a new one."""
    tree, repository = call.repo.tree, call.repo.checkout.repository
    with repository.opened() as handle:
        patch = Comparison(tree, handle, context=0).patch
        for one in changes(tree, handle, base, None, staged=False):
            call.check()
            if one.new is not None and not one.is_submodule and is_wanted(one.path):
                yield RepoPath(one.path), None if one.old is None else _ranges(patch(one).hunks)


def _ranges(hunks: Sequence[str]) -> Lines:
    headers = [match for hunk in hunks if (match := _HEADER.match(hunk))]
    starts_and_counts = [(int(one[1]), int(one[2]) if one[2] is not None else 1) for one in headers]
    return [(first, first + count) for first, count in starts_and_counts]


class Changed(NamedTuple):
    """What differs from HEAD in some files."""

    definitions: Definitions  # the innermost one of each line
    new_definitions: Definitions  # those among them that are new
    import_changes: frozenset[RepoPath]  # files with other imports
    is_confined: bool  # nothing else differs, but for comments and what was moved


def changed_since_head(call: Call, snapshot: Snapshot, paths: Collection[RepoPath]) -> Changed:
    """The definitions of some files with lines that differ from HEAD: the innermost of each line."""
    if not paths or call.repo.checkout.repository.head().commit is None:
        return Changed({}, {}, frozenset(), False)
    collector = _Found(snapshot)
    overlay = {path: file for path, file in call.overlay().items() if path in frozenset(paths)}
    scope = frozenset(paths) - overlay.keys()
    tracked_paths = _take_from_disk(call, scope, collector) if call.is_on_disk else set[str]()
    for path, file in overlay.items():
        before = call.committed(path)
        if file is None:
            collector.is_confined = False
        elif before is None:
            collector.take_whole(path)
        else:
            collector.take(path, text_hunks(before, file.read(), 0))
    for path in sorted(scope - tracked_paths)[:_MOST_FILES]:
        if call.committed(path) is None:
            collector.take_whole(path)
        else:
            collector.is_confined = False  # it is asked about as if it had changed
    return collector.changed()


def _take_from_disk(call: Call, scope: Collection[str], collector: "_Found") -> set[str]:
    """Collects what differs from HEAD in the working tree, of some files; tells which do."""
    tracked_paths: set[str] = set()
    tree, repository = call.repo.tree, call.repo.checkout.repository
    with repository.opened() as handle:
        patch = Comparison(tree, handle, context=0).patch
        differing = [one for one in changes(tree, handle, "HEAD", None, staged=False) if one.path in scope]
        collector.is_confined = len(differing) <= _MOST_FILES
        for one in differing[:_MOST_FILES]:
            call.check()
            tracked_paths.add(one.path)
            if one.new is None or one.is_submodule:
                collector.is_confined = False
            elif one.old is None:
                collector.take_whole(RepoPath(one.path))
            else:
                collector.take(RepoPath(one.path), patch(one).hunks)
    return tracked_paths


class _Found:
    """Collects what differs, file by file."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._definitions: dict[RepoPath, set[int]] = {}
        self._new_definitions: dict[RepoPath, set[int]] = {}
        self._import_changes: set[RepoPath] = set()
        self._removals: set[str] = set()  # names of definitions whose lines were taken out
        self.is_confined = True

    def changed(self) -> Changed:
        facts = self._snapshot.facts
        names = {
            items.definitions[at].name
            for path, numbers in self._new_definitions.items()
            if (items := facts(path)) is not None
            for at in numbers
        }
        is_confined = self.is_confined and self._removals <= names
        return Changed(self._definitions, self._new_definitions, frozenset(self._import_changes), is_confined)

    def take_whole(self, path: RepoPath) -> None:
        """A file that HEAD has not: all of its definitions are new."""
        facts = self._snapshot.facts(path)
        if facts is not None and len(facts.definitions):
            self._definitions[path] = set(range(len(facts.definitions)))
            self._new_definitions[path] = set(self._definitions[path])

    def take(self, path: RepoPath, hunks: Sequence[str]) -> None:
        facts = self._snapshot.facts(path)
        if facts is None:
            return  # no code: who names it is looked for elsewhere
        spans = [(one.span.start_line, one.span.end_line, at) for at, one in enumerate(facts.definitions)]
        linking = {one.line for one in facts.imports}
        new_lines: set[int] = set()
        for hunk in hunks:
            match = _HEADER.match(hunk)
            first = int(match[1]) if match else 1
            lines = [line for line in hunk.split("\n")[1:] if line]
            new = [line[1:] for line in lines if line[0] == "+"]
            new_lines.update(range(first, first + len(new)))
            for number in list(range(first, first + max(1, len(new))))[:_MOST_LINES]:
                self._line(path, number, spans)
            outside = [
                text for at, text in enumerate(new, first) if not _holds(spans, at) and at not in linking
            ]
            is_linking = any(abs(line - first) <= 1 for line in linking)
            old = [line[1:] for line in lines if line[0] == "-"]
            if not _holds(spans, first) or outside:
                self._outside(path, outside, old, is_linking)
        whole = {at for start, end, at in spans if set(range(start, end + 1)) <= new_lines}
        if whole:
            self._new_definitions[path] = whole

    def _line(self, path: RepoPath, line: int, spans: Sequence[tuple[int, int, int]]) -> None:
        inner = max((span for span in spans if span[0] <= line <= span[1]), default=None)
        if inner is not None:
            self._definitions.setdefault(path, set()).add(inner[2])

    def _outside(self, path: RepoPath, new: Sequence[str], old: Sequence[str], is_linking: bool) -> None:
        """Lines outside of definitions: imports, comments, definitions that went, or anything."""
        in_gone = False
        for text in old:
            if definition := _DEFINES.match(text):
                self._removals.add(definition[1])
                in_gone = True
            elif _IMPORTS.match(text):
                self._import_changes.add(path)
                in_gone = False
            elif not (_NOTHING.fullmatch(text) or (in_gone and text[:1].isspace()) or _MARKS.match(text)):
                self.is_confined = self.is_confined and is_linking
        for text in new:
            if _IMPORTS.match(text) or is_linking:
                self._import_changes.add(path)
            elif not _NOTHING.fullmatch(text):
                self.is_confined = False


def _holds(spans: Sequence[tuple[int, int, int]], line: int) -> bool:
    return any(start <= line <= end for start, end, _ in spans)
