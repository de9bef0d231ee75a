"""Workspaces whose files are in a git worktree of their own."""

import os
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from codeplane.core.errors import GitBusy, InvalidArgument, NotFound
from codeplane.git.ops.checkout import CheckoutTarget, find_target
from codeplane.git.ops.own_commits import save_own_commits
from codeplane.git.ops.reset import ResetMode, reset_head
from codeplane.git.ops.stash import set_aside
from codeplane.git.ops.worktree_removal import drop_branch, remove_worktree
from codeplane.git.ops.worktrees import Roots, Worktree, add_worktree, list_worktrees, prune_worktrees
from codeplane.git.repo.heads import BRANCHES
from codeplane.git.repo.outcome import Outcome as GitOutcome
from codeplane.git.repo.ref_names import branch_name
from codeplane.git.repo.repository import Repository
from codeplane.index import drop_view, epoch_of, linked_view, orphaned_views
from codeplane.jail import shown
from codeplane.session.call import Call
from codeplane.session.operation.git import change
from codeplane.session.repo import RepoSession
from codeplane.session.workspaces.kind import Creation, NewWorkspace, Outcome, Place, Standing
from codeplane.session.workspaces.neighbours import neighbours_of
from codeplane.session.workspaces.worktree_standing import standing_of
from codeplane.workspaces import Workspace, WorkspaceKindName, WorkspaceStore, parse_workspace_id
from codeplane.workspaces.environment import missing_files, package_directories, port_offset
from codeplane.workspaces.record import LONGEST_ID

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
        target = _target(repository, base.oid, wish)
        result = change(
            call,
            "git_worktree",
            lambda: add_worktree(repository, checkout.programs, place, target),
            alone=False,
        )
        worktree = next(one for one in list_worktrees(repository) if one.name and one.path == place)
        workspace = _record(call.repo, wish, worktree, base.oid, base_name, has_made_branch=target.is_new)
        notes = _left_out(call, place, is_clean=result.status == "clean")
        return Creation(
            workspace,
            is_new=True,
            operation=result.operation_id,
            path=str(worktree.path),
            notes=tuple(notes),
        )

    def find(self, home: RepoSession, text: str, records: Iterable[Workspace]) -> Workspace | None:
        """A worktree's record by its directory; one without gets a record, by its name as well."""
        by_worktree = {one.worktree: one for one in records}
        for worktree in list_worktrees(home.checkout.repository):
            if worktree.name and worktree.name in by_worktree and os.path.realpath(worktree.path) == text:
                return by_worktree[worktree.name]
        others = self.unrecorded(home, by_worktree)
        return next((one for one in others if text in (one.id, _real_path(home, one))), None)

    def unrecorded(self, home: RepoSession, known: Iterable[str | None]) -> Iterator[Workspace]:
        """Worktrees that git has and no record names, as the records that they would get."""
        repository, names = home.checkout.repository, set(known)
        for worktree in list_worktrees(repository):
            if worktree.name in names or worktree.name is None or worktree.is_missing or not worktree.commit:
                continue
            try:
                workspace_id = parse_workspace_id(worktree.name)
            except InvalidArgument:
                workspace_id = parse_workspace_id(f"worktree-{zlib.crc32(os.fsencode(worktree.name)):08x}")
            base = _common_commit(repository, worktree.commit)
            yield _record(home, NewWorkspace(workspace_id), worktree, base, "HEAD", has_made_branch=False)

    @contextmanager
    def enter(self, home: RepoSession, workspace: Workspace) -> Iterator[Place]:
        """The worktree's own repository, opened when the first call comes."""
        worktree = find_worktree_of(home.checkout.repository, workspace)
        with neighbours_of(home).entered(Path(os.path.realpath(worktree.path)), workspace) as repo:
            is_first = not workspace.epoch
            if is_first:
                # From here on a change of its files is a revision.
                repo.refresh(until=repo.first_answer_due())
                self.revision(home, workspace)
            yield Place(repo, workspace, is_current=is_first)

    def standing(self, home: RepoSession, workspace: Workspace) -> Standing:
        """Where it is and how it differs from its base."""
        try:
            worktree = find_worktree_of(home.checkout.repository, workspace)
        except NotFound as error:
            return Standing(problem=error.message)
        return standing_of(home, workspace, worktree)

    def revision(self, home: RepoSession, workspace: Workspace) -> int:
        """How often its files have been seen to differ since it was made or reset."""
        epoch = epoch_of(home.index.database, linked_view(workspace.worktree or ""))
        if not epoch or epoch == workspace.epoch:
            return workspace.revision
        revision = WorkspaceStore(lambda: home.primary_state_db).advance(workspace.id, epoch)
        return workspace.revision if revision is None else revision

    def reset(self, call: Call, workspace: Workspace, base: str, *, force: bool) -> Outcome:
        """Resets branch, index and files; the row is in the workspace's own ledger, and `undo` takes it back
        there."""
        with self.enter(call.repo, workspace) as place:
            checkout = place.repo.checkout

            def act() -> GitOutcome:
                repository, programs = checkout.repository, checkout.programs
                branch = repository.head().branch
                if branch is not None:
                    save_own_commits(repository, branch, base, force=force)
                autosave_ref = set_aside(repository, programs, "before the workspace was reset", force=force)
                outcome = reset_head(repository, programs, base, ResetMode.HARD, force=force)
                return replace(outcome, saved=autosave_ref or outcome.saved)

            result = change(call.inner_of(place.repo), "git_reset", act)
        call.next_actions.append(
            f'undo {{"workspace": "{workspace.id}", "operation": "{result.operation_id}"}}'
        )
        return Outcome(result.outcome.summary, result.operation_id, result.outcome.saved)

    def delete(self, call: Call, workspace: Workspace, *, force: bool) -> Outcome:
        """Removes worktree and branch; what is only there is refused without `force`, and saved with it."""
        checkout = call.repo.checkout
        repository = checkout.repository
        worktree = next((one for one in list_worktrees(repository) if one.name == workspace.worktree), None)
        if worktree is None:
            self._forget_view(call.repo, workspace)
            return Outcome(f"forgot {workspace.id}, whose worktree is gone")
        if os.path.realpath(worktree.path) == str(checkout.root):
            raise InvalidArgument(
                f"A workspace is not deleted from within: send this without workspace {workspace.id}."
            )
        if not neighbours_of(call.repo).close(Path(os.path.realpath(worktree.path))):
            raise GitBusy(f"Calls are running in the workspace {workspace.id}.", hints=["Call again."])
        branch = workspace.branch if workspace.has_made_branch and _is_on(worktree, workspace) else None
        roots = Roots.of(repository, checkout.settings.git.worktree_roots)
        result = change(
            call,
            "git_worktree",
            lambda: remove_worktree(repository, roots, worktree, force=force, branch=branch),
            alone=False,
        )
        # What was saved belongs into another workspace, not into this checkout.
        call.next_actions.clear()
        call.warnings = [one for one in call.warnings if one not in result.outcome.notes]
        self._forget_view(call.repo, workspace)
        return Outcome(
            result.outcome.summary, result.operation_id, result.outcome.saved, tuple(result.outcome.notes)
        )

    def prune(self, call: Call, store: WorkspaceStore) -> list[str]:
        """Forgets worktrees without directories, records without worktrees, and views without either."""
        repository, database, lines = call.repo.checkout.repository, call.repo.index.database, []
        if any(one.is_missing and one.lock is None for one in list_worktrees(repository)):
            result = change(call, "git_worktree", lambda: prune_worktrees(repository), alone=False)
            lines.append(result.outcome.summary)
        names = {one.name for one in list_worktrees(repository) if one.name is not None}
        for workspace in store.find_all():
            if workspace.kind is self.name and workspace.worktree not in names:
                store.drop(workspace.id)
                lines.append(f"forgot {workspace.id}, whose worktree is gone")
                if workspace.has_made_branch and workspace.branch is not None:
                    lines.append(drop_branch(repository, workspace.branch, force=False))
        for key in orphaned_views(database, names):
            drop_view(database, key)
            lines.append(f"dropped the index of {key.partition(':')[2]}")
        return lines

    def _forget_view(self, home: RepoSession, workspace: Workspace) -> None:
        if workspace.worktree is not None:
            drop_view(home.index.database, linked_view(workspace.worktree))


