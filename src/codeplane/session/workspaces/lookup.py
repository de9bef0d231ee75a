"""Finding a workspace by name where no repository is open."""

from codeplane.core.errors import NotFound
from codeplane.core.suggest import nearest
from codeplane.git.ops.worktrees import list_worktrees
from codeplane.session.checkout import Checkout
from codeplane.storage import StateDir
from codeplane.storage.state_db import open_state_db
from codeplane.workspaces import Workspace, WorkspaceId, WorkspaceKindName, WorkspaceStore

_MOST_NAMED = 20


def find_record(checkout: Checkout, text: str) -> Workspace:
    """The workspace of that name, or a worktree of git's by its name; an error that names those there are."""
    records = {one.id: one for one in _records(checkout)}
    name = text.strip()
    workspace = records.get(WorkspaceId(name))
    if workspace is not None:
        return workspace
    for worktree in list_worktrees(checkout.repository):
        if worktree.name == name and not worktree.is_missing and worktree.commit is not None:
            return Workspace(
                WorkspaceId(name),
                WorkspaceKindName.WORKTREE,
                worktree.commit,
                "HEAD",
                worktree.branch,
                has_made_branch=False,
                worktree=name,
                created_ms=0,
                used_ms=0,
            )
    raise no_such_workspace(text, list(records))


def no_such_workspace(text: str, names: list[WorkspaceId]) -> NotFound:
    """The error for a name that no workspace has."""
    likely = nearest(text, names) or names[:_MOST_NAMED]
    return NotFound(
        f"There is no workspace {text[:100]!r}.",
        hints=[f"Workspaces: {', '.join(likely)}."] if likely else ['workspace_create {"workspace": "…"}'],
        workspace=text[:100],
    )


def _records(checkout: Checkout) -> list[Workspace]:
    file = StateDir.at(checkout.index_home).path / "state.db"
    if not file.exists():
        return []
    database = open_state_db(file)
    try:
        return WorkspaceStore(lambda: database).find_all()
    finally:
        database.close()
