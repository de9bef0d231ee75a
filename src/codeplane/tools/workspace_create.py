import secrets
from typing import Annotated

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.session import Call
from codeplane.session.workspaces.registry import parse_wish, workspaces_of
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.workspaces import WorkspaceKindName


class WorkspaceCreateInput(Input):
    workspace: Annotated[str | None, synonyms("workspace_id", "id", "name")] = Field(
        default=None, max_length=200, description="Its name, such as fix-login. Default: a random one."
    )
    base: Annotated[str | None, synonyms("commit_sha", "commit", "ref", "from")] = Field(
        default=None, max_length=250, description="Branch or commit to start from. Default: HEAD."
    )
    kind: WorkspaceKindName = Field(
        default=WorkspaceKindName.WORKTREE,
        description="worktree: files in a directory of its own; memory: edits without files.",
    )
    branch: Annotated[str | None, synonyms("new_branch", "create_branch")] = Field(
        default=None, max_length=250, description="Its branch. Default: named as the workspace."
    )
    path: Annotated[str | None, synonyms("directory")] = Field(
        default=None, max_length=4000, description="Place below a directory for worktrees."
    )


class WorkspaceCreateOutput(Output):
    workspace_id: str = Field(description="Name to send as `workspace`.")
    kind: str = Field(description="worktree or memory.")
    already_existed: bool | None = Field(default=None, description="Whether it was there before.")
    baseline_commit_sha: str = Field(description="Commit that it began with.")
    base: str = Field(description="What that commit was called.")
    current_revision: int = Field(description="0 until its files change.")
    branch: str | None = Field(default=None, description="Its branch.")
    path: str | None = Field(default=None, description="Its directory.")
    operation: str | None = Field(default=None, description="Id in the ledger.")
    port_offset: int | None = Field(default=None, description="To add to ports, so that none is taken twice.")
    env: dict[str, str] | None = Field(default=None, description="Variables that its programs get.")
    left_out: list[str] | None = Field(default=None, description="What did not come along.")

    def render(self) -> str:
        verb = "there is already a workspace" if self.already_existed else "created workspace"
        place = f" in {self.path}" if self.path else ""
        branch = f" on branch {self.branch}" if self.branch else ""
        head = f"{verb} {self.workspace_id}{branch}{place}"
        base = f"base: {self.baseline_commit_sha[:10]} ({self.base}); revision {self.current_revision}"
        env = [" ".join(f"{name}={value}" for name, value in self.env.items())] if self.env else []
        return "\n".join([head, base, *env, *(self.left_out or [])])


@tool(Effect.WRITE, "workspaces")
def workspace_create(call: Call, args: WorkspaceCreateInput) -> WorkspaceCreateOutput:
    """Makes a workspace: a state of the repository that only its user reads and changes.

    Send its name as `workspace` with any other call. Calling again with the same name changes nothing.

    Use when:
    - several agents work at once, or an experiment must not touch this checkout
    Not for:
    - switching branches here (git_checkout)
    Examples:
    - From HEAD: {"workspace": "fix-login"}
    - From a branch: {"workspace": "review", "base": "origin/main"}
    """
    workspaces = workspaces_of(call.repo)
    name = args.workspace or f"ws-{secrets.token_hex(4)}"
    creation = workspaces.create(call, args.kind, parse_wish(name, args.base, args.branch, args.path))
    workspace = creation.workspace
    branch, path = workspace.branch, creation.path
    if not creation.is_new:
        standing = workspaces.standing(workspace)
        branch, path = standing.branch or branch, standing.path
    return WorkspaceCreateOutput(
        workspace_id=workspace.id,
        kind=workspace.kind,
        already_existed=not creation.is_new or None,
        baseline_commit_sha=workspace.base_commit,
        base=workspace.base_name,
        current_revision=workspaces.revision(workspace),
        branch=branch,
        path=path,
        operation=creation.operation,
        port_offset=workspace.port_offset or None,
        env=workspaces.variables(workspace),
        left_out=list(creation.notes) or None,
    )
