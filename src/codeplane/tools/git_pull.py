from typing import Annotated

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.refs import RefOutput, refs_told
from codeplane.answers.git.text import delta_lines
from codeplane.git.ops.pull import PullOptions, source_of, take_fetch, take_pull
from codeplane.git.remote.fetch import fetch_objects
from codeplane.git.remote.remotes import Tags
from codeplane.git.repo.ref_names import branch_name, remote_name
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._transfer import line_of


class GitPullInput(Input):
    remote: str | None = Field(default=None, max_length=250, description="Default: the branch's own.")
    branch: Annotated[str | None, synonyms("ref")] = Field(
        default=None, max_length=250, description="Remote branch. Default: the one it tracks."
    )
    rebase: bool | None = Field(default=None, description="true rebases, false merges. Default: pull.rebase.")
    ff_only: Annotated[bool, synonyms("fast_forward_only")] = Field(
        default=False, description="Refuse if the branches have diverged."
    )
    fetch_only: Annotated[bool, synonyms("fetch", "no_merge")] = Field(
        default=False, description="Only fetch: leave branch and files alone."
    )
    prune: bool | None = Field(
        default=None,
        description="Delete tracking branches that the remote no longer has. Default: fetch.prune.",
    )
    tags: bool | None = Field(
        default=None, description="true takes all tags, false none. Default: those of the commits fetched."
    )


class GitPullOutput(GitDelta):
    remote: str = Field(description="Remote.")
    refs: list[RefOutput] | None = Field(default=None, description="References that moved here.")

    def render(self) -> str:
        headline, *rest = delta_lines(self)
        return "\n".join([headline, *(one.line() for one in self.refs or ()), *rest])


@tool(Effect.WRITE, "git")
def git_pull(call: Call, args: GitPullInput) -> GitPullOutput:
    """Fetches from a remote, then merges what the current branch tracks or rebases onto it.

    Stops on conflicts; git_merge or git_rebase continues or aborts.

    Use when:
    - you want others' commits, or to see what the remote has (fetch_only)
    Not for:
    - branches that are already here (git_merge, git_rebase)
    Examples:
    - The tracked branch: {}
    - Only fetch: {"fetch_only": true, "prune": true}
    - Linear: {"rebase": true}
    """
    checkout = call.repo.checkout
    repository = checkout.repository
    remote = remote_name(args.remote) if args.remote is not None else None
    branch = branch_name(args.branch) if args.branch is not None else None
    source = source_of(repository, remote, branch, merges=not args.fetch_only)
    tags: Tags | None = None if args.tags is None else "all" if args.tags else "none"
    with fetch_objects(line_of(call), source.remote, branch=branch, tags=tags) as fetch_result:
        if args.fetch_only:
            result = change(
                call,
                "git_pull",
                lambda: take_fetch(repository, fetch_result, source, prune=args.prune),
                alone=False,
            )
        else:
            how = PullOptions(rebase=args.rebase, ff_only=args.ff_only, prune=args.prune)
            result = change(
                call, "git_pull", lambda: take_pull(repository, checkout.programs, fetch_result, source, how)
            )
    outcome = result.outcome
    return GitPullOutput(**delta_fields(result), remote=outcome.remote, refs=refs_told(call, outcome.updates))
