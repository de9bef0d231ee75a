"""Resetting the current branch to another commit, with or without index and files."""

from enum import StrEnum
from typing import Final

import pygit2

from codeplane.core.errors import GitUnfinished, NotFound
from codeplane.git.history.commit_info import info_of
from codeplane.git.history.tree_diff import Pair, conflict_paths, diff_index, diff_trees, index_side
from codeplane.git.repo.heads import move_head, note_orig_head
from codeplane.git.repo.objects import Commit, find_commit
from codeplane.git.repo.outcome import Outcome, Side
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import check_possible, clear_merge
from codeplane.git.worktree.autosave import head_tree, save_work
from codeplane.git.worktree.checkout_plan import tree_side
from codeplane.git.worktree.checkout_tree import CheckoutResult, check_out_tree
from codeplane.git.worktree.files import WorkTree
from codeplane.git.worktree.index_writer import edited_index, put_entry
from codeplane.jail import shown
from codeplane.process import Programs

_SHORT: Final = 10


class ResetMode(StrEnum):
    """What is reset with the branch: nothing, the index, index and files, or only clean files."""

    SOFT = "soft"
    MIXED = "mixed"
    HARD = "hard"
    KEEP = "keep"


def reset_head(
    repository: Repository, programs: Programs, ref: str, mode: ResetMode, *, force: bool = False
) -> Outcome:
    """Resets index and files as `mode` says, then moves the branch; ORIG_HEAD is where it was."""
    with repository.opened() as handle:
        target = find_commit(handle, ref)
        if mode in (ResetMode.SOFT, ResetMode.KEEP):
            check_possible(handle, f"A {mode} reset")
            _check_merged(handle, mode)
        result = _bring_along(repository, programs, handle, target, mode, force=force)
        note_orig_head(handle)
        move_head(handle, target.oid, f"reset: moving to {ref}")
        clear_merge(repository)
        subject = shown(info_of(handle[target.oid].peel(pygit2.Commit)).subject)
    summary = f"{mode} reset: HEAD is at {target.oid[:_SHORT]} ({subject})"
    return Outcome(summary, saved=result.saved, mode=mode.value, notes=result.notes)


def reset_paths(repository: Repository, ref: str, selection: Selection) -> Outcome:
    """Resets index entries to a commit; files and branch stay."""
    with repository.opened() as handle:
        tree = head_tree(handle) if ref == "HEAD" else find_commit(handle, ref).tree
        differ = {path: pair for path, pair in diff_index(handle, tree).items() if path in selection}
        differ |= {
            path: Pair(_side_at(handle, tree, path), None)
            for path in conflict_paths(handle)
            if path in selection
        }
        _check_known(handle, selection, tree)
        autosave_ref = _save_hidden(repository, handle, set(differ))
        with edited_index(repository, handle) as index:
            for path, pair in differ.items():
                put_entry(index, path, pair.old)
    count = len(differ)
    return Outcome(
        f"reset {count} path{'s' if count != 1 else ''} of the index to {shown(ref)}", saved=autosave_ref
    )


def _bring_along(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    target: Commit,
    mode: ResetMode,
    *,
    force: bool,
) -> CheckoutResult:
    match mode:
        case ResetMode.SOFT:
            return CheckoutResult()
        case ResetMode.HARD:
            return check_out_tree(repository, programs, handle, target.tree, force=force, whole=True)
        case ResetMode.KEEP:
            result = check_out_tree(repository, programs, handle, target.tree, force=force)
        case ResetMode.MIXED:
            result = CheckoutResult(saved=_save_hidden(repository, handle, None))
    with edited_index(repository, handle) as index:
        index.read_tree(target.tree)
    return result


def _save_hidden(repository: Repository, handle: pygit2.Repository, paths: set[str] | None) -> str | None:
    """Saves staged contents that exist only in the index."""
    tree = WorkTree(handle, repository.root)
    differences = diff_index(handle, head_tree(handle))
    hidden_paths = {
        path
        for path, pair in differences.items()
        if pair.new is not None and (paths is None or path in paths) and _is_changed(handle, tree, path)
    }
    return (
        save_work(repository, handle, "what was staged before a reset", hidden_paths)
        if hidden_paths
        else None
    )


def _is_changed(handle: pygit2.Repository, tree: WorkTree, path: str) -> bool:
    entry = index_side(handle, path)
    current = tree.at(path, entry)
    return current is None or current.side != entry


def _check_merged(handle: pygit2.Repository, mode: ResetMode) -> None:
    conflicts = sorted(conflict_paths(handle))
    if conflicts and mode is ResetMode.KEEP:
        raise GitUnfinished(
            f"A keep reset is not possible with unmerged paths: {', '.join(map(shown, conflicts))}."
        )


def _check_known(handle: pygit2.Repository, selection: Selection, tree: str | None) -> None:
    paths = {*diff_trees(handle, None, tree)} if tree is not None else set()
    paths |= {str(entry.path) for entry in handle.index} | conflict_paths(handle)
    missing = selection.missing(paths)
    if missing:
        raise NotFound(f"Neither tracked nor in that commit: {', '.join(map(shown, missing[:20]))}.")


def _side_at(handle: pygit2.Repository, tree: str | None, path: str) -> Side | None:
    return tree_side(handle[tree].peel(pygit2.Tree), path) if tree is not None else None
