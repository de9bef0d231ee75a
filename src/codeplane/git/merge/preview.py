"""Previewing a merge; only unreferenced objects are written."""

from dataclasses import dataclass

import pygit2

from codeplane.core.errors import GitFailed
from codeplane.git.history.changes import Change, tree_changes
from codeplane.git.history.tree_diff import count_lines
from codeplane.git.history.tree_edit import side_at
from codeplane.git.merge.merge import MergeOptions
from codeplane.git.merge.merge_base import merge_commits
from codeplane.git.merge.text_merge import MergeDrivers
from codeplane.git.merge.tree_merge import MergeResult
from codeplane.git.repo.objects import find_commit, read_blob
from codeplane.git.repo.outcome import Outcome, short_oid
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.autosave import head_tree


@dataclass(frozen=True)
class MergePreview(Outcome):
    """A merge that was not made: what it would change, and its tree, with conflict markers."""

    changes: tuple[Change, ...] = ()
    tree: str = ""


def preview_merge(repository: Repository, ref: str, options: MergeOptions) -> MergePreview:
    """What `merge` would do."""
    with repository.opened() as handle:
        theirs = find_commit(handle, ref)
        ours = None if handle.head_is_unborn else str(handle.head.target)
        if ours is not None and (ours == theirs.oid or handle.descendant_of(ours, theirs.oid)):
            return MergePreview("already up to date")
        if ours is None or (
            handle.descendant_of(theirs.oid, ours) and not options.squash and not options.no_ff
        ):
            summary = f"would fast-forward to {short_oid(theirs.oid)}"
            return _preview(handle, summary, MergeResult(theirs.tree))
        result = merge_commits(MergeDrivers(handle, options.favor), ours, theirs.oid, ("HEAD", ref))
        if result is None:
            raise GitFailed(f"{ref} has no history in common with HEAD: it can't be merged.")
        count = len(result.conflicts)
        summary = "would merge without conflicts"
        if count:
            summary = f"would stop: {count} {'path' if count == 1 else 'paths'} in conflict"
        return _preview(handle, summary, result)


def content_in(repository: Repository, tree: str, path: str) -> bytes | None:
    """The content of a file in a merge's tree."""
    with repository.opened() as handle:
        side = side_at(handle, tree, path)
        return read_blob(handle, side.oid) if side is not None else None


def _preview(handle: pygit2.Repository, summary: str, result: MergeResult) -> MergePreview:
    before = head_tree(handle)
    insertions, deletions = count_lines(handle, before, result.tree)
    changes = tuple(tree_changes(handle, before, result.tree))
    return MergePreview(
        summary, insertions, deletions, None, result.conflicts, None, None, result.notes, changes, result.tree
    )
