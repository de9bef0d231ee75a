"""The upstream of the current branch, and how far both have diverged."""

from dataclasses import dataclass

import pygit2


@dataclass(frozen=True)
class UpstreamStatus:
    """The branch that this one tracks; without counts if it is gone."""

    name: str
    ahead: int | None = None
    behind: int | None = None


def find_upstream(handle: pygit2.Repository) -> UpstreamStatus | None:
    """The upstream of the current branch."""
    if handle.head_is_detached or handle.head_is_unborn:
        return None
    branch = handle.lookup_branch(handle.head.shorthand)
    name = _upstream_name(branch) if branch is not None else None
    if name is None:
        return None
    short = name.removeprefix("refs/remotes/").removeprefix("refs/heads/")
    if name not in handle.references:
        return UpstreamStatus(short)
    there = handle.references[name].peel(pygit2.Commit).id
    ahead, behind = handle.ahead_behind(handle.head.target, there)
    return UpstreamStatus(short, ahead, behind)


def _upstream_name(branch: pygit2.Branch) -> str | None:
    try:
        return branch.upstream_name
    except (KeyError, ValueError, pygit2.GitError):
        return None
