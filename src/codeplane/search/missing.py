"""Why there is no such file: wrong, deleted, or there and kept out of the index."""

from typing import Final

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.core.paths import RepoPath
from codeplane.core.proof import Absence
from codeplane.core.suggest import nearest
from codeplane.index import Snapshot
from codeplane.jail import shown
from codeplane.truth import WorkingTree

_NEAR: Final = 5


def no_file(snapshot: Snapshot, tree: WorkingTree, path: RepoPath) -> NotFound | InvalidArgument:
    """The error for a path that is no file of the snapshot."""
    told = shown(path)
    sources = snapshot.linker.sources
    if sources.is_directory(path):
        return InvalidArgument(f"{told or '.'} is a directory.", hints=[f'list_files {{"path": "{told}"}}'])
    reason = tree.why_absent(path)
    if reason is not None:
        return NotFound(f"{told} is not in the index: {reason}", path=told, absence=Absence.NOT_INDEXED.value)
    epoch = snapshot.removed_at(path)
    if epoch is not None:
        return NotFound(
            f"{told} is gone: it was deleted or moved before epoch {epoch}.", path=told, deleted=True
        )
    name = path.rsplit("/", 1)[-1]
    near = [*sources.paths_named(name)] or [
        other for word in nearest(name, sources.memo.layout.by_name) for other in sources.paths_named(word)
    ]
    return NotFound(f"There is no file {told}.", hints=[f"There is {shown(p)}." for p in near[:_NEAR]])


def directory(snapshot: Snapshot, tree: WorkingTree, text: str) -> RepoPath:
    """The directory that a text names; an error where there is none with files of the snapshot."""
    path = tree.jail.enter(text, directory=True)
    sources = snapshot.linker.sources
    if sources.is_directory(path):
        return path
    if sources.exists(path):
        told = shown(path)
        raise InvalidArgument(f"{told} is a file.", hints=[f'read_source {{"targets": ["{told}"]}}'])
    raise _no_directory(snapshot, tree, path)


def _no_directory(snapshot: Snapshot, tree: WorkingTree, path: RepoPath) -> NotFound:
    told = shown(path)
    reason = tree.why_absent(path)
    if reason is not None:
        return NotFound(f"{told} is not in the index: {reason}", path=told, absence=Absence.NOT_INDEXED.value)
    name = path.rsplit("/", 1)[-1]
    directories = snapshot.linker.sources.memo.layout.directories
    same = [one for one in directories if one.rsplit("/", 1)[-1] == name]
    near = same or nearest(path, directories)
    return NotFound(f"There is no directory {told}.", hints=[f"There is {shown(p)}." for p in near[:_NEAR]])
