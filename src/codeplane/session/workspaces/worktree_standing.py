"""How a worktree differs from its base, what only it holds, and how far it is from where it came from."""

import os
from pathlib import Path
from typing import Final, NamedTuple

import pygit2

from codeplane.core.errors import CodePlaneError
from codeplane.git.ops.worktrees import Worktree
from codeplane.git.repo.heads import BRANCHES
from codeplane.git.repo.repository import Repository
from codeplane.index import count_definitions, has_semantic_facts, linked_view, own_part
from codeplane.session.checkout import Checkout
from codeplane.session.repo import RepoSession, tree_of
from codeplane.session.workspaces.kind import Standing
from codeplane.session.workspaces.neighbours import neighbours_of
from codeplane.working_tree import WorkingTree
from codeplane.workspaces import Workspace

_MOST_COUNTED: Final = 1000


class _Distance(NamedTuple):
    """Commits that one side has and the other lacks."""

    ahead: int
    behind: int


class _Changes(NamedTuple):
    """The files that differ from the base, and how many are not committed."""

    paths: list[str]
    uncommitted_count: int


def standing_of(home: RepoSession, workspace: Workspace, worktree: Worktree) -> Standing:
    """What is true of a worktree now; nothing of it is read but names, times and git's data."""
    repository = home.checkout.repository
    database, view = home.index.database, linked_view(workspace.worktree or "")
    part = own_part(database, view)
    distance = _distance(repository, workspace, worktree.commit)
    changes, problem = None, None
    try:
        changes = _find_changes(home, workspace, worktree)
    except CodePlaneError as error:
        problem = error.message
    except OSError as error:
        problem = f"It can't be read: {error.strerror}."
    return Standing(
        path=str(worktree.path),
        branch=worktree.branch,
        head=worktree.commit,
        modified_files=len(changes.paths) if changes is not None else None,
        uncommitted_files=changes.uncommitted_count if changes is not None else None,
        ahead=distance.ahead if distance is not None else None,
        behind=distance.behind if distance is not None else None,
        own_bytes=part.size if part is not None else None,
        facts=count_definitions(database, view, changes.paths[:_MOST_COUNTED])
        if changes is not None
        else None,
        semantic_level=_semantic_level(home, worktree),
        problem=problem,
    )


def _find_changes(home: RepoSession, workspace: Workspace, worktree: Worktree) -> _Changes:
    root = Path(os.path.realpath(worktree.path))
    repo = neighbours_of(home).find_open(root)
    tree = repo.tree if repo is not None else _tree_at(home, root)
    status = tree.git.look()
    paths = {one.path for one in (*status.staged, *status.modified)} | {one.path for one in status.conflicts}
    uncommitted_count = len(paths) + len(status.untracked)
    if worktree.commit != workspace.base_commit:
        base = home.checkout.repository.commit(workspace.base_commit)
        changes, conflicts = tree.git.since(base.tree)
        paths = {one.path for one in changes} | {one.path for one in conflicts}
    return _Changes(sorted(paths | set(status.untracked)), uncommitted_count)


def _semantic_level(home: RepoSession, worktree: Worktree) -> str | None:
    """How far indexers cover its files; None where that would have to be worked out."""
    if not has_semantic_facts(home.index.database):
        return "syntax_only"
    repo = neighbours_of(home).find_open(Path(os.path.realpath(worktree.path)))
    if repo is None:
        return None
    with repo.index.snapshot() as snapshot:
        return snapshot.semantic_states.level()


def _tree_at(home: RepoSession, root: Path) -> WorkingTree:
    checkout = home.checkout
    return tree_of(Checkout.find(root, checkout.places, checkout.assignments))


def _distance(repository: Repository, workspace: Workspace, head: str | None) -> _Distance | None:
    """From the branch that it was made from, or from what the primary checkout has checked out."""
    if head is None:
        return None
    with repository.opened() as handle:
        goal = _goal(handle, workspace.base_name)
        if goal is None:
            return None
        try:
            return _Distance(*handle.ahead_behind(pygit2.Oid(hex=head), goal))
        except (pygit2.GitError, KeyError, ValueError):
            return None


def _goal(handle: pygit2.Repository, base_name: str) -> pygit2.Oid | None:
    for name in (f"{BRANCHES}{base_name}", f"refs/remotes/{base_name}"):
        try:
            if name in handle.references:
                return handle.references[name].peel(pygit2.Commit).id
        except (pygit2.GitError, ValueError):
            continue  # what was asked for is no name of a branch
    return None if handle.head_is_unborn else handle.head.peel(pygit2.Commit).id