def find_worktree_of(repository: Repository, workspace: Workspace) -> Worktree:
    """The worktree of a workspace, wherever git has it now."""
    worktree = next((one for one in list_worktrees(repository) if one.name == workspace.worktree), None)
    if worktree is None or worktree.is_missing:
        raise NotFound(
            f"The worktree of {workspace.id} is gone.",
            hints=[f'workspace_delete {{"workspace": "{workspace.id}"}}'],
            workspace=workspace.id,
        )
    return worktree


def _real_path(home: RepoSession, workspace: Workspace) -> str:
    return os.path.realpath(find_worktree_of(home.checkout.repository, workspace).path)


def _is_on(worktree: Worktree, workspace: Workspace) -> bool:
    return worktree.is_missing or worktree.branch == workspace.branch


def _record(
    repo: RepoSession,
    wish: NewWorkspace,
    worktree: Worktree,
    base: str,
    base_name: str,
    *,
    has_made_branch: bool,
) -> Workspace:
    now_ms = int(time.time() * 1000)
    offsets = {one.port_offset for one in WorkspaceStore(lambda: repo.primary_state_db).find_all()}
    return Workspace(
        id=wish.id,
        kind=WorkspaceKindName.WORKTREE,
        base_commit=base,
        base_name=base_name,
        branch=worktree.branch,
        has_made_branch=has_made_branch,
        worktree=worktree.name,
        created_ms=now_ms,
        used_ms=now_ms,
        port_offset=port_offset(wish.id, offsets),
    )


