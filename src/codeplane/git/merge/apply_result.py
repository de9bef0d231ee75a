"""Writing a merged tree to index and working tree, and undoing that when the operation is aborted."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import pygit2

from codeplane.core.errors import CodePlaneError, WorkAtRisk
from codeplane.git.history.tree_diff import conflict_paths, diff_index, diff_trees, index_side
from codeplane.git.history.tree_edit import side_at
from codeplane.git.merge.tree_merge import MergeResult
from codeplane.git.repo.outcome import Conflict, Side
from codeplane.git.repo.remedies import Fix
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import AUTO_MERGE, begin_writing, clear_merge, read_state, write_state
from codeplane.git.worktree.autosave import head_tree
from codeplane.git.worktree.checkout_plan import CheckoutPlan, Risk, plan_paths, tree_side
from codeplane.git.worktree.checkout_tree import CheckoutResult, apply_plan, check_out_tree, work_at_risk
from codeplane.git.worktree.files import WorkTree
from codeplane.git.worktree.index_writer import edited_index
from codeplane.process import Programs

_OID: Final = re.compile(r"[0-9a-f]{40}")


def check_nothing_staged(handle: pygit2.Repository, what: str) -> None:
    """A merge of any kind starts with an index that equals HEAD, in git too."""
    if differences := diff_index(handle, head_tree(handle)):
        raise without_force(work_at_risk(dict.fromkeys(differences, Risk.STAGED), what))


def write_result(
    repository: Repository,
    programs: Programs,
    handle: pygit2.Repository,
    result: MergeResult,
    state: Mapping[str, str],
) -> CheckoutResult:
    """Writes git's own files of `state`, then the tree, then the stages of what is in conflict.

    Local changes are carried along where the merge has nothing to do; where it has, it is refused and
    nothing is left of it. The caller moves HEAD, if it has to move, and calls `end_writing`.
    """
    begin_writing(repository, result.tree)
    for name, content in state.items():
        write_state(repository, name, content)
    try:
        put = check_out_tree(repository, programs, handle, result.tree)
    except WorkAtRisk as error:
        clear_merge(repository)
        raise without_force(error) from error
    except CodePlaneError:
        clear_merge(repository)
        raise
    stage_conflicts(repository, handle, result.conflicts)
    return put


def stage_conflicts(repository: Repository, handle: pygit2.Repository, conflicts: Iterable[Conflict]) -> None:
    """Writes conflict entries to the index; the files are in place already."""
    entries = tuple(conflicts)
    if not entries:
        return
    with edited_index(repository, handle) as index:
        for conflict in entries:
            if conflict.path in index:
                index.remove(conflict.path)
            sides = (
                _index_entry(conflict.path, side)
                for side in (conflict.ancestor, conflict.ours, conflict.theirs)
            )
            index.add_conflict(*sides)  # type: ignore[arg-type]


def restore_tree(
    repository: Repository, programs: Programs, handle: pygit2.Repository, target: str, why: str
) -> CheckoutResult:
    """Restores the tree `target` wherever the operation wrote; work done since is saved.

    Local changes from before are in other paths and stay.
    """
    result = read_state(repository, AUTO_MERGE).strip()
    is_known = _OID.fullmatch(result) is not None and result in handle
    plan = _plan_back(handle, repository.root, target, result if is_known else None)
    return apply_plan(repository, programs, handle, plan, force=True, why=why)


def _plan_back(handle: pygit2.Repository, root: Path, target: str, result: str | None) -> CheckoutPlan:
    """Only what differs from the tree that the merge wrote counts as work."""
    paths = diff_index(handle, target).keys() | conflict_paths(handle)
    differences = diff_trees(handle, target, result) if result is not None else {}
    whole = handle[target].peel(pygit2.Tree)
    plan = plan_paths(handle, root, {path: tree_side(whole, path) for path in paths | differences.keys()})
    tree = WorkTree(handle, root)
    for path in [path for path in plan.risks if result is not None]:
        current = tree.at(path, index_side(handle, path))
        if (
            current is not None
            and current.side is not None
            and current.side == side_at(handle, result or "", path)
        ):
            del plan.risks[path]
    for path, pair in differences.items():
        current = tree.at(path)
        is_left = pair.old is None and current is not None and current.side == pair.new
        if is_left and index_side(handle, path) is None:
            plan.removals.add(path)
    return plan


def without_force(error: WorkAtRisk) -> WorkAtRisk:
    """The refusal without the hint at `force`, which a merge does not take."""
    hints = [hint for hint in error.hints if hint != Fix.DISCARD_WORK]
    return WorkAtRisk(error.message, hints=hints, **error.details)


def _index_entry(path: str, side: Side | None) -> pygit2.IndexEntry | None:
    if side is None:
        return None
    return pygit2.IndexEntry(path, pygit2.Oid(hex=side.oid), pygit2.enums.FileMode(side.mode))
