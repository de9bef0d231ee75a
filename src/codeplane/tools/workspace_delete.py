from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.core.errors import InvalidArgument, NotFound
from codeplane.session import Call
from codeplane.session.workspaces.registry import workspaces_of
from codeplane.tools._registry import Effect, Input, synonyms, tool


class WorkspaceDeleteInput(Input):
    workspace: Annotated[str | None, synonyms("workspace_id", "id", "name")] = Field(
        default=None, max_length=200, description="Its name."
    )
    orphans: Annotated[bool, synonyms("prune")] = Field(
        default=False, description="Instead: forget workspaces whose worktrees are gone, with their index."
    )
    force: bool = Field(
        default=False, description="Delete it with work that is only there; it is saved first."
    )


class WorkspaceDeleteOutput(Output):
    workspace_id: str | None = Field(default=None, description="Its name.")
    deleted: bool = Field(description="False where there was none.")
    summary: str | None = Field(default=None, description="What was done.")
    operation: str | None = Field(default=None, description="Id in the ledger.")
    saved: str | None = Field(default=None, description="Ref that holds what was discarded.")
    notes: list[str] | None = Field(default=None, description="What is gone for good.")

    def render(self) -> str:
        if self.workspace_id is None:
            return self.summary or ""
        if not self.deleted:
            return f"there is no workspace {self.workspace_id}"
        saved_lines = [f"saved: {self.saved}"] if self.saved else []
        return "\n".join([f"{self.workspace_id}: {self.summary}", *saved_lines, *(self.notes or [])])


@tool(Effect.WRITE, "workspaces")
def workspace_delete(call: Call, args: WorkspaceDeleteInput) -> WorkspaceDeleteOutput:
    """Deletes a workspace with its files and its part of the index.

    Use when:
    - its work is merged, or nobody needs it
    Examples:
    - Clean: {"workspace": "fix-login"}
    - With work in it: {"workspace": "fix-login", "force": true}
    - Those without files: {"orphans": true}
    """
    workspaces = workspaces_of(call.repo)
    if args.workspace is None:
        if not args.orphans:
            raise InvalidArgument(
                "workspace_delete needs workspace, the name of one.", hints=["workspace_list {}"]
            )
        lines = workspaces.prune(call)
        return WorkspaceDeleteOutput(deleted=bool(lines), summary="\n".join(lines) or "nothing is orphaned")
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
