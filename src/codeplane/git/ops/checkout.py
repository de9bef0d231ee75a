"""Checking out branches and commits, and restoring single files."""

import os
import re
from dataclasses import dataclass
from typing import Final

import pygit2

from codeplane.core.errors import InvalidArgument, NotFound, RevisionNotFound
from codeplane.core.suggest import nearest
from codeplane.git.history.commit_info import info_of
from codeplane.git.history.tree_diff import conflict_paths, diff_index, diff_trees, index_side, unstaged_paths
from codeplane.git.repo.heads import BRANCHES, check_free, previous_checkout
from codeplane.git.repo.hooks import run_hook
from codeplane.git.repo.objects import find_commit
from codeplane.git.repo.outcome import Outcome, Side
from codeplane.git.repo.pathspec import Selection
from codeplane.git.repo.ref_names import branch_name
from codeplane.git.repo.remedies import Fix, Remedy
from codeplane.git.repo.repository import Repository
from codeplane.git.repo.state import check_possible, clear_merge
from codeplane.git.worktree.autosave import head_tree
from codeplane.git.worktree.checkout_empty import fill_empty
from codeplane.git.worktree.checkout_plan import plan_paths
from codeplane.git.worktree.checkout_tree import apply_plan, check_out_tree
from codeplane.jail import shown
from codeplane.process import Programs

_REMOTES: Final = "refs/remotes/"
_BACK: Final = re.compile(r"-|@\{-(\d{1,3})\}")
_HERE: Final = ("HEAD", "@")
_NOWHERE: Final = "0" * 40
# Beyond this, counting lines costs more than it is worth.
_MOST_COUNTED: Final = 300
_SHORT: Final = 10


@dataclass(frozen=True)
class CheckoutTarget:
    """What to check out: a branch by its full name, or a commit. A new branch may track another."""

    commit: str | None
    branch: str | None = None
    is_new: bool = False
    upstream: str | None = None


def check_out(
    repository: Repository,
    programs: Programs,
    target: CheckoutTarget,
    *,
    force: bool = False,
    is_empty: bool = False,
) -> Outcome:
    """Checks out a branch or commit; local changes are carried along. An empty worktree is filled."""
    with repository.opened() as handle:
        check_possible(handle, "Checking out a branch or a commit")
        if target.branch is not None and not target.is_new:
            check_free(repository, target.branch)
        old = None if handle.head_is_unborn else str(handle.head.target)
        tree = str(handle[target.commit].peel(pygit2.Tree).id) if target.commit is not None else None
        plus, minus = _count_lines(handle, tree)
        result = None
        if tree is not None and is_empty:
            result = fill_empty(repository, programs, handle, tree)
        elif tree is not None:
            result = check_out_tree(repository, programs, handle, tree, force=force)
        _point_head(handle, target)
        clear_merge(repository)
        summary = _describe_target(handle, target)
    hook = (old or _NOWHERE, target.commit or _NOWHERE, "1")
    notes = (*(result.notes if result else ()), *run_hook(repository, programs, "post-checkout", hook))
    return Outcome(summary, plus, minus, saved=result.saved if result else None, notes=notes)


def find_target(repository: Repository, ref: str, *, detach: bool = False) -> CheckoutTarget:
    """Resolves a name in git's order: a local branch, a commit, a branch of exactly one remote."""
    with repository.opened() as handle:
        if back := _BACK.fullmatch(ref):
            ref = previous_checkout(handle, int(back[1] or 1))
        if ref in _HERE and not handle.head_is_unborn and not handle.head_is_detached:
            ref = handle.head.shorthand
        local = handle.references.get(BRANCHES + ref) if _may_name(ref) else None
        if local is not None and not detach:
            return CheckoutTarget(str(local.peel(pygit2.Commit).id), BRANCHES + ref)
        try:
            return CheckoutTarget(find_commit(handle, ref).oid)
        except RevisionNotFound as error:
            return _of_remote(handle, ref, error, detach=detach)


def new_branch(repository: Repository, name: str, start: str | None) -> CheckoutTarget:
    """A new branch at a commit or HEAD; one that starts at a remote's branch tracks it."""
    branch = BRANCHES + branch_name(name)
    with repository.opened() as handle:
        if branch in handle.references:
            raise InvalidArgument(
                f"Branch {name} already exists.", hints=[Remedy(Fix.CHECK_OUT, ref=name)], name=name
            )
        if start is None and handle.head_is_unborn:
            return CheckoutTarget(None, branch, is_new=True)
        commit = find_commit(handle, start or "HEAD").oid
        remote = _REMOTES + start if start is not None and _may_name(start) else ""
        upstream = start if remote and remote in handle.references else None
        return CheckoutTarget(commit, branch, is_new=True, upstream=upstream)