def _common_commit(repository: Repository, commit: str) -> str:
    """Where the history of a worktree left that of this checkout, or its own commit."""
    with repository.opened() as handle:
        if handle.head_is_unborn:
            return commit
        base = handle.merge_base(handle.head.target, commit)
    return str(base) if base is not None else commit


def _target(repository: Repository, base: str, wish: NewWorkspace) -> CheckoutTarget:
    """A new branch at the base, or one that is there and says the same."""
    name = wish.branch or wish.id
    full_name = BRANCHES + branch_name(name)
    with repository.opened() as handle:
        if full_name not in handle.references:
            return CheckoutTarget(base, full_name, is_new=True)
    target = find_target(repository, name)
    if target.commit != base:
        hint = f'workspace_create {{"workspace": "{wish.id}", "base": "{name}", "branch": "{name}"}}'
        raise InvalidArgument(
            f"Branch {name} exists already, at another commit than the base.",
            hints=[f"{hint} goes on with it", f'"branch": "{wish.id[: LONGEST_ID - 2]}-2" makes another'],
        )
    return target


def _left_out(call: Call, place: Path, *, is_clean: bool) -> Iterator[str]:
    """What is in the checkout that the workspace was made from, and not in the workspace."""
    root = call.repo.checkout.root
    if not is_clean:
        status = call.repo.tree.git.look()
        names = {*status.untracked, *(one.path for one in (*status.staged, *status.modified))}
        names |= {one.path for one in status.conflicts}
        count = "1 uncommitted file" if len(names) == 1 else f"{len(names)} uncommitted files"
        yield f"{count} of {root} left out: {_listing(shown(path) for path in sorted(names))}"
    missing = list(missing_files(root, place, package_directories(call.repo.index.known)))
    if missing:
        yield f"ignored by git and not copied: {_listing(shown(path) for path in missing)}"


def _listing(names: Iterable[str]) -> str:
    every = list(names)
    return ", ".join(every[:_MOST_NAMED]) + (
        f" and {len(every) - _MOST_NAMED} more" if len(every) > _MOST_NAMED else ""
    )
