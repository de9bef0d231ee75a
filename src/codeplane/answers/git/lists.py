"""Branches, remotes, stashes and worktrees, as the git tools list them."""

from pydantic import Field

from codeplane.answers.output import Output
from codeplane.answers.pages import more
from codeplane.git.ops.branches import Branch, list_branches
from codeplane.git.ops.stash import list_stashes
from codeplane.git.ops.worktrees import Roots, Worktree, describe_place, list_worktrees
from codeplane.git.remote.remotes import Remote, list_remotes
from codeplane.git.remote.transfer import ignored_settings
from codeplane.git.repo.outcome import short_oid
from codeplane.git.repo.urls import shown_url
from codeplane.jail import shown
from codeplane.session import Call

_LONGEST_SUBJECT = 100
_MOST_STASHES = 50
_MOST_WORKTREES = 100


class BranchOutput(Output):
    name: str = Field(description="Name.")
    commit: str = Field(description="Last commit.")
    subject: str = Field(description="Its first line.")
    current: bool | None = Field(default=None, description="Whether it is checked out here.")
    upstream: str | None = Field(default=None, description="What it tracks.")
    ahead: int | None = Field(default=None, description="Commits that the upstream lacks.")
    behind: int | None = Field(default=None, description="Commits that only the upstream has.")
    upstream_gone: bool | None = Field(default=None, description="Whether the upstream no longer exists.")
    worktree: str | None = Field(default=None, description="Worktree that has it checked out.")

    def line(self) -> str:
        """The line of `git branch -vv`."""
        tracks = [self.upstream] if self.upstream else []
        tracks += [f"+{self.ahead}"] if self.ahead else []
        tracks += [f"-{self.behind}"] if self.behind else []
        tracks += ["gone"] if self.upstream_gone else []
        tracking = f" [{' '.join(tracks)}]" if tracks else ""
        place = f" ({self.worktree})" if self.worktree else ""
        return f"{'*' if self.current else ' '} {self.name} {self.commit}{tracking}{place} {self.subject}"


class GitBranches(Output):
    branches: list[BranchOutput] = Field(description="By name.")
    more: int | None = Field(default=None, description="Branches beyond those.")

    def render(self) -> str:
        lines = [one.line() for one in self.branches] or ["no branches"]
        return "\n".join([*lines, *more("branches", self.more)])


class RemoteOutput(Output):
    name: str = Field(description="Name.")
    url: str = Field(description="Address, without credentials.")
    push_url: str | None = Field(default=None, description="Push address, if different.")


class GitRemotes(Output):
    remotes: list[RemoteOutput] = Field(description="All of them.")

    def render(self) -> str:
        lines = [
            f"{one.name} {one.url}{f' (push: {one.push_url})' if one.push_url else ''}"
            for one in self.remotes
        ]
        return "\n".join(lines or ["no remotes"])


class StashEntry(Output):
    ref: str = Field(description="Name to send as `ref`.")
    message: str = Field(description="What it is.")
    commit: str = Field(description="Its commit.")


class GitStashes(Output):
    stashes: list[StashEntry] = Field(description="Newest first, then work saved before it was discarded.")
    more: int | None = Field(default=None, description="Stashes beyond those.")

    def render(self) -> str:
        lines = [f"{one.ref}: {one.message}" for one in self.stashes] or ["no stashes"]
        return "\n".join([*lines, *more("stashes", self.more)])


class WorktreeLine(Output):
    path: str = Field(description="Directory.")
    branch: str | None = Field(default=None, description="None when detached.")
    head: str | None = Field(default=None, description="Commit.")
    primary: bool | None = Field(default=None, description="Whether it is the main checkout.")
    here: bool | None = Field(default=None, description="Whether this server works in it.")
    locked: str | None = Field(default=None, description="Why it is locked, if it is.")
    gone: bool | None = Field(default=None, description="Whether its directory is missing.")

    def line(self) -> str:
        """The line of `git worktree list`."""
        remarks = ["here"] if self.here else []
        remarks += [f"locked: {self.locked}"] if self.locked else []
        remarks += ["gone"] if self.gone else []
        tracking = f" ({', '.join(remarks)})" if remarks else ""
        return f"{self.path} {self.head or 'no commit'} [{self.branch or 'detached HEAD'}]{tracking}"


class GitWorktrees(Output):
    worktrees: list[WorktreeLine] = Field(description="The main checkout first.")
    roots: list[str] = Field(description="Directories that may hold new worktrees.")
    where: str | None = Field(default=None, description="Where you are, in a linked one.")

    def render(self) -> str:
        lines = [one.line() for one in self.worktrees]
        return "\n".join([*lines, f"new worktrees go into: {', '.join(self.roots)}"])


def branches_of(call: Call, *, remote: bool = False, contains: str = "", most: int = 100) -> GitBranches:
    branches, left = list_branches(call.repo.checkout.repository, remote=remote, contains=contains, most=most)
    return GitBranches(branches=[_branch_output(one) for one in branches], more=left or None)


def remotes_of(call: Call) -> GitRemotes:
    repository = call.repo.checkout.repository
    with repository.opened() as handle:
        remotes = [_remote_output(one) for one in list_remotes(handle)]
    for note in ignored_settings(repository):
        call.warn(note)
    return GitRemotes(remotes=remotes)


def stashes_of(call: Call) -> GitStashes:
    stashes = list_stashes(call.repo.checkout.repository)
    stash_entries = [
        StashEntry(ref=one.name, message=one.message, commit=short_oid(one.commit))
        for one in stashes[:_MOST_STASHES]
    ]
    return GitStashes(stashes=stash_entries, more=max(0, len(stashes) - _MOST_STASHES) or None)


def worktrees_of(call: Call) -> GitWorktrees:
    checkout = call.repo.checkout
    repository = checkout.repository
    worktrees = list_worktrees(repository)
    if len(worktrees) > _MOST_WORKTREES:
        call.warn(f"{len(worktrees) - _MOST_WORKTREES} more worktrees.")
    roots = Roots.of(repository, checkout.settings.git.worktree_roots)
    return GitWorktrees(
        worktrees=[_worktree_line(one, one.path == repository.root) for one in worktrees[:_MOST_WORKTREES]],
        roots=[str(one) for one in roots.places],
        where=describe_place(repository),
    )


def _branch_output(one: Branch) -> BranchOutput:
    upstream = one.upstream
    return BranchOutput(
        name=shown(one.name),
        commit=short_oid(one.commit),
        subject=shown(one.subject)[:_LONGEST_SUBJECT],
        current=one.is_current or None,
        upstream=shown(upstream.name) if upstream else None,
        ahead=(upstream.ahead or None) if upstream else None,
        behind=(upstream.behind or None) if upstream else None,
        upstream_gone=(upstream is not None and upstream.ahead is None) or None,
        worktree=one.worktree,
    )


def _remote_output(one: Remote) -> RemoteOutput:
    push_url = shown_url(one.push_url) if one.push_url != one.url else None
    return RemoteOutput(name=shown_url(one.name), url=shown_url(one.url), push_url=push_url)


def _worktree_line(one: Worktree, is_here: bool) -> WorktreeLine:
    return WorktreeLine(
        path=shown(str(one.path)),
        branch=shown(one.branch) if one.branch else None,
        head=short_oid(one.commit) if one.commit else None,
        primary=True if one.name is None else None,
        here=True if is_here else None,
        locked=(shown(one.lock) or "yes") if one.lock is not None else None,
        gone=one.is_missing or None,
    )
