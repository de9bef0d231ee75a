"""Where a repository stands: its branch, what it follows, and what git has begun and not ended."""

from dataclasses import dataclass
from typing import Final

import pygit2

_STATE = pygit2.enums.RepositoryState
_STATES: Final = {
    _STATE.MERGE: "merge",
    _STATE.REVERT: "revert",
    _STATE.REVERT_SEQUENCE: "revert",
    _STATE.CHERRYPICK: "cherrypick",
    _STATE.CHERRYPICK_SEQUENCE: "cherrypick",
    _STATE.BISECT: "bisect",
    _STATE.REBASE: "rebase",
    _STATE.REBASE_INTERACTIVE: "rebase",
    _STATE.REBASE_MERGE: "rebase",
    _STATE.APPLY_MAILBOX: "am",
    _STATE.APPLY_MAILBOX_OR_REBASE: "rebase",
}


@dataclass(frozen=True)
class Upstream:
    """The branch that this one follows; without counts where that is gone."""

    name: str
    ahead: int | None = None
    behind: int | None = None


def unfinished(handle: pygit2.Repository) -> str | None:
    """What has begun and not ended: merge, revert, cherrypick, rebase, bisect or am."""
    return _STATES.get(handle.state())


def upstream(handle: pygit2.Repository) -> Upstream | None:
    """What the branch that is checked out follows."""
    if handle.head_is_detached or handle.head_is_unborn:
        return None
    branch = handle.lookup_branch(handle.head.shorthand)
    name = _followed(branch) if branch is not None else None
    if name is None:
        return None
    short = name.removeprefix("refs/remotes/").removeprefix("refs/heads/")
    if name not in handle.references:
        return Upstream(short)
    there = handle.references[name].peel(pygit2.Commit).id
    ahead, behind = handle.ahead_behind(handle.head.target, there)
    return Upstream(short, ahead, behind)


def _followed(branch: pygit2.Branch) -> str | None:
    try:
        return branch.upstream_name
    except (KeyError, ValueError, pygit2.GitError):
        return None
