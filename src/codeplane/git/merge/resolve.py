"""Staging conflicts that were resolved in the files."""

from collections.abc import Callable, Collection

import pygit2

from codeplane.core.errors import GitUnsupported
from codeplane.git.commit.messages import split_conflicts
from codeplane.git.history.tree_diff import index_side
from codeplane.git.repo.attributes import Attributes
from codeplane.git.repo.outcome import Conflict
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.staging.conflicts import conflicts_of, has_marks
from codeplane.git.worktree.autosave import store_file
from codeplane.git.worktree.files import WorkTree
from codeplane.git.worktree.index_writer import edited_index

Read = Callable[[str], bytes | None]


def resolve_conflicts(
    repository: Repository, handle: pygit2.Repository, resolved: Collection[str], message: str, read: Read
) -> tuple[Conflict, ...]:
    """Stages what is resolved, and returns what is not.

    A text that both sides have changed is resolved when its marks are gone; anything else when it is staged
    or named in `resolved`: then the file is taken as it is, or its absence. `message` names the paths that
    were in conflict; one of them that still has marks is not resolved, even if it is staged.
    """
    conflicts = conflicts_of(handle.index)
    paths = [
        conflict.path
        for conflict in conflicts
        if conflict.path in resolved or _is_mended(conflict, read(conflict.path))
    ]
    _stage_paths(repository, handle, paths)
    remaining = [conflict for conflict in conflicts if conflict.path not in paths]
    _, mentions = split_conflicts(message)
    conflict_paths = {conflict.path for conflict in conflicts}
    remaining += [
        Conflict(path, None, index_side(handle, path), None)
        for path in mentions
        if path not in conflict_paths and path not in resolved and has_marks(read(path) or b"")
    ]
    return tuple(remaining)


def _is_mended(conflict: Conflict, data: bytes | None) -> bool:
    is_text = (
        conflict.ours is not None and conflict.theirs is not None and data is not None and b"\0" not in data
    )
    return is_text and data is not None and not has_marks(data)


def _stage_paths(repository: Repository, handle: pygit2.Repository, paths: Collection[str]) -> None:
    filter_paths = [path for path in paths if Attributes(handle, path).filter is not None]
    if filter_paths:
        raise GitUnsupported(
            f"{', '.join(filter_paths)}: a filter applies, which is a program.",
            hints=[Remedy(Fix.STAGE_FIRST)],
        )
    if not paths:
        return
    tree = WorkTree(handle, repository.root)
    with edited_index(repository, handle) as index:
        for path in paths:
            side = store_file(tree, path)
            del index.conflicts[path]
            if side is not None:
                index.add(pygit2.IndexEntry(path, pygit2.Oid(hex=side.oid), pygit2.enums.FileMode(side.mode)))
