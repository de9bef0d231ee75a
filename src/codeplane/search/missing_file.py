"""Why there is no such file: wrong, deleted, or there and kept out of the index."""

import re
from collections.abc import Sequence
from typing import Final

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.core.globs import Globs
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Absence
from codeplane.core.suggest import nearest
from codeplane.jail import shown
from codeplane.names import Snapshot
from codeplane.search.ranking import path_order
from codeplane.working_tree import StatePaths

_NEAR: Final = 5
_COMPARED: Final = 200
_WILD: Final = re.compile(r"[*?\[{]")


def no_file(
    snapshot: Snapshot, paths: StatePaths, path: RepoPath, what: str = "file"
) -> NotFound | InvalidArgument:
    """The error for a path that is no file of the snapshot."""
    name = shown(path)
    if snapshot.is_directory(path):
        return InvalidArgument(f"{name or '.'} is a directory.", hints=[f'list_files {{"path": "{name}"}}'])
    reason = paths.why_absent(path)
    if reason is not None:
        return NotFound(f"{name} is not in the index: {reason}", path=name, absence=Absence.NOT_INDEXED.value)
    epoch = snapshot.removed_at(path)
    if epoch is not None:
        return NotFound(
            f"{name} is gone: it was deleted or moved before epoch {epoch}.", path=name, deleted=True
        )
    return NotFound(f"There is no {what} {name}.", hints=near(snapshot, path))


def no_match(snapshot: Snapshot, paths: StatePaths, patterns: Sequence[str]) -> NotFound | None:
    """The error for patterns that hold no file of the snapshot; None where some file is held."""
    globs = Globs(patterns)
    if any(map(globs.holds, snapshot.layout.ordered)):
        return None
    pattern_list = ", ".join(shown(one) for one in patterns)
    hints: list[str] = []
    for pattern in patterns:
        begin = _WILD.split(pattern.removeprefix("./"))[0]
        path = (begin if begin == pattern.removeprefix("./") else begin.rpartition("/")[0]).strip("/")
        if not path or pattern.startswith("!"):
            continue
        if snapshot.is_directory(path):
            hints.append(f'list_files {{"path": "{shown(path)}"}}')
            continue
        reason = paths.why_absent(paths.enter(path, directory=True))
        if reason is not None:
            return NotFound(
                f"No file matches {pattern_list}: {reason}",
                paths=[shown(path)],
                absence=Absence.NOT_INDEXED.value,
            )
        hints += near(snapshot, path)
    return NotFound(
        f"No file matches {pattern_list}.", hints=hints[:_NEAR], absence=Absence.PROVEN_NONE.value
    )


def existing(snapshot: Snapshot, paths: StatePaths, text: str) -> RepoPath:
    """The file or directory that a text names; an error where there is none with files of the snapshot."""
    path = paths.enter(text, directory=True)
    if snapshot.exists(path) or snapshot.is_directory(path):
        return path
    raise no_file(snapshot, paths, path, "file or directory")


def near(snapshot: Snapshot, path: str) -> list[str]:
    """Files and directories that may be meant by a path: with the same name, or with one like it."""
    layout = snapshot.layout
    name = path.rsplit("/", 1)[-1]
    places: dict[str, list[str]] = (
        {word: list(paths) for word, paths in layout.by_name.items()} if "." in name else {}
    )
    for one in layout.directories:
        places.setdefault(one.rsplit("/", 1)[-1], []).append(one)
    words = [name] if name in places else nearest(name, places)
    candidates = [one for word in words for one in places[word] if one][:_COMPARED]
    candidates.sort(key=path_order(snapshot, path))
    return [f"There is {shown(one)}." for one in candidates[:_NEAR]]


def directory(snapshot: Snapshot, paths: StatePaths, text: str) -> RepoPath:
    """The directory that a text names; an error where there is none with files of the snapshot."""
    path = paths.enter(text, directory=True)
    if snapshot.is_directory(path):
        return path
    if snapshot.exists(path):
        name = shown(path)
        raise InvalidArgument(f"{name} is a file.", hints=[f'read_source {{"targets": ["{name}"]}}'])
    raise _no_directory(snapshot, paths, path)


def _no_directory(snapshot: Snapshot, paths: StatePaths, path: RepoPath) -> NotFound:
    name = shown(path)
    reason = paths.why_absent(path)
    if reason is not None:
        return NotFound(f"{name} is not in the index: {reason}", path=name, absence=Absence.NOT_INDEXED.value)
    return NotFound(f"There is no directory {name}.", hints=near(snapshot, path))
