from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.session.workspaces.registry import workspaces_of
from codeplane.tools._registry import Effect, Input, synonyms, tool


class WorkspaceResetInput(Input):
    workspace: Annotated[str, synonyms("workspace_id", "id", "name")] = Field(
        max_length=200, description="Its name."
    )
    base: Annotated[str | None, synonyms("commit_sha", "commit", "ref", "to")] = Field(
        default=None, max_length=250, description="New base. Default: the one that it was made from."
    )
    force: bool = Field(default=False, description="Save and discard its work.")


class WorkspaceResetOutput(Output):
    workspace_id: str = Field(description="Its name.")
    previous_revision: int = Field(description="Its revision before.")
    new_revision: int = Field(description="Its revision now: 0.")
    baseline_commit_sha: str = Field(description="Commit that it is at.")
    summary: str = Field(description="What was done.")
    operation: str | None = Field(default=None, description="Id in the ledger of the workspace.")
    saved: str | None = Field(default=None, description="Ref that holds what was discarded.")

    def render(self) -> str:
        saved_lines = [f"saved: {self.saved}"] if self.saved else []
        head = (
            f"{self.workspace_id}: {self.summary}; revision {self.previous_revision} -> {self.new_revision}"
        )
        return "\n".join([head, *saved_lines])


@tool(Effect.WRITE, "workspaces")
def workspace_reset(call: Call, args: WorkspaceResetInput) -> WorkspaceResetOutput:
    """Puts a workspace back to its base, or on another commit.

    Use when:
    - an attempt in a workspace is to begin anew, or its base is stale
    Not for:
    - undoing single changes (undo, with the workspace)
    Examples:
    - Begin anew: {"workspace": "fix-login", "force": true}
    - On the newest commit: {"workspace": "fix-login", "base": "main"}
    """
    workspaces = workspaces_of(call.repo)
    before = workspaces.find(args.workspace)
    revision = workspaces.revision(before)
    outcome = workspaces.reset(call, before, args.base, force=args.force)
    after = workspaces.find(args.workspace)
    return WorkspaceResetOutput(
        workspace_id=after.id,
        previous_revision=revision,
        new_revision=after.revision,
        baseline_commit_sha=after.base_commit,
        summary=outcome.summary,
        operation=outcome.operation,
        saved=outcome.saved_ref,
    )
