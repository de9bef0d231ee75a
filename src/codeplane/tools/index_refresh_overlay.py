from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.session.workspaces.refresh import refresh_overlay
from codeplane.session.workspaces.registry import workspaces_of
from codeplane.tools._registry import Effect, Input, synonyms, tool


class IndexRefreshOverlayInput(Input):
    workspace: Annotated[str | None, synonyms("workspace_id", "id", "name")] = Field(
        default=None, max_length=200, description="Name of a workspace. Default: this checkout."
    )
    file_paths: Annotated[list[str] | None, synonyms("paths", "files")] = Field(
        default=None, max_length=1000, description="Count only these files; all that changed are read."
    )


class IndexRefreshOverlayOutput(Output):
    workspace_id: str | None = Field(default=None, description="Its name.")
    files_reindexed: int = Field(description="Files whose content was new to this state.")
    symbols_updated: int = Field(description="Definitions in them.")
    new_overlay_revision: int = Field(description="Its revision now.")

    def render(self) -> str:
        if not self.files_reindexed:
            return f"nothing to do; revision {self.new_overlay_revision}"
        counts = f"{self.files_reindexed} files, {self.symbols_updated} symbols"
        return f"refreshed {counts}; revision {self.new_overlay_revision}"


@tool(Effect.READ, "workspaces")
def index_refresh_overlay(call: Call, args: IndexRefreshOverlayInput) -> IndexRefreshOverlayOutput:
    """Brings the index of a workspace up to date and counts what has changed; every other call does the same.

    Use when:
    - you want to know whether files changed behind your back
    Examples:
    - One workspace: {"workspace": "fix-login"}
    """
    if args.workspace is None:
        changes = refresh_overlay(call, call.repo, args.file_paths)
        return IndexRefreshOverlayOutput(
            files_reindexed=changes.files,
            symbols_updated=changes.definitions,
            new_overlay_revision=changes.epoch,
        )
    workspaces = workspaces_of(call.repo)
    with workspaces.enter(args.workspace) as place:
        changes = refresh_overlay(call, place.repo, args.file_paths)
        workspace = workspaces.find(args.workspace)
        return IndexRefreshOverlayOutput(
            workspace_id=workspace.id,
            files_reindexed=changes.files,
            symbols_updated=changes.definitions,
            new_overlay_revision=workspaces.revision(workspace),
        )
