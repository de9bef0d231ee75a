"""Workspaces without files on the disk: a commit, and rows and objects of what is different from it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from codeplane.core.edits import Change, EditSet, FileEdit
from codeplane.core.errors import GitBusy, InvalidArgument, WorkAtRisk
from codeplane.core.paths import Digest, RepoPath
from codeplane.git.worktree.overlay_commit import Content, save_overlay
from codeplane.index import count_definitions, drop_view
from codeplane.jail import shown
from codeplane.session.call import Call
from codeplane.session.operation.edits import Intent, write
from codeplane.session.repo import RepoSession
from codeplane.session.workspaces.kind import Creation, NewWorkspace, Outcome, Place, Standing
from codeplane.session.workspaces.memory_session import (
    directory_of,
    forget_memory,
    looked_at,
    open_memory,
    view_key_of,
)
from codeplane.session.workspaces.neighbours import neighbours_of
from codeplane.working_tree import MemoryTree
from codeplane.workspaces import Workspace, WorkspaceKindName

_MOST_NAMED: Final = 5


class MemoryKind:
    """Edits that are held in the state directory; git and programs see none of them."""

    name = WorkspaceKindName.MEMORY

    def create(self, call: Call, wish: NewWorkspace) -> Creation:
        """Makes it at the base; nothing is written but its record."""
        if wish.branch is not None or wish.path is not None:
            raise InvalidArgument("A workspace in memory has neither branch nor path; a worktree has.")
        base_name = wish.base or "HEAD"
        base = call.repo.checkout.repository.commit(base_name)
        now_ms = int(time.time() * 1000)
        workspace = Workspace(
            id=wish.id,
            kind=self.name,
            base_commit=base.oid,
            base_name=base_name,
            branch=None,
            has_made_branch=False,
            worktree=None,
            created_ms=now_ms,
            used_ms=now_ms,
        )
        forget_memory(call.repo, workspace)  # what a crash may have left of one of this name
        return Creation(workspace, is_new=True)

    @contextmanager
    def enter(self, home: RepoSession, workspace: Workspace) -> Iterator[Place]:
        """Its own session, opened when the first call comes."""
        place = directory_of(home, workspace)
        with neighbours_of(home).entered(place, workspace, lambda: open_memory(home, workspace)) as repo:
            yield Place(repo, workspace)

    def standing(self, home: RepoSession, workspace: Workspace) -> Standing:
        """How it differs from its base."""
        with looked_at(home, workspace) as overlay:
            files = overlay.all() if overlay is not None else {}
        return Standing(
            modified_files=len(files),
            uncommitted_files=len(files),
            own_bytes=sum(file.size for file in files.values()),
            facts=count_definitions(home.index.database, view_key_of(workspace), files),
        )

    def revision(self, home: RepoSession, workspace: Workspace) -> int:
        """How many changes have been made since it was made or reset."""
        with looked_at(home, workspace) as overlay:
            return overlay.revision if overlay is not None else 0

    def reset(self, call: Call, workspace: Workspace, base: str, *, force: bool) -> Outcome:
        """Takes all edits back, as one operation of its ledger, and puts it on a base that differs."""
        home, operation, saved_ref = call.repo, None, None
        with self.enter(home, workspace) as place:
            tree = _tree(place.repo)
            if count := len(tree.files.all()):
                saved_ref = _save(home, workspace, tree, force=force)
                inner = call.inner_of(place.repo)
                operation = write(
                    inner,
                    lambda: Intent("workspace_reset", _reverse(tree)),
                    ignored_ok=True,
                    wants_effects=False,
                ).operation_id
            tree.files.begin_anew()
            if base == workspace.base_commit:
                if operation is not None:
                    call.next_actions.append(
                        f'undo {{"workspace": "{workspace.id}", "operation": "{operation}"}}'
                    )
                return Outcome(f"took back the edits of {count} files", operation, saved_ref)
            tree.files.clear()
        self._close(home, workspace)
        drop_view(home.index.database, view_key_of(workspace))
        return Outcome(f"took back the edits of {count} files; now at {base[:10]}", operation, saved_ref)

    def delete(self, call: Call, workspace: Workspace, *, force: bool) -> Outcome:
        """Removes it; edits are refused without `force`, and saved as a commit with it."""
        home, saved_ref = call.repo, None
        notes: tuple[str, ...] = ()
        with self.enter(home, workspace) as place:
            tree = _tree(place.repo)
            if tree.files.all():
                saved_ref = _save(home, workspace, tree, force=force)
                notes = (
                    f'Its edits are a commit: workspace_create {{"base": "{saved_ref}"}} goes on with them.',
                )
        self._close(home, workspace)
        forget_memory(home, workspace)
        return Outcome(f"deleted {workspace.id}", None, saved_ref, notes)

    def _close(self, home: RepoSession, workspace: Workspace) -> None:
        if not neighbours_of(home).close(directory_of(home, workspace)):
            raise GitBusy(f"Calls are running in the workspace {workspace.id}.", hints=["Call again."])


def _tree(repo: RepoSession) -> MemoryTree:
    assert isinstance(repo.tree, MemoryTree), "BUG: the session of a workspace in memory has its tree"
    return repo.tree


def _save(home: RepoSession, workspace: Workspace, tree: MemoryTree, *, force: bool) -> str:
    """The reference of a commit with the edits; refused without `force`, with what would be lost."""
    files = tree.files.all()
    if not force:
        names = ", ".join(shown(path) for path in sorted(files)[:_MOST_NAMED])
        more = f" and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
        raise WorkAtRisk(
            f"{workspace.id} has edits of {len(files)} files that are only there: {names}{more}.",
            hints=["force: true saves them as a commit first."],
        )
    contents = {
        path: Content(tree.read(path), file.mode) if file.digest is not None else None
        for path, file in files.items()
    }
    why = f"Edits of the workspace {workspace.id}"
    return save_overlay(home.checkout.repository, workspace.base_commit, contents, why)


def _reverse(tree: MemoryTree) -> Change:
    """The edits that make everything as in the base."""
    edits, before = [], {}
    for path, file in sorted(tree.files.all().items()):
        after = tree.committed(path)
        if file.digest is not None:
            before[path] = tree.read(path)
        base = tree.base_entry(path)
        mode = base.mode & 0o777 if base is not None else None
        edits.append(FileEdit(RepoPath(path), _digest(file.digest), after, mode=mode))
    return Change(EditSet(tuple(edits)), before)


def _digest(digest: str | None) -> Digest | None:
    return Digest(digest) if digest is not None else None
