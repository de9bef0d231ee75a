"""Workspaces whose files are in a git worktree of their own."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.git.ops.checkout import CheckoutTarget, find_target
from codeplane.git.ops.reset import ResetMode, reset_head
from codeplane.git.ops.worktree_removal import remove_worktree
from codeplane.git.ops.worktrees import Roots, Worktree, add_worktree, list_worktrees
from codeplane.git.repo.heads import BRANCHES
from codeplane.git.repo.ref_names import branch_name
from codeplane.git.repo.repository import Repository
from codeplane.jail import shown
from codeplane.session.call import Call
from codeplane.session.operation.git import change
from codeplane.session.repo import RepoSession
from codeplane.session.workspaces.kind import Creation, NewWorkspace, Outcome, Place, Standing
from codeplane.session.workspaces.neighbours import Neighbours
from codeplane.workspaces import Workspace, WorkspaceKindName

_MOST_NAMED: Final = 5


class WorktreeKind:
    """A worktree below the configured directories, with a branch of its own."""

    name = WorkspaceKindName.WORKTREE

    def create(self, call: Call, wish: NewWorkspace) -> Creation:
        """Makes it at the base; nothing that is uncommitted here comes along, and what it is is told."""
        checkout = call.repo.checkout
        repository = checkout.repository
        roots = Roots.of(repository, checkout.settings.git.worktree_roots)
        place = roots.enter(wish.path or wish.id)
        base_name = wish.base or "HEAD"
        base = repository.commit(base_name)
        target = _target(repository, wish.branch or wish.id, base.oid, wish)
        result = change(
            call,
            "git_worktree",
            lambda: add_worktree(repository, checkout.programs, place, target),
            alone=False,
        )
        worktree = _worktree_at(repository, place)
        now_ms = int(time.time() * 1000)
        workspace = Workspace(
            id=wish.id,
            kind=self.name,
            base_commit=base.oid,
            base_name=base_name,
            branch=worktree.branch,
            has_made_branch=target.is_new,
            worktree=worktree.name,
            created_ms=now_ms,
            used_ms=now_ms,
        )
        return Creation(workspace, is_new=True, operation=result.operation_id, notes=_left_out(call))

    @contextmanager
    def enter(self, home: RepoSession, workspace: Workspace) -> Iterator[Place]:
        """The worktree's own repository, opened when the first call comes."""
        worktree = find_worktree_of(home.checkout.repository, workspace)
        with _neighbours(home).entered(worktree.path) as repo:
            yield Place(repo, workspace)

    def standing(self, home: RepoSession, workspace: Workspace) -> Standing:
        """Where it is and what is checked out."""
        try:
            worktree = find_worktree_of(home.checkout.repository, workspace)
        except NotFound as error:
            return Standing(problem=error.message)
        return Standing(path=str(worktree.path), branch=worktree.branch, head=worktree.commit)

    def revision(self, home: RepoSession, workspace: Workspace) -> int:  # noqa: ARG002 - of the protocol
        """How often its files have been seen to differ since it was made or reset."""
        return workspace.revision

    def reset(self, call: Call, workspace: Workspace, base: str, *, force: bool) -> Outcome:
        """Resets branch, index and files; the row is in the workspace's own ledger, and `undo` takes it back
        there."""
        home = call.repo
        with self.enter(home, workspace) as place:
            inner = call.inner_of(place.repo)
            checkout = place.repo.checkout
            result = change(
                inner,
                "git_reset",
                lambda: reset_head(checkout.repository, checkout.programs, base, ResetMode.HARD, force=force),
            )
        return Outcome(result.outcome.summary, result.operation_id, result.outcome.saved)

    def delete(self, call: Call, workspace: Workspace, *, force: bool) -> Outcome:
        """Removes the worktree; what is uncommitted is refused without `force`, and saved with it."""
        checkout = call.repo.checkout
        repository = checkout.repository
        try:
            worktree = find_worktree_of(repository, workspace)
        except NotFound:
            return Outcome(f"forgot {workspace.id}, whose worktree is gone")
        roots = Roots.of(repository, checkout.settings.git.worktree_roots)
        _neighbours(call.repo).close(worktree.path)
        result = change(
            call,
            "git_worktree",
            lambda: remove_worktree(repository, roots, worktree, force=force),
            alone=False,
        )
        # What was saved belongs into another workspace, not into this checkout.
        call.next_actions.clear()
        return Outcome(result.outcome.summary, result.operation_id, result.outcome.saved)


def find_worktree_of(repository: Repository, workspace: Workspace) -> Worktree:
    """The worktree of a workspace, wherever git has it now."""
    worktrees = [one for one in list_worktrees(repository) if one.name == workspace.worktree]
    if not worktrees or worktrees[0].is_missing:
        raise NotFound(
            f"The worktree of {workspace.id} is gone.",
            hints=[f'workspace_delete {{"workspace": "{workspace.id}"}}'],
            workspace=workspace.id,
        )
    return worktrees[0]


def _neighbours(home: RepoSession) -> Neighbours:
    return home.keep(Neighbours, lambda: Neighbours(home))


def _target(repository: Repository, name: str, base: str, wish: NewWorkspace) -> CheckoutTarget:
    """A new branch at the base, or one that is there and says the same."""
    full_name = BRANCHES + branch_name(name)
    with repository.opened() as handle:
        if full_name not in handle.references:
            return CheckoutTarget(base, full_name, is_new=True)
    target = find_target(repository, name)
    if target.commit != base and (wish.branch is None or wish.base is not None):
        raise InvalidArgument(
            f"Branch {name} exists already, at another commit than the base.",
            hints=[
                f'workspace_create {{"workspace": "{wish.id}", "base": "{name}"}} goes on with it',
                'or another "branch"',
            ],
        )
    return target


def _worktree_at(repository: Repository, place: Path) -> Worktree:
    for worktree in list_worktrees(repository):
        if worktree.name is not None and worktree.path == place:
            return worktree
    raise AssertionError(f"BUG: git does not list the worktree {place}")


def _left_out(call: Call) -> tuple[str, ...]:
    """What is uncommitted in the checkout that the workspace was made from."""
    status = call.repo.tree.git.look()
    names = {*status.untracked, *(one.path for one in (*status.staged, *status.modified))}
    names |= {one.path for one in status.conflicts}
    paths = [shown(path) for path in sorted(names)]
    if not paths:
        return ()
    listing = ", ".join(paths[:_MOST_NAMED]) + (", …" if len(paths) > _MOST_NAMED else "")
    count = "1 uncommitted file" if len(paths) == 1 else f"{len(paths)} uncommitted files"
    return (f"{count} of {call.repo.checkout.root} left out: {listing}",)
