from pydantic import Field

from codeplane.answers.output import Output
from codeplane.ledger.summary import moment
from codeplane.session import Call
from codeplane.session.workspaces.registry import Workspaces, workspaces_of
from codeplane.tools._registry import Effect, Input, tool
from codeplane.workspaces import Workspace


class WorkspaceListInput(Input):
    pass


class WorkspaceSummary(Output):
    workspace_id: str = Field(description="Name to send as `workspace`.")
    kind: str = Field(description="worktree or memory.")
    base_commit_sha: str = Field(description="Commit that it began with.")
    base: str = Field(description="What that commit was called.")
    overlay_revision: int = Field(description="0 until its files change.")
    is_stale: bool = Field(description="Whether its base is not the current commit of this checkout.")
    modified_file_count: int | None = Field(default=None, description="Files that differ from the base.")
    uncommitted_file_count: int | None = Field(default=None, description="Files that are not committed.")
    semantic_level: str | None = Field(default=None, description="How far names are resolved in it.")
    fact_count: int | None = Field(default=None, description="Definitions in those files.")
    own_bytes: int | None = Field(default=None, description="Bytes of files that only it has.")
    ahead: int | None = Field(default=None, description="Commits that its base branch lacks.")
    behind: int | None = Field(default=None, description="Commits of its base branch that it lacks.")
    branch: str | None = Field(default=None, description="Branch that is checked out.")
    path: str | None = Field(default=None, description="Its directory.")
    port_offset: int | None = Field(default=None, description="To add to ports.")
    created_at: str = Field(description="When it was made.")
    last_accessed_at: str = Field(description="When it was last used, to the minute.")
    problem: str | None = Field(default=None, description="Why it can't be used.")

    def line(self) -> str:
        """One line of a list."""
        remarks = [self.problem] if self.problem else []
        remarks += ["stale"] if self.is_stale else []
        remarks += [f"+{self.ahead} commits"] if self.ahead else []
        remarks += [f"-{self.behind} commits"] if self.behind else []
        remarks += [f"{self.modified_file_count} modified"] if self.modified_file_count else []
        remarks += [f"{self.uncommitted_file_count} uncommitted"] if self.uncommitted_file_count else []
        remarks += [f"ports +{self.port_offset}"] if self.port_offset else []
        tail = f" ({'; '.join(remarks)})" if remarks else ""
        base = f"{self.base_commit_sha[:10]} r{self.overlay_revision}"
        return f"{self.workspace_id} {base} {self.path or self.kind}{tail}"


class WorkspaceListOutput(Output):
    workspaces: list[WorkspaceSummary] = Field(description="By name.")
    current_commit_sha: str | None = Field(default=None, description="Commit of this checkout.")

    def render(self) -> str:
        return "\n".join([one.line() for one in self.workspaces] or ["no workspaces"])


@tool(Effect.READ, "workspaces")
def workspace_list(call: Call, args: WorkspaceListInput) -> WorkspaceListOutput:  # noqa: ARG001 - it has none
    """Lists the workspaces with their bases, revisions and what has changed in them.

    Use when:
    - you want to know who works where, or what to clean up
    Not for:
    - worktrees as git has them (git_worktree)
    Examples:
    - All: {}
    """
    workspaces, commit = workspaces_of(call.repo), call.repo.checkout.repository.head().commit
    return WorkspaceListOutput(
        workspaces=[_summary(workspaces, one, commit) for one in workspaces.find_all()],
        current_commit_sha=commit,
    )


def _summary(workspaces: Workspaces, workspace: Workspace, commit: str | None) -> WorkspaceSummary:
    standing = workspaces.standing(workspace)
    return WorkspaceSummary(
        workspace_id=workspace.id,
        kind=workspace.kind,
        base_commit_sha=workspace.base_commit,
        base=workspace.base_name,
        overlay_revision=workspaces.revision(workspace),
        is_stale=workspace.base_commit != commit,
        modified_file_count=standing.modified_files,
        uncommitted_file_count=standing.uncommitted_files,
        semantic_level=standing.semantic_level,
        fact_count=standing.facts,
        own_bytes=standing.own_bytes,
        ahead=standing.ahead or None,
        behind=standing.behind or None,
        branch=standing.branch,
        port_offset=workspace.port_offset or None,
        path=standing.path,
        created_at=moment(workspace.created_ms),
        last_accessed_at=moment(workspace.used_ms),
        problem=standing.problem,
    )
