from typing import Annotated, Literal

from pydantic import Field

from codeplane.answers.git.change import GitDelta, delta_fields
from codeplane.answers.git.refs import RefOutput, refs_told
from codeplane.answers.git.text import delta_lines
from codeplane.answers.output import Output
from codeplane.git.remote.push import PushOutcome, PushRequest, plan_push, push_all
from codeplane.git.repo.ref_names import branch_name, remote_name, tag_name
from codeplane.session import Call
from codeplane.session.operation.git import change
from codeplane.tools._registry import Effect, Input, synonyms, tool
from codeplane.tools._transfer import line_of


class GitPushInput(Input):
    remote: str | None = Field(default=None, max_length=250, description="Default: the branch's own.")
    branch: Annotated[str | None, synonyms("ref", "source")] = Field(
        default=None, max_length=250, description="Default: the current one."
    )
    to: Annotated[str | None, synonyms("target", "remote_branch", "destination")] = Field(
        default=None, max_length=250, description="Remote branch, if its name differs."
    )
    tags: bool | list[str] = Field(default=False, description="Tags to push; true: all, with the branch.")
    force: bool | Literal["with_lease"] = Field(
        default=False, description="Overwrite the remote branch; with_lease: only if it is as last fetched."
    )
    set_upstream: bool = Field(default=False, description="Have the branch track what it is pushed to.")
    delete: bool = Field(default=False, description="Delete the branch or tags on the remote.")
    dry_run: Annotated[bool, synonyms("preview")] = Field(
        default=False, description="Only show what would move."
    )


class GitPushOutput(GitDelta):
    remote: str = Field(description="Remote.")
    refs: list[RefOutput] | None = Field(default=None, description="References that moved there.")
    said: str | None = Field(default=None, description="What the remote printed.")

    def render(self) -> str:
        headline, *rest = delta_lines(self)
        said = [f"remote: {line}" for line in (self.said or "").splitlines()]
        return "\n".join([headline, *(one.line() for one in self.refs or ()), *said, *rest])


class GitPushPreview(Output):
    summary: str = Field(description="One-line summary.")
    refs: list[RefOutput] | None = Field(default=None, description="References that would move.")

    def render(self) -> str:
        return "\n".join([self.summary, *(one.line() for one in self.refs or ())])


@tool(Effect.WRITE, "git")
def git_push(call: Call, args: GitPushInput) -> GitPushOutput | GitPushPreview:
    """Pushes a branch, tags, or both to a remote.

    A push that would lose remote commits is refused and says how many: `git_pull` first, or force.

    Use when:
    - you publish commits, or delete a branch or tag on the remote
    Not for:
    - fetching what the remote has (git_pull)
    Examples:
    - Current branch: {}
    - New branch: {"set_upstream": true}
    - After a rebase: {"force": "with_lease"}
    """
    repository, wish = call.repo.checkout.repository, _wish(args)
    plan = plan_push(repository, wish)
    line = line_of(call)
    if wish.dry_run:
        outcome = push_all(line, plan, wish)
        return GitPushPreview(summary=outcome.summary, refs=refs_told(call, outcome.updates))
    result = change(call, "git_push", lambda: push_all(line, plan, wish), alone=False)
    outcome = result.outcome
    return GitPushOutput(
        **delta_fields(result),
        remote=outcome.remote,
        refs=refs_told(call, outcome.updates),
        said=_said(outcome),
    )


def _wish(args: GitPushInput) -> PushRequest:
    tags = ["*"] if args.tags is True else [tag_name(one) for one in args.tags or ()]
    return PushRequest(
        remote=remote_name(args.remote) if args.remote is not None else None,
        branch=branch_name(args.branch) if args.branch is not None else None,
        to=branch_name(args.to) if args.to is not None else None,
        tags=tags,
        with_branch=args.branch is not None or not isinstance(args.tags, list) or not args.tags,
        force=args.force,
        delete=args.delete,
        follow=args.set_upstream,
        dry_run=args.dry_run,
    )


def _said(outcome: PushOutcome) -> str | None:
    return outcome.output or None
