"""Workspaces: named states of the repository that agents work in, each apart from the others."""

from codeplane.workspaces.record import Workspace, WorkspaceId, WorkspaceKindName, parse_workspace_id
from codeplane.workspaces.store import WorkspaceStore

__all__ = [
    "Workspace",
    "WorkspaceId",
    "WorkspaceKindName",
    "WorkspaceStore",
    "parse_workspace_id",
]
