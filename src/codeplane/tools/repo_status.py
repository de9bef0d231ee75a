from pydantic import Field

from codeplane.answers.output import Output
from codeplane.ledger.summary import moment
from codeplane.session import Call
from codeplane.session.workspaces.registry import Workspaces, workspaces_of
from codeplane.tools._registry import Effect, Input, tool
from codeplane.workspaces import Workspace

_MOST_WORKSPACES = 20


class RepoStatusInput(Input):
    pass


class RepoWorkspace(Output):
    workspace_id: str = Field(description="Name to send as `workspace`.")
    repo_id: str = Field(description="Random id of the checkout that it belongs to.")
    baseline_commit_sha: str = Field(description="Commit that it began with.")
    changed_file_count: int | None = Field(default=None, description="Files that differ from it.")
    overlay_symbol_count: int | None = Field(default=None, description="Definitions in those files.")
    created_at: str = Field(description="When it was made.")
    last_accessed_at: str = Field(description="When it was last used.")

    def line(self) -> str:
        """One line of a list."""
        changes = f" ({self.changed_file_count} changed)" if self.changed_file_count else ""
        return f"workspace {self.workspace_id} on {self.baseline_commit_sha[:10]}{changes}"


class RepoStatusOutput(Output):
    repo_id: str = Field(description="Random id of this checkout.")
    current_commit_sha: str | None = Field(default=None, description="Commit of HEAD.")
    branch_name: str | None = Field(default=None, description="Branch; none when detached.")
    is_clean: bool = Field(description="Whether nothing is uncommitted.")
    status: str = Field(description="clean, or how many files of what.")
    baseline_index_exists: bool = Field(description="Whether all facts of that commit are indexed.")
    workspaces: list[RepoWorkspace] = Field(description="By name.")
    more: int | None = Field(default=None, description="Workspaces beyond those.")

    def render(self) -> str:
        head = f"{self.branch_name or 'detached HEAD'} at {(self.current_commit_sha or 'no commit')[:10]}"
        index_text = "indexed" if self.baseline_index_exists else "not indexed as a whole"
        more = [f"{self.more} more workspaces"] if self.more else []
        return "\n".join(
            [f"{head}, {index_text}: {self.status}", *(one.line() for one in self.workspaces), *more]
        )


@tool(Effect.READ, "introspection")
def repo_status(call: Call, args: RepoStatusInput) -> RepoStatusOutput:  # noqa: ARG001 - it has none
    """Shows commit, cleanliness and index of this checkout, and its workspaces, in one call.

    Use when:
    - you begin to work and want to know who else works here
    Not for:
    - the files that differ (git_status)
    Examples:
    - All: {}
    """
    repo = call.repo
    repo.refresh(call.progress)
    workspaces, head = workspaces_of(repo), repo.checkout.repository.head()
    status = repo.tree.git.look()
    # The working tree's own facts are those of the commit where nothing is uncommitted.
    is_whole = status.is_clean and bool(repo.index.state().epoch) and not repo.index.unread
    is_indexed = head.commit is not None and (is_whole or repo.index.has_commit(head.commit))
    rows = workspaces.find_all()
    return RepoStatusOutput(
        repo_id=repo.state.repo_id,
        current_commit_sha=head.commit,
        branch_name=head.branch,
        is_clean=status.is_clean,
        status=status.in_words(),
        baseline_index_exists=is_indexed,
        workspaces=[_row(call, workspaces, one) for one in rows[:_MOST_WORKSPACES]],
        more=max(0, len(rows) - _MOST_WORKSPACES) or None,
    )


def _row(call: Call, workspaces: Workspaces, workspace: Workspace) -> RepoWorkspace:
    standing = workspaces.standing(workspace)
    return RepoWorkspace(
        workspace_id=workspace.id,
        repo_id=call.repo.state.repo_id,
        baseline_commit_sha=workspace.base_commit,
        changed_file_count=standing.modified_files,
        overlay_symbol_count=standing.facts,
        created_at=moment(workspace.created_ms),
        last_accessed_at=moment(workspace.used_ms),
    )
