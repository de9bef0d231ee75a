"""Unstaging paths, and discarding changes in files."""

import os
from collections.abc import Iterable

import pygit2

from codeplane.core.errors import GitUnfinished, NotFound, PathRefused
from codeplane.git.history.tree_diff import conflict_paths, diff_index, index_side, unstaged_paths
from codeplane.git.history.tree_edit import EMPTY_TREE, side_at
from codeplane.git.repo.objects import SUBMODULE
from codeplane.git.repo.outcome import Side
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.staging.stage import StageOutcome, StagingRules, left_out, list_paths, summary_line
from codeplane.git.worktree.autosave import head_tree
from codeplane.git.worktree.checkout_plan import plan_paths
from codeplane.git.worktree.checkout_tree import apply_plan, work_at_risk
from codeplane.git.worktree.filters import check_filters, filter_drivers, restore_filtered
from codeplane.git.worktree.index_writer import edited_index, put_entry
from codeplane.jail import shown
from codeplane.process import Programs


def unstage_paths(repository: Repository, selection: Selection, rules: StagingRules) -> StageOutcome:
    """Resets the selected index entries to HEAD; files stay as they are."""
    with repository.opened() as handle, edited_index(repository, handle) as index:
        pairs = diff_index(handle, head_tree(handle))
        conflicts = conflict_paths(handle)
        paths = sorted(path for path in pairs.keys() | conflicts if path in selection)
        _check_known(handle, selection, paths)
        tree = head_tree(handle) or EMPTY_TREE
        for path in paths:
            rules.check()
            put_entry(index, path, side_at(handle, tree, path))
    return StageOutcome(summary_line("unstaged", tuple(paths)), paths=tuple(paths))


def discard_changes(
    repository: Repository,
    programs: Programs,
    selection: Selection,
    rules: StagingRules,
    *,
    force: bool = False,
) -> StageOutcome:
    """Restores tracked files from the index. Losing work needs `force`, and the work is saved."""
    with repository.opened() as handle:
        handle.index.read()
        conflicts = sorted(path for path in conflict_paths(handle) if path in selection)
        if conflicts:
            raise GitUnfinished(
                f"In conflict, so the index has no single version: {list_paths(conflicts)}.",
                hints=[Remedy(Fix.CONTINUE_OR_RESOLVE)],
            )
        work = {
            path: side
            for path in sorted(unstaged_paths(handle))
            if path in selection and (side := index_side(handle, path)) is not None and side.mode != SUBMODULE
        }
        reasons = {path: reason for path in work if (reason := rules.closed_reason(path)) is not None}
        for path, reason in reasons.items():
            if path in selection.paths:
                raise PathRefused(reason, path=shown(path))
            del work[path]
        _check_known(handle, selection, work)
        return _restore_files(repository, programs, handle, work, left_out(reasons), force=force)


def _restore_files(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    work: dict[str, Side],
    notes: tuple[str, ...],
    *,
    force: bool,
) -> StageOutcome:
    drivers = filter_drivers(handle, work)
    check_filters(repository, handle, drivers)
    plan = plan_paths(handle, repository.root, work)
    if plan.risks and not force:
        raise work_at_risk(plan.risks)
    result = apply_plan(repository, programs, handle, plan, force=force, why="before changes were discarded")
    if drivers:
        restore_filtered(repository, programs, handle, drivers)
    paths = tuple(work)
    return StageOutcome(
        summary_line("restored", paths), saved=result.saved, notes=(*notes, *result.notes), paths=paths
    )


def _check_known(handle: pygit2.Repository, selection: Selection, more: Iterable[str]) -> None:
    paths = {*more, *(os.fsdecode(entry.path) for entry in handle.index)} if selection.paths else ()
    missing = selection.missing(paths)
    if missing:
        raise NotFound(f"Not tracked by git: {list_paths(missing)}.", path=shown(missing[0]))
