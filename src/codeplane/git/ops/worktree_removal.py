"""Removing linked worktrees without losing work."""

import os
from collections.abc import Iterator
from typing import Final

import pygit2
from pygit2.enums import FileStatus

from codeplane.core.errors import InvalidArgument, WorkAtRisk
from codeplane.git.ops.own_commits import describe_commit, own_commits, ref_tips
from codeplane.git.ops.worktrees import Roots, Worktree, WorktreeOutcome, lock_reason
from codeplane.git.repo.lock_retry import retry_locked
from codeplane.git.repo.objects import SUBMODULE
from codeplane.git.repo.outcome import list_names, short_oid
from codeplane.git.repo.repository import Repository, explain_error, open_repository
from codeplane.git.repo.state import unfinished_operation
from codeplane.git.worktree.autosave import SAVED, save_work
from codeplane.jail import shown
from codeplane.storage import StateDir
from codeplane.storage.files import remove_tree
from codeplane.storage.state import STATE_DIR_NAME

_MOST_NAMED: Final = 20


def remove_worktree(
    repository: Repository, roots: Roots, worktree: Worktree, *, force: bool, branch: str | None = None
) -> WorktreeOutcome:
    """Removes a worktree with its directory, and its branch where one is named. Work that is only there is
    refused, or saved with `force`."""
    _check_removable(repository, roots, worktree)
    autosave_ref: str | None = None
    notes: tuple[str, ...] = ()
    if not worktree.is_missing:
        autosave_ref, notes = _save_or_refuse(repository, worktree, force=force, branch=branch)
        remove_tree(worktree.path)
    remove_tree(worktree.git_dir)
    if branch is not None:
        notes = (*notes, drop_branch(repository, branch, force=force))
    return WorktreeOutcome(f"removed worktree {worktree.path}", saved=autosave_ref, notes=notes)


def drop_branch(repository: Repository, branch: str, *, force: bool) -> str:
    """Deletes a branch whose commits are saved or are elsewhere; says what became of it."""
    with repository.opened() as handle:
        reference = handle.lookup_branch(branch)
        if reference is None:
            return f"Its branch {branch} was gone."
        commits = own_commits(handle, branch)
        if commits and not force:
            return f"Its branch {branch} stays: {len(commits)} of its commits are nowhere else."
        if commits:
            handle.create_reference(
                f"{SAVED}worktree-{short_oid(str(commits[0].id))}", commits[0].id, force=True
            )
        try:
            retry_locked(reference.delete)
        except pygit2.GitError as error:
            # The worktree is gone already: what is left is told, and can be deleted by itself.
            return f"Its branch {branch} stays: {explain_error(error).message}"
    return f"Its branch {branch} was deleted too."


def _check_removable(repository: Repository, roots: Roots, worktree: Worktree) -> None:
    if os.path.realpath(worktree.path) == os.path.realpath(repository.root):
        raise InvalidArgument("This server runs in that worktree: remove it from another one.")
    if worktree.lock is not None:
        raise InvalidArgument(f"{worktree.path} is locked{lock_reason(worktree)}.", hints=["unlock it first"])
    if worktree.path.is_symlink():
        raise InvalidArgument(f"{worktree.path} is a symbolic link and is not removed.")
    roots.enter(str(worktree.path))
    if not worktree.is_missing and StateDir.at(worktree.path).lock().is_taken():
        raise InvalidArgument(f"{worktree.path} is being served: stop CodePlane there first.")


def _save_or_refuse(
    repository: Repository, worktree: Worktree, *, force: bool, branch: str | None
) -> tuple[str | None, tuple[str, ...]]:
    """Saves work that exists only in a worktree, or refuses without `force`."""
    inner = open_repository(worktree.path, trusted=repository.trusted)
    with inner.opened() as handle:
        files = sorted(_local_changes(handle))
        loose = _loose_commit(handle)
        commits = own_commits(handle, branch) if branch is not None else []
        operation = unfinished_operation(handle)
        modules = [entry.path for entry in handle.index if int(entry.mode) == SUBMODULE]
        living = [path for path in modules if os.path.lexists(worktree.path / path / ".git")]
        risks = {
            "changed or untracked": [shown(path) for path in files],
            "commits on no branch": [loose] if loose else [],
            f"commits that only {branch} has": [describe_commit(one) for one in commits],
            "not finished": [operation] if operation else [],
            "submodules with repositories of their own": [shown(path) for path in living],
        }
        if any(risks.values()) and not force:
            raise WorkAtRisk(
                f"{worktree.path} has work that exists nowhere else. "
                + "; ".join(f"{why}: {list_names(what)}" for why, what in risks.items() if what)
                + ".",
                hints=["force: true removes it; files and commits are saved first, ignored files are not."],
                paths=risks["changed or untracked"][:_MOST_NAMED],
            )
        autosave_ref = (
            save_work(inner, handle, f"before the worktree {worktree.name} was removed", files)
            if files
            else None
        )
        tip = loose or (str(commits[0].id) if commits else None)
        if tip and (autosave_ref is None or not handle.descendant_of(_commit_of(handle, autosave_ref), tip)):
            commits_ref = f"{SAVED}worktree-{short_oid(tip)}"
            handle.create_reference(commits_ref, tip, force=True)
            autosave_ref = autosave_ref or commits_ref
        return autosave_ref, tuple(_goes_along(handle, living))


def _goes_along(handle: pygit2.Repository, living: list[str]) -> Iterator[str]:
    """What nothing saves and nobody asks about."""
    if living:
        yield f"Its submodules were removed too: {list_names(living)}."
    flags_by_path = handle.status(untracked_files="normal", ignored=True)
    ignored_paths = [path for path, flags in flags_by_path.items() if flags & FileStatus.IGNORED]
    names = sorted(shown(path) for path in ignored_paths if not path.startswith(f"{STATE_DIR_NAME}/"))
    if names:
        yield f"Ignored files were removed too: {list_names(names)}."


def _commit_of(handle: pygit2.Repository, name: str) -> pygit2.Oid:
    return handle.references[name].peel(pygit2.Commit).id


def _local_changes(handle: pygit2.Repository) -> list[str]:
    ignore_flag = FileStatus.IGNORED
    return [path for path, flags in handle.status(untracked_files="all").items() if not flags & ignore_flag]


def _loose_commit(handle: pygit2.Repository) -> str | None:
    """The commit of a detached HEAD, if no branch or tag reaches it."""
    if not handle.head_is_detached:
        return None
    commit = handle.head.target
    tips = [ref.peel(pygit2.Commit).id for ref in ref_tips(handle)]
    is_kept = any(tip == commit or handle.descendant_of(tip, commit) for tip in tips)
    return None if is_kept else str(commit)
