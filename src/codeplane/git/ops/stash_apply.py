"""Applying a stash: it is merged into index and files, with conflicts where both changed."""

from collections.abc import Iterable
from typing import NamedTuple

import pygit2
from pygit2.enums import FileMode

from codeplane.core.errors import GitFailed
from codeplane.git.history.tree_diff import diff_trees
from codeplane.git.history.tree_edit import clashing_paths
from codeplane.git.merge.text_merge import Labels, MergeDrivers
from codeplane.git.merge.tree_merge import MergeResult, merge_trees
from codeplane.git.ops.stash import StashEntry, StashOutcome, check_merged, drop_stash
from codeplane.git.repo.outcome import Conflict, Side
from codeplane.git.repo.repository import Repository
from codeplane.git.worktree.checkout_plan import CheckoutPlan, Risk, plan_switch, tree_side
from codeplane.git.worktree.checkout_tree import apply_plan
from codeplane.git.worktree.files import FileState, WorkTree
from codeplane.git.worktree.index_writer import edited_index, put_entry
from codeplane.jail import shown
from codeplane.process import Programs

_LABELS = Labels("Updated upstream", "Stashed changes", "Stash base")
_WITH_UNTRACKED = 3


class Trees(NamedTuple):
    """The index's tree before a stash is applied, and the one that the stash restores, if any."""

    current: str
    staged: str | None


def apply_stash(
    repository: Repository, programs: Programs, entry: StashEntry, *, index: bool = False, force: bool = False
) -> StashOutcome:
    """Merges a stash into index and files. New files are staged; the rest only with `index`.

    Changed files that it would touch, and files where its untracked ones belong, are refused before anything
    is done. Where it stops with conflicts, the index has the three sides and the files have the marks.
    """
    with repository.opened() as handle:
        check_merged(handle)
        stash = handle[entry.commit].peel(pygit2.Commit)
        current = str(handle.index.write_tree())
        trees = Trees(current, _staged_tree(handle, stash, current) if index else None)
        base = str(stash.parents[0].tree.id)
        merge_result = merge_trees(MergeDrivers(handle), base, current, str(stash.tree.id), _LABELS)
        plan = plan_switch(handle, repository.root, current, merge_result.tree)
        loose = _plan_untracked(handle, stash, repository, plan)
        result = apply_plan(
            repository, programs, handle, plan, force=force, why=f"before {entry.name} was applied"
        )
        _write_index(repository, handle, merge_result, trees, loose)
    notes = (*result.notes, *merge_result.notes)
    if merge_result.conflicts:
        paths = len(merge_result.conflicts)
        summary = f"applied {entry.name} with conflicts in {paths} path{'s' if paths != 1 else ''}; kept"
        if index:
            notes += ("What was staged is no longer staged, because of the conflicts.",)
        return StashOutcome(summary, conflicts=merge_result.conflicts, saved=result.saved, notes=notes)
    return StashOutcome(f"applied {entry.name}: {entry.message}", saved=result.saved, notes=notes)


def pop_stash(
    repository: Repository, programs: Programs, entry: StashEntry, *, index: bool = False, force: bool = False
) -> StashOutcome:
    """Applies a stash and drops it; one with conflicts is kept."""
    outcome = apply_stash(repository, programs, entry, index=index, force=force)
    if outcome.conflicts:
        return outcome
    drop_outcome = drop_stash(repository, entry)
    return StashOutcome(
        f"{outcome.summary}; dropped", saved=outcome.saved, notes=outcome.notes, dropped=drop_outcome.dropped
    )


def _staged_tree(handle: pygit2.Repository, stash: pygit2.Commit, current: str) -> str | None:
    """The tree to restore the index to, if the stash has staged changes that are not there yet."""
    base, then = str(stash.parents[0].tree.id), str(stash.parents[1].tree.id)
    if then in (base, current):
        return None
    result = merge_trees(MergeDrivers(handle), base, current, then, _LABELS)
    if result.conflicts:
        raise GitFailed(
            "The staged part of the stash conflicts with the index.",
            hints=["The same call without index leaves it unstaged."],
        )
    return result.tree


def _plan_untracked(
    handle: pygit2.Repository, stash: pygit2.Commit, repository: Repository, plan: CheckoutPlan
) -> dict[str, Side]:
    """Adds a stash's untracked files to the plan; existing files are at risk."""
    if len(stash.parents) < _WITH_UNTRACKED:
        return {}
    tree = WorkTree(handle, repository.root)
    additions = diff_trees(handle, None, str(stash.parents[2].tree.id))
    loose = {path: pair.new for path, pair in additions.items() if pair.new is not None}
    clashes = sorted(clashing_paths(loose, plan.writes))
    if clashes:
        hints = [f"git show {stash.id}^3:{shown(clashes[0])}"]
        raise GitFailed(f"The stash has {shown(clashes[0])} as a file and as a directory.", hints=hints)
    for path, side in loose.items():
        standing = tree.at(path)
        if standing is not None and standing.side == side:
            continue
        for blocker in _in_the_way(tree, path, standing) - plan.removals:
            plan.risks[blocker] = Risk.UNTRACKED
            plan.removals.add(blocker)
        plan.writes[path] = side
    return loose


def _in_the_way(tree: WorkTree, path: str, standing: FileState | None) -> set[str]:
    """The files that must go for a file to be written at a path."""
    if standing is not None and standing.is_directory:
        return set(tree.files_below(path))
    blocker = tree.blocker(path)
    return {path} if standing is not None else {blocker} if blocker is not None else set()


def _write_index(
    repository: Repository, handle: pygit2.Repository, result: MergeResult, trees: Trees, loose: Iterable[str]
) -> None:
    """Writes the index as git's own stash leaves it."""
    before = handle[trees.current].peel(pygit2.Tree)
    with edited_index(repository, handle) as index:
        for path in loose:
            if tree_side(before, path) is None:  # an equal file that is tracked here stays tracked
                put_entry(index, path, None)
        if result.conflicts:
            for conflict in result.conflicts:
                _mark_conflict(index, conflict)
        elif trees.staged is not None:
            index.read_tree(handle[trees.staged].peel(pygit2.Tree))
        else:
            differ = diff_trees(handle, trees.current, result.tree)
            additions = {path for path, pair in differ.items() if pair.old is None}
            # New files stay staged; an entry cannot coexist with one below its name.
            old = {path for path, pair in differ.items() if pair.old is not None}
            for path in old - clashing_paths(old, additions):
                put_entry(index, path, tree_side(before, path))


def _mark_conflict(index: pygit2.Index, conflict: Conflict) -> None:
    if conflict.path in index:
        index.remove(conflict.path)
    sides = (conflict.ancestor, conflict.ours, conflict.theirs)
    ancestor, ours, theirs = (
        _index_entry(conflict.path, side) if side is not None else None for side in sides
    )
    index.add_conflict(ancestor, ours, theirs)  # type: ignore[arg-type]


def _index_entry(path: str, side: Side) -> pygit2.IndexEntry:
    return pygit2.IndexEntry(path, pygit2.Oid(hex=side.oid), FileMode(side.mode))
