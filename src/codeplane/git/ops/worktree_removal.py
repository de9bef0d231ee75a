"""Removing linked worktrees without losing work."""

import os
from collections.abc import Iterator
from typing import Final

import pygit2
from pygit2.enums import FileStatus

from codeplane.core.errors import InvalidArgument, WorkAtRisk
from codeplane.git.ops.worktrees import Roots, Worktree, WorktreeOutcome, lock_reason
from codeplane.git.remote.refspecs import text_names
from codeplane.git.repo.heads import BRANCHES
from codeplane.git.repo.objects import SUBMODULE
from codeplane.git.repo.outcome import list_names, short_oid
from codeplane.git.repo.repository import Repository, open_repository
from codeplane.git.repo.state import unfinished_operation
from codeplane.git.worktree.autosave import SAVED, save_work
from codeplane.jail import shown
from codeplane.storage import StateDir
from codeplane.storage.files import remove_tree

_MOST_NAMED: Final = 20


def remove_worktree(
    repository: Repository, roots: Roots, worktree: Worktree, *, force: bool
) -> WorktreeOutcome:
    """Removes a worktree with its directory. Work that is only there is refused, or saved with `force`."""
    _check_removable(repository, roots, worktree)
    autosave_ref: str | None = None
    notes: tuple[str, ...] = ()
    if not worktree.is_missing:
        autosave_ref, notes = _save_or_refuse(repository, worktree, force=force)
        remove_tree(worktree.path)
    remove_tree(worktree.git_dir)
    return WorktreeOutcome(f"removed worktree {worktree.path}", saved=autosave_ref, notes=notes)


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
    repository: Repository, worktree: Worktree, *, force: bool
) -> tuple[str | None, tuple[str, ...]]:
    """Saves work that exists only in a worktree, or refuses without `force`."""
    inner = open_repository(worktree.path, trusted=repository.trusted)
    with inner.opened() as handle:
        files = sorted(_local_changes(handle))
        loose = _loose_commit(handle)
        operation = unfinished_operation(handle)
        modules = [entry.path for entry in handle.index if int(entry.mode) == SUBMODULE]
        living = [path for path in modules if os.path.lexists(worktree.path / path / ".git")]
        risks = {
            "changed or untracked": [shown(path) for path in files],
            "commits on no branch": [loose] if loose else [],
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
        if loose and autosave_ref is None:
            autosave_ref = f"{SAVED}worktree-{short_oid(loose)}"
            handle.create_reference(autosave_ref, loose, force=True)
    return autosave_ref, ((f"Its submodules were removed too: {list_names(living)}.",) if living else ())


def _local_changes(handle: pygit2.Repository) -> list[str]:
    ignore_flag = FileStatus.IGNORED
    return [path for path, flags in handle.status(untracked_files="all").items() if not flags & ignore_flag]


def _loose_commit(handle: pygit2.Repository) -> str | None:
    """The commit of a detached HEAD, if no branch or tag reaches it."""
    if not handle.head_is_detached:
        return None
    commit = handle.head.target
    tips = [ref.peel(pygit2.Commit).id for ref in _ref_tips(handle)]
    is_kept = any(tip == commit or handle.descendant_of(tip, commit) for tip in tips)
    return None if is_kept else str(commit)


def _ref_tips(handle: pygit2.Repository) -> Iterator[pygit2.Reference]:
    for name in text_names(handle):
        if name.startswith((BRANCHES, "refs/remotes/", "refs/tags/")):
            reference = handle.references[name].resolve()
            if isinstance(handle.get(reference.target), pygit2.Commit | pygit2.Tag):
                yield reference
