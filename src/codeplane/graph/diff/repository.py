"""What has changed between two states of a repository, by definitions."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.core.slots import InterfaceSlot
from codeplane.graph.diff.inherited import with_inherited
from codeplane.graph.diff.signatures import one_spelling
from codeplane.graph.diff.structure import Change, ChangeKind, compare, flattened
from codeplane.graph.diff.versions import Version, has_structure
from codeplane.index import Purpose
from codeplane.languages import specs
from codeplane.names import FileFacts, Snapshot

WORKING_TREE: Final = "working tree"
_MOST_PAIRED: Final = 200
_ALIKE: Final = 0.5
_SIDES: Final = 2
_LAST: Final = InterfaceSlot[None, tuple[object, "list[FileDiff]"]]("last diff")

_Home = tuple[str, str, str, str, bool]
Status = Literal["added", "modified", "deleted", "renamed"]


@dataclass(frozen=True)
class State:
    """One state: which content each path has, and how to get at facts and text."""

    label: str
    blobs: Mapping[str, int | None]
    code: Snapshot
    read: Callable[[RepoPath], bytes | None]  # None where only facts are on record
    epoch: int
    is_current: bool = False  # `code` is of this very state, so that names can be followed

    @property
    def key(self) -> tuple[int, int, int]:
        """Equal for equal states: what a commit lacked may have been filled in."""
        return self.code.view, self.epoch, len(self.blobs)


class FileDiff(NamedTuple):
    path: RepoPath
    old_path: RepoPath | None
    status: Status
    language: str
    changes: list[Change]
    note: str = ""  # why there is nothing to say about its structure


class Sight(NamedTuple):
    """What can be told of two states."""

    unread: frozenset[str] = frozenset()  # paths whose content one of them has and nobody can read
    # The files of the old state that git says have changed; None where it was not asked. Line ends and the
    # like may differ between what git keeps and the working tree, and a sparse checkout lacks files.
    paths: frozenset[str] | None = None

    def is_told(self, old: State, path: str) -> bool:
        is_same = self.paths is not None and path in old.blobs and path not in self.paths
        return path not in self.unread and not is_same


_ALL: Final = Sight()


def diff_of(old: State, new: State, patterns: Sequence[str] = (), sight: Sight = _ALL) -> list[FileDiff]:
    """The files that differ; the last answer is kept with what is known of the new state, for more pages."""
    last = new.code.answers(_LAST)
    key = (old.key, new.key, tuple(sorted(patterns)), sight)
    answer = last.get(None)
    if answer is None or answer[0] != key:
        answer = last[None] = (key, list(structural_diff(old, new, patterns, sight)))
    return answer[1]


def structural_diff(
    old: State, new: State, patterns: Sequence[str] = (), sight: Sight = _ALL
) -> Iterator[FileDiff]:
    """The files that differ, in order of path, each with its changes; renamed files are one."""
    globs = Globs(patterns)
    differing = [
        RepoPath(path)
        for path in sorted(old.blobs.keys() | new.blobs.keys())
        if old.blobs.get(path, -1) != new.blobs.get(path, -1)
        and globs.holds(path)
        and sight.is_told(old, path)
    ]
    paths = [path for path in differing if path not in new.blobs]
    come = [path for path in differing if path not in old.blobs]
    renames = _find_moves(old, new, paths, come)
    came_from = {after: before for before, after in renames.items()}
    files = [_file(old, new, path, came_from.get(path)) for path in differing if path not in renames]
    yield from _with_moves(new, files)


def _with_moves(new: State, files: list[FileDiff]) -> list[FileDiff]:
    """The files with what went from one to another of its package as moved, where files of a directory are
    one package: nobody outside can tell."""
    removals: dict[_Home, list[tuple[FileDiff, Change]]] = {}
    additions: dict[_Home, list[tuple[FileDiff, Change]]] = {}
    for file in files:
        if not file.language or specs()[file.language].default_exports != "capital":
            continue
        for one in file.changes:
            tables = {ChangeKind.REMOVED: removals, ChangeKind.ADDED: additions}
            if one.change in tables:
                tables[one.change].setdefault(_home(new, file, one), []).append((file, one))
    moves = {
        home: before[0]
        for home, before in removals.items()
        if len(before) == 1 and len(additions.get(home, ())) == 1
    }
    return (
        [file._replace(changes=list(_changes_moved(new, file, moves))) for file in files] if moves else files
    )


def _home(new: State, file: FileDiff, one: Change) -> _Home:
    """What stays the same when a definition goes to another file of its package."""
    header = one_spelling(file.language, one.definition.signature)
    is_test = new.code.purpose(file.path) is Purpose.TEST
    return file.path.rpartition("/")[0], one.name, one.definition.kind, header, is_test


def _changes_moved(
    new: State, file: FileDiff, moves: Mapping[_Home, tuple[FileDiff, Change]]
) -> Iterator[Change]:
    for one in file.changes:
        source = moves.get(_home(new, file, one))
        if source is None or one.change not in (ChangeKind.ADDED, ChangeKind.REMOVED):
            yield one
        elif one.change is ChangeKind.ADDED:
            was = source[1]
            text = () if was.definition.text == one.definition.text else ("text_changed",)
            yield replace(one, change=ChangeKind.MOVED, old_path=source[0].path, tags=("symbol_moved", *text))


def _file(old: State, new: State, path: RepoPath, old_path: RepoPath | None) -> FileDiff:
    before, after = _facts(old, old_path or path), _facts(new, path)
    status: Status = "modified"
    if old_path is not None:
        status = "renamed"
    elif path not in old.blobs:
        status = "added"
    elif path not in new.blobs:
        status = "deleted"
    present = [facts for facts in (before, after) if facts is not None]
    language = present[-1].language if present else ""
    note = _note(old, new, path, present)
    if note:
        return FileDiff(path, old_path, status, language, [], note)
    changes = compare(_make_version(old, old_path or path, before), _make_version(new, path, after))
    if new.is_current and after is not None:
        changes = with_inherited(new.code, path, changes)
    return FileDiff(path, old_path, status, language, changes)


def _note(old: State, new: State, path: RepoPath, present: list[FileFacts]) -> str:
    if None in (old.blobs.get(path, -1), new.blobs.get(path, -1)):
        return "not indexed yet"
    if not any(map(has_structure, present)):
        return "no definitions"
    if any(facts.state == "failed" for facts in present):
        return "could not be parsed"
    is_half = path in old.blobs and path in new.blobs and len(present) < _SIDES
    if is_half or any(facts.state == "skipped" for facts in present):
        return "one side is not text"
    return ""


def _facts(state: State, path: RepoPath) -> FileFacts | None:
    blob = state.blobs.get(path)
    return state.code.facts_of(blob) if blob is not None else None


def _make_version(state: State, path: RepoPath, facts: FileFacts | None) -> Version | None:
    if facts is None:
        return None
    return Version(facts, lambda: state.read(path), path in state.code.tests())


def _find_moves(
    old: State, new: State, removals: list[RepoPath], come: list[RepoPath]
) -> dict[RepoPath, RepoPath]:
    """Files that went and came under another path: the same content, or most of its definitions."""
    renames: dict[RepoPath, RepoPath] = {}
    by_blob: dict[int | None, list[RepoPath]] = {}
    for path in come:
        by_blob.setdefault(new.blobs[path], []).append(path)
    for path in removals:
        same = by_blob.get(old.blobs[path], [])
        if old.blobs[path] is not None and len(same) == 1 and same[0] not in renames.values():
            renames[path] = same[0]
    left = [path for path in removals if path not in renames]
    free = [path for path in come if path not in renames.values()]
    if len(left) > _MOST_PAIRED or len(free) > _MOST_PAIRED:
        return renames
    shapes = {path: _shape(_facts(new, path)) for path in free}
    for path in left:
        shape = _shape(_facts(old, path))
        ranking = sorted(
            ((_compute_likeness(shape, other), one) for one, other in shapes.items()), reverse=True
        )
        if ranking and ranking[0][0] >= _ALIKE:
            renames[path] = ranking[0][1]
            del shapes[ranking[0][1]]
    return renames


def _shape(facts: FileFacts | None) -> frozenset[tuple[str, str, str]]:
    items = facts.definitions if facts is not None and has_structure(facts) else ()
    return frozenset((item.name, item.kind, item.signature) for item in items)


def _compute_likeness(one: frozenset[tuple[str, str, str]], other: frozenset[tuple[str, str, str]]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0


def changed_definitions(files: Collection[FileDiff]) -> dict[RepoPath, set[int]]:
    """The definitions that are others now, by file; what only holds some of them is none."""
    matches = {
        file.path: {one.after for one in flattened(file.changes) if one.after is not None and one.tags}
        for file in files
    }
    return {path: numbers for path, numbers in matches.items() if numbers}


def counted(files: Collection[FileDiff]) -> dict[ChangeKind, int]:
    """How many changes there are of each kind; what only holds others is not counted."""
    counts = dict.fromkeys(ChangeKind, 0)
    for file in files:
        for one in flattened(file.changes):
            if one.tags:
                counts[one.change] += 1
    return {kind: count for kind, count in counts.items() if count}
