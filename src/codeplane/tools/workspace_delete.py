from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.errors import NotFound
from codeplane.session import Call
from codeplane.session.workspaces.registry import workspaces_of
from codeplane.tools._registry import Effect, Input, synonyms, tool


class WorkspaceDeleteInput(Input):
    workspace: Annotated[str, synonyms("workspace_id", "id", "name")] = Field(
        max_length=200, description="Its name."
    )
    force: bool = Field(
        default=False, description="Delete it with work that is only there; it is saved first."
    )


class WorkspaceDeleteOutput(Output):
    workspace_id: str = Field(description="Its name.")
    deleted: bool = Field(description="False where there was none.")
    summary: str | None = Field(default=None, description="What was done.")
    operation: str | None = Field(default=None, description="Id in the ledger.")
    saved: str | None = Field(default=None, description="Ref that holds what was discarded.")
    notes: list[str] | None = Field(default=None, description="What is gone for good.")

    def render(self) -> str:
        if not self.deleted:
            return f"there is no workspace {self.workspace_id}"
        saved = [f"saved: {self.saved}"] if self.saved else []
        return "\n".join([f"{self.workspace_id}: {self.summary}", *saved, *(self.notes or [])])


@tool(Effect.WRITE, "workspaces")
def workspace_delete(call: Call, args: WorkspaceDeleteInput) -> WorkspaceDeleteOutput:
    """Deletes a workspace with its files and its part of the index.

    Use when:
    - its work is merged, or nobody needs it
    Examples:
    - Clean: {"workspace": "fix-login"}
    - With work in it: {"workspace": "fix-login", "force": true}
    """
    workspaces = workspaces_of(call.repo)
    try:
        workspace = workspaces.find(args.workspace)
    except NotFound:
        return WorkspaceDeleteOutput(workspace_id=args.workspace, deleted=False)
    outcome = workspaces.delete(call, workspace, force=args.force)
    return WorkspaceDeleteOutput(
        workspace_id=workspace.id,
        deleted=True,
        summary=outcome.summary,
        operation=outcome.operation,
        saved=outcome.saved_ref,
        notes=list(outcome.notes) or None,
    )