def restore_paths(
    repository: Repository,
    programs: Programs,
    selection: Selection,
    *,
    ref: str | None = None,
    force: bool = False,
) -> Outcome:
    """Restores files and index entries from a commit; without one, files from the index."""
    with repository.opened() as handle:
        tree = find_commit(handle, ref).tree if ref is not None else None
        targets = _of_index(handle, selection) if tree is None else _of_tree(handle, selection, tree)
        plan = plan_paths(handle, repository.root, targets)
        why = f"before files were restored from {shown(ref or 'the index')}"
        result = apply_plan(repository, programs, handle, plan, force=force, why=why)
    count = len(plan.writes) + len(plan.index_only)
    files = f"{count} file{'s' if count != 1 else ''}"
    return Outcome(
        f"{files} restored from {shown(ref or 'the index')}", saved=result.saved, notes=result.notes
    )


def _of_index(handle: pygit2.Repository, selection: Selection) -> dict[str, Side | None]:
    paths = [os.fsdecode(entry.path) for entry in handle.index]
    conflicts = sorted(path for path in conflict_paths(handle) if path in selection)
    if conflicts:
        raise InvalidArgument(
            f"Unmerged, so the index has no single version: {', '.join(map(shown, conflicts[:20]))}.",
            hints=["Name a commit in `ref`, or resolve and stage them."],
        )
    _check_found(selection, paths, "the index")
    return {path: index_side(handle, path) for path in unstaged_paths(handle) if path in selection}


def _of_tree(handle: pygit2.Repository, selection: Selection, tree: str) -> dict[str, Side | None]:
    there = diff_trees(handle, None, tree)
    _check_found(selection, there, "that commit")
    differ = diff_index(handle, tree).keys() | unstaged_paths(handle) | conflict_paths(handle)
    return {path: there[path].new for path in differ if path in there and path in selection}


def _check_found(selection: Selection, there: object, where: str) -> None:
    missing = selection.missing(list(there))  # type: ignore[call-overload]
    if missing:
        raise NotFound(
            f"Not in {where}: {', '.join(map(shown, missing[:20]))}.", paths=list(map(shown, missing))
        )


def _of_remote(
    handle: pygit2.Repository, ref: str, error: RevisionNotFound, *, detach: bool
) -> CheckoutTarget:
    names = handle.remotes.names() if _may_name(ref) and not detach else ()
    having = [name for name in names if name and f"{_REMOTES}{name}/{ref}" in handle.references]
    if len(having) == 1:
        commit = handle.references[f"{_REMOTES}{having[0]}/{ref}"].peel(pygit2.Commit)
        return CheckoutTarget(
            str(commit.id), BRANCHES + branch_name(ref), is_new=True, upstream=f"{having[0]}/{ref}"
        )
    if having:
        calls = [Remedy(Fix.CHECK_OUT_NEW, ref=ref, start=f"{name}/{ref}") for name in having]
        raise InvalidArgument(
            f"Several remotes have a branch {ref}: {', '.join(having)}.", hints=calls
        ) from error
    near = nearest(ref, [name for name in handle.branches.local if name.isprintable()])
    raise RevisionNotFound(
        f"There is no branch, tag or commit {ref!r}.",
        hints=[Remedy(Fix.CHECK_OUT, ref=name) for name in near] or list(error.hints),
        name=ref,
    ) from error


def _point_head(handle: pygit2.Repository, target: CheckoutTarget) -> None:
    """Moves HEAD, as the last step: a crash before it leaves the old one."""
    if target.branch is None:
        assert target.commit is not None, "BUG: neither a branch nor a commit"
        handle.set_head(pygit2.Oid(hex=target.commit))
        return
    if target.is_new and target.commit is not None:
        name = target.branch.removeprefix(BRANCHES)
        branch = handle.create_branch(name, handle[target.commit].peel(pygit2.Commit))
        if target.upstream is not None:
            branch.upstream = handle.lookup_branch(target.upstream, pygit2.enums.BranchType.REMOTE)
    handle.set_head(target.branch)


def _count_lines(handle: pygit2.Repository, tree: str | None) -> tuple[int, int]:
    old = head_tree(handle)
    if tree is None or old is None or old == tree:
        return 0, 0
    diff = handle[old].peel(pygit2.Tree).diff_to_tree(handle[tree].peel(pygit2.Tree), context_lines=0)
    if len(diff) > _MOST_COUNTED:
        return 0, 0
    return diff.stats.insertions, diff.stats.deletions


def _describe_target(handle: pygit2.Repository, target: CheckoutTarget) -> str:
    if target.branch is None:
        commit = handle[target.commit or ""].peel(pygit2.Commit)
        subject = shown(info_of(commit).subject)
        return f"HEAD is detached at {str(commit.id)[:_SHORT]} ({subject}); commits here belong to no branch"
    name = shown(target.branch.removeprefix(BRANCHES))
    tracks = f", which tracks {target.upstream}" if target.upstream else ""
    return f"switched to {'new ' if target.is_new else ''}branch {name}{tracks}"


def _may_name(ref: str) -> bool:
    return pygit2.reference_is_valid_name(BRANCHES + ref)
